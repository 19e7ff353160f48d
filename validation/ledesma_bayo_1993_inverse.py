"""Inverse dynamics of flexible chains, open and closed, run forward again.

Slender links of one metre with a mass at the end, in a plane without gravity.  The joints of an open chain of two links
and the crank of a closed chain of three are driven; the torques that this takes are applied to the same chains without
drivers, which must then repeat the motion.  All errors fall with h^2.

The torque at the hub of one link that makes its tip go a given way is found by Ledesma & Bayo from the unsymmetric
masses m - N^T J of the link in its floating frame.  With the stiffness they have real eigenvalues +-p, the zeros of the
transfer function from the torque to the tip, whose growing half is why that torque begins before the motion does:
neither deflection nor moment nor shear at the tip, no deflection at the hub:
p = 2 g^2 sqrt(EI/rho A)/L^2, tan g = -tanh g.

        o========O=======*            links: 1 m, 1 cm x 1 cm, E = 40 GPa, rho = 2715 kg/m^3; mass 0.1 kg
     shoulder  elbow    tip           shoulder: 0.5 rad, elbow: -1 rad on a cycloid in 1 s

        O===============O
        |    coupler    |
        | crank         | rocker      four joints, 1 m apart; the crank makes 0.5 rad on a cycloid in 1 s
        o               o

Source: R. Ledesma, E. Bayo, "Non-recursive methods for the solution of the inverse dynamics of flexible multibody
systems", Computer Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, Vol. II, 403-421: the
links and the check by a forward run; their end-points follow a given path, here it is the joints.  Their curves have no
numbers; a rigid link of these data needs the torque J 2 pi A/T^2 = 0.598473 N m at most.

Their eqs 26 and 27 for one link, whose tip goes 0.5 m on a cycloid in T: the transform of the acceleration of the tip
is multiplied by the torque at the hub per unit of it, in closed form of the beam, at every frequency, and transformed
back (`frequency_integral`).  Numbers called recomputed come from linear finite elements of the same link, made for this
project; the paper prints none.  The integral agrees with theirs in all digits: largest torques .595321 and 8.801190
N m, torques as the path begins .02599 and 1.58604 N m, pre-actions 13.7 and 25.4 ms for T = 1 and .25 s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, complex_modes, linearise, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, good_pairs, pairs_of
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY, RECOMPUTED

CAPABILITY = "inverse"
CASES = {
    "B-INVERSE": "torques of driven flexible chains, open and closed, give the motion back when applied as loads",
    "B-INV": "unsymmetric pencil of a link whose tip is given: real pairs of eigenvalues",
    "B-PATH": "torque at the hub that moves the tip of a link along a path, against the frequency integral",
}

AREA, INERTIA_2 = 1e-4, 1e-8 / 12.0
E, DENSITY, TIP = 40e9, 2715.0, 0.1
SMALL = 1e-3  # way of the tip [m] where its displacement is its angle times 1 m
CYCLOID = "(t - sin(2*pi*t)/(2*pi))"


def rigid(h: float) -> Model:
    """Return one rigid link with its mass at the end, driven."""
    model = Model(2, "rigid link")
    mass = DENSITY * AREA + TIP
    centre = (0.5 * DENSITY * AREA + TIP) / mass
    model.body("link", (centre, 0.0), mass=mass, inertia=reference()["inertia"] - mass * centre**2)
    model.joint("shoulder", "revolute", "ground", "link", point=(0.0, 0.0), function=f"0.5*{CYCLOID}")
    model.inverse_step(1.0, h, frames=0)
    return model


def build(chain: str = "open", h: float = 0.004, tables=None, n: int = 4) -> Model:
    """Return the "open" or the "closed" chain, driven, or with moments of time ``tables`` (by joint)."""
    model = Model(2, f"{chain} chain")
    model.section("link", "stiffness", EA=E * AREA, EI=E * INERTIA_2, rhoA=DENSITY * AREA, rhoI=DENSITY * INERTIA_2)
    corners = {
        "open": [(0, 0), (1, 0), (2, 0)],
        "closed": [(0, 0), (0, 1), (1, 1), (1, 0)],
    }[chain]
    links = [f"link {k + 1}" for k in range(len(corners) - 1)]
    for name, start, end in zip(links, corners[:-1], corners[1:], strict=True):
        model.line(name, start, end, n)
        model.beams(name, name, "link")
    model.point_mass("tip", f"{links[-1] if chain != 'closed' else links[1]}:end", TIP)
    turns = {"shoulder": (0.5, "ground", "link 1:start")}
    if chain == "open":
        turns["elbow"] = (-1.0, "link 1:end", "link 2:start")
    for name, (angle, a, b) in turns.items():
        place = (0.0, 0.0) if a == "ground" else None
        law = None if tables else f"{angle}*{CYCLOID}"
        model.joint(name, "revolute", a, b, point=place, function=law)
        model.sensor(name, "joint", on=name)
        if tables:
            model.moment(f"on {name}", b, 1.0, function=tables[name])
            if a != "ground":
                model.moment(f"back {name}", a, -1.0, function=tables[name])
    if chain == "closed":
        model.joint("B", "pin", "link 1:end", "link 2:start")
        model.joint("C", "pin", "link 2:end", "link 3:start")
        model.joint("D", "pin", "link 3:end", "ground", point=(1, 0))
    model.sensor("tip", "position", on=f"{links[min(len(links), 2) - 1]}:end")
    if tables:
        model.transient_step(1.0, h, frames=0)
    else:
        model.inverse_step(1.0, h, frames=0)
    return model


def link(tip: float = TIP, n: int = 40) -> Model:
    """Return one link on its hub, with a torque there; neither rotary inertia nor shear."""
    model = Model(2, "flexible link")
    model.section("link", "stiffness", EA=E * AREA, EI=E * INERTIA_2, rhoA=DENSITY * AREA, rhoI=0.0)
    model.line("link", (0.0, 0.0), (1.0, 0.0), n)
    model.beams("link", "link", "link")
    model.fix("link:start", ["x", "y"])
    model.point_mass("tip", "link:end", tip)
    model.moment("torque", "link:start", 1.0)
    model.sensor("tip", "displacement", on="link:end")
    return model


def pencil(lin, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return masses m - N^T J and stiffness k of the link's deformation against the line from its hub to its tip.

    The torque that the hub needs, J w'', acts on the rotation of the hub (N).
    """
    place = {name: i for i, name in enumerate(lin.names)}
    nodes = [f'node "{model.node_name(i)}"' for i in range(model.n_nodes)]
    turn = np.zeros(len(place))
    for i, name in enumerate(nodes):
        turn[place[f"{name}, rotation"]] = 1.0
        if i:
            turn[place[f"{name}, y"]] = model.position(i)[0]
    hub, tip = place[f"{nodes[0]}, rotation"], place[f"{nodes[-1]}, y"]
    M, K = lin.M.toarray(), lin.K.toarray()
    M[hub] -= M @ turn
    flexible = np.delete(np.arange(len(place)), tip)
    return M[np.ix_(flexible, flexible)], K[np.ix_(flexible, flexible)]


def frequency_integral(duration: float, dt: float = 1e-4, n: int = 2**15) -> tuple[np.ndarray, np.ndarray]:
    """Return times (n,) [s] since the path began, and the torque (n,) [N m] at the hub that moves the tip by 0.5 m.

    The deflection a sin bx + c cos bx + d e^-bx + f e^b(x-1) of the beam has none at the hub, no moment at the tip, and
    there the shear that accelerates the mass.
    """
    t = (np.arange(n) - n // 2) * dt
    inside = (t > 0.0) & (t < duration)
    acceleration = np.where(inside, np.pi / duration**2 * np.sin(2.0 * np.pi * t / duration), 0.0)
    w = 2.0 * np.pi * np.fft.rfftfreq(n, dt)[1:]
    EI, b = E * INERTIA_2, np.sqrt(w) * (DENSITY * AREA / (E * INERTIA_2)) ** 0.25
    sin, cos, e, one, none = np.sin(b), np.cos(b), np.exp(-b), np.ones_like(b), np.zeros_like(b)
    inertia = TIP * w**2 / (EI * b**3)
    rows = [
        [none, one, one, e],
        [sin, cos, e, one],
        [-sin, -cos, e, one],
        [inertia * sin - cos, inertia * cos + sin, (inertia - 1.0) * e, inertia + 1.0],
    ]
    unit = np.broadcast_to(np.array([[0.0], [1.0], [0.0], [0.0]]), (len(b), 4, 1))
    k = np.linalg.solve(np.moveaxis(np.array(rows), 2, 0), unit)[:, :, 0]
    per_acceleration = np.empty(len(b) + 1)
    per_acceleration[0] = DENSITY * AREA / 3.0 + TIP
    per_acceleration[1:] = EI * b**2 * (k[:, 2] + k[:, 3] * e - k[:, 1]) / w**2
    return t, np.fft.irfft(np.fft.rfft(acceleration) * per_acceleration, n)


def reference() -> dict:
    inertia = DENSITY * (AREA + 3.0 * INERTIA_2) / 3.0 + TIP
    g = np.array([2.365020372, 5.497803919, 8.639379829])
    return {
        "inertia": inertia,
        "rigid torque": inertia * 0.5 * 2.0 * np.pi,
        "pencil": 2.0 * g**2 * np.sqrt(E * INERTIA_2 / (DENSITY * AREA)),
        "pencil, printed": (123.952, 669.83, 1654.05),
        # by duration: errors of the tip of a forward run under this torque and under that of a rigid link [m]
        "forward, recomputed": {1.0: 4.4e-7, 0.25: 7.2e-6},
        "rigid torque, recomputed": {1.0: "4.4e-4", 0.25: "7.9e-3"},
    }


def check(f: Findings) -> None:
    known = reference()
    found = solve(rigid(1e-3)).drives()["drive shoulder"]
    f.row(
        "B-INVERSE", "one rigid link: largest torque [N m]", np.abs(found).max(), known["rigid torque"],
        "The rule leaves (2 pi h)^2/2, and the place of the maximum 3e-5.", CLOSED_FORM, relative=3e-5,
    )  # fmt: skip
    sizes = (4e-3, 2e-3, 1e-3)
    for chain in ("open", "closed"):
        off = []
        for h in sizes:
            inverse = solve(build(chain, h))
            drives = inverse.drives()
            t = drives.t
            names = [name.removeprefix("drive ") for name in drives.by_sensor]
            tables = {k: {"kind": "spline", "times": t, "values": drives[f"drive {k}"]} for k in names}
            forward = solve(build(chain, h, tables))
            off.append(
                np.linalg.norm(
                    forward.steps[-1].series["sensor/tip"] - inverse.steps[-1].series["sensor/tip"], axis=1
                ).max()
            )
        f.zero(
            "B-INVERSE", f"{chain} chain run forward: largest distance of the tip [m], h = 1 ms", off[-1],
            2.0 / 3.0 * (off[-2] - off[-1]), "An error of second order is a third of what halving the step changed; "
            "twice that.",
        )  # fmt: skip
        f.row(
            "B-INVERSE", f"{chain} chain: order of that distance, h = 2 to 1 ms", np.log2(off[-2] / off[-1]), 2.0,
            "The error is of second order; two steps show it within .2.", PROPERTY, tolerance=0.2,
        )  # fmt: skip
        error = max(energy_error(inverse.steps[0]), energy_error(forward.steps[0]))
        f.zero(
            "B-INVERSE",
            f"{chain} chain: closing error of the energy",
            error,
            CONSERVED,
            "Drivers and loads are booked; only round-off is left.",
        )
        f.figure(
            f"Torques of the {chain} chain",
            [Curve(t, values, name.removeprefix("drive ")) for name, values in drives.by_sensor.items()],
            "Time [s]", "Torque [N m]", "4 elements per link, h = 1 ms.",
        )  # fmt: skip
    check_pencil(f)
    check_path(f)


def hinged() -> Model:
    """Return the link on a hinge, where nothing acts yet."""
    model = Model(2, "link on a hinge")
    model.section("link", "stiffness", EA=E * AREA, EI=E * INERTIA_2, rhoA=DENSITY * AREA, rhoI=0.0)
    model.line("link", (0.0, 0.0), (1.0, 0.0), 8)
    model.beams("link", "link", "link")
    model.joint("hub", "revolute", "ground", "link:start", point=(0.0, 0.0))
    model.point_mass("tip", "link:end", TIP)
    model.sensor("tip", "displacement", on="link:end")
    return model


def way(t: np.ndarray, duration: float) -> np.ndarray:
    """Return the displacement (n,) [m] of the tip at times (n,) since the path began."""
    s = np.clip(t / duration, 0.0, 1.0)
    return SMALL * (s - np.sin(2.0 * np.pi * s) / (2.0 * np.pi))


def along_path(duration: float, h: float) -> Model:
    model = hinged()
    law = f"{SMALL}*(t/{duration} - sin(2*pi*t/{duration})/(2*pi))"
    model.inverse_path_step(duration, h, outputs={"tip.y": law}, efforts=["hub"], tolerance=1e-5, frames=0)
    return model


def computed(duration: float, h: float) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return times since the path began (n,), torques (n,) [N m] of a way of 0.5 m, and the report of the step."""
    solution = solve(along_path(duration, h))
    drives = solution.drives()
    report: Any = solution.steps[-1].report
    return drives.t - report.path_start, drives.values[:, 0] * 0.5 / SMALL, report


def forward_error(duration: float, h: float, t: np.ndarray, torque: np.ndarray) -> float:
    """Return the largest error [m] of the tip over a way of 0.5 m, when a torque acts (n,) [N m] at times t (n,)."""
    early = 0.1
    times = np.arange(round((duration + 2.0 * early) / h) + 1) * h
    values = np.interp(times - early, t, torque) * SMALL / 0.5
    model = hinged()
    model.motor("torque", joint="hub", force={"kind": "spline", "times": times, "values": values})
    model.transient_step(times[-1], h, frames=0)
    tip = solve(model).steps[-1].series["sensor/tip"][:, 1]
    return float(np.abs(tip - way(times - early, duration)).max()) * 0.5 / SMALL


def check_path(f: Findings) -> None:
    known, curves = reference(), []
    for duration, h in ((1.0, 2.5e-3), (0.25, 6.25e-4)):
        t, exact = frequency_integral(duration)
        largest = float(np.abs(exact).max())
        label = f"T = {duration:g} s"
        coarse, (now, torque, report) = (computed(duration, size) for size in (2.0 * h, h))
        change = np.abs(torque - np.interp(now, *coarse[:2]))[np.abs(now / (2.0 * h) % 1.0 - 0.5) > 0.25]
        changed = float(change.max()) / largest
        label += f", h = {1e3 * h:g} ms"
        f.converged("B-PATH", f"{label}: largest torque [N m], h -> 0",
                    [np.abs(values).max() for values in (coarse[1], torque)], largest, INDEPENDENT)  # fmt: skip
        halved = "Halving the step changed as much; the error is of first order where the path begins and ends."
        f.row(
            "B-PATH", f"{label}: torque as the path begins, over the largest", np.interp(0.0, now, torque) / largest,
            np.interp(0.0, t, exact) / largest, halved, INDEPENDENT, tolerance=changed,
        )  # fmt: skip
        f.zero(
            "B-PATH", f"{label}: largest error of the torque at any time, over the largest one",
            np.abs(torque - np.interp(now, t, exact)).max() / largest, changed, halved, INDEPENDENT,
        )  # fmt: skip
        f.converged(
            "B-PATH", f"{label}: pre-action above a hundredth of the largest torque [s], h -> 0",
            [_early(*coarse[:2]), _early(now, torque)], _early(t, exact), INDEPENDENT, order=1,
        )  # fmt: skip
        f.row(
            "B-PATH", f"{label}: slowest growing zero [1/s]", report.slowest_growing_zero, known["pencil"][0],
            "8 cubic elements of the length h leave (b h)^4/1440 and higher powers, b^4 = rho A p^2/(E I); twice that.",
            CLOSED_FORM, relative=2.0 * DENSITY * AREA * known["pencil"][0] ** 2 / (E * INERTIA_2) / 8.0**4 / 1440.0,
        )  # fmt: skip
        rigid = known["inertia"] * np.pi / duration**2 * np.sin(2.0 * np.pi * t / duration)
        rigid[(t < 0.0) | (t > duration)] = 0.0
        error, other = (forward_error(duration, 5e-4, t, values) for values in (exact, rigid))
        own = forward_error(duration, h, now, torque)
        f.zero(
            "B-PATH",
            f"{label}: tip off its path under this torque [m]",
            own,
            1e-5,
            "The iteration ends at 1e-5 of the way.",
        )
        f.zero(
            "B-PATH", f"{label}: the same under the frequency integral, h = 0.5 ms [m]", error,
            known["forward, recomputed"][duration],
            "The trapezoidal rule leaves no more than the recomputed value.", RECOMPUTED,
        )  # fmt: skip
        f.digits("B-PATH", f"{label}: the same under the torque of a rigid link, h = 0.5 ms [m]", other,
                 known["rigid torque, recomputed"][duration], RECOMPUTED)  # fmt: skip
        scaled = (t > -0.06) & (t < duration + 0.06)
        curves += [
            Curve(t[scaled] / duration, exact[scaled] / largest, f"T = {duration:g} s, frequency integral"),
            Curve(now / duration, torque / largest, f"T = {duration:g} s, inverse_path", "o"),
        ]
    f.figure("Torque at the hub for a path of the tip", curves, "Time/T", "Torque over the largest")


def _early(t: np.ndarray, torque: np.ndarray) -> float:
    """Return how long before the path [s] the torque passes a hundredth of its largest value."""
    level = 0.01 * np.abs(torque).max()
    i = int(np.argmax(np.abs(torque) > level))
    a, b = np.abs(torque[i - 1 : i + 1])
    return float(-(t[i - 1] + (t[i] - t[i - 1]) * (level - a) / (b - a)))


def check_pencil(f: Findings) -> None:
    known = reference()
    for tip in (TIP, 10.0 * TIP):
        model = link(tip)
        M, K = pencil(linearise(model), model)
        modes = complex_modes(M, np.zeros_like(M), K, count=6)
        label = f"tip of {tip:g} kg, 40 elements"
        p = np.sort(modes.values.real)
        for found, exact, printed in zip(p[3:], known["pencil"], known["pencil, printed"], strict=True):
            f.row(
                "B-INV",
                f"eigenvalue {printed:g} [1/s], {label}",
                found,
                exact,
                "The mesh leaves 1e-5.",
                CLOSED_FORM,
                relative=1e-5,
            )
        size = known["pencil"][0]
        f.zero(
            "B-INV", f"imaginary parts over the lowest, {label}", np.abs(modes.values.imag).max() / size, 1e-9,
            "All eigenvalues are real.",
        )  # fmt: skip
        f.zero(
            "B-INV",
            f"sum of each pair over the lowest, {label}",
            np.abs(p + p[::-1]).max() / size,
            1e-8,
            "Eigenvalues come in pairs +-p.",
        )
        good_pairs(f, "B-INV", label, pairs_of(modes))
    response = linearise(link()).state_space(["torque"], ["tip"])
    across = response.outputs.index("tip.y")
    for p in known["pencil"]:
        zero = brentq(lambda s: response.response(s)[across, 0].real, 0.98 * p, 1.02 * p, xtol=1e-9 * p)
        f.row(
            "B-INV",
            f"zero of tip/torque, {p:.6g} [1/s], state space",
            zero,
            p,
            "The mesh leaves 1e-5.",
            CLOSED_FORM,
            relative=1e-5,
        )
