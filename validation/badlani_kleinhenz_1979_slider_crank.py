"""Modes of a slider-crank in motion, against the angle of its crank.

A rigid crank turns at constant speed and drives a flexible rod with internal damping, whose other end pushes a slider.
After two turns the motion is periodic.  The inertia of the rod and of the slider stretches the rod and presses it in
turn, so that its frequencies rise and fall as the crank turns.

                     o  crank pin
        crank     /    \\
       .1524 m /          \\  rod .3048 m, steel, solid circle of 6.35 mm, damping 2e-4 s
            /                 \\
         (o)                    [o]====  slider, half the mass of the rod
         axis

Two references.  (1) The textbook's: a pinned beam under the axial force N(s) that the rigid mechanism has, with six
sines: in axes that do not turn, EI (1 + b p) w'''' - (N w')' + rho A p^2 w = 0, and with what its bend adds.  (2) The
whole mechanism again, of the same elements, from Lagrange's equations that are written down here: accelerations solved
for, then derivatives by complex steps, and QZ.

Source: I. Badlani, W. Kleinhenz, "Dynamic stability of elastic mechanisms", J. Mech. Des. 101 (1979), 149-153: the rod
as a pinned beam with the rigid mechanism's axial force; the paper was not at hand, references are computed here.  Data
of the mechanism: J.P. Meijaard, "Validation of flexible beam elements in dynamics programs", Nonlinear Dynamics 9
(1996).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eig

from fem_mbs import Model, linearise, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs
from fem_mbs.validation.kinds import INDEPENDENT, SELF

CAPABILITY = "modes"
CASES = {"B-CRANK": "modes of a rotating flexible slider-crank against the crank angle"}

CRANK, ROD, DIAMETER, E, DENSITY = 0.1524, 0.3048, 0.00635, 2.06843e11, 7834.56
AREA, INERTIA = 0.25 * np.pi * DIAMETER**2, np.pi * DIAMETER**4 / 64.0
SPEED, SLIDER, DAMPING = 60.0, 0.0378126, 2e-4
TURN = 2.0 * np.pi / SPEED


def build(angles=(0.0, 1.0), along: bool = False, elements: int = 8, turns: int = 2, steps: int = 360) -> Model:
    """Return the mechanism, its modes at each of the crank angles [rad] of the turn after ``turns``.

    ``steps`` per turn; angles are whole multiples of a step.  ``along``: eigenvalues along one transient in between.
    """
    model = Model(2, "slider-crank in motion")
    model.section("rod", "stiffness", EA=E * AREA, EI=E * INERTIA, rhoA=DENSITY * AREA, rhoI=DENSITY * INERTIA)
    model.line("rod", (CRANK, 0.0), (CRANK + ROD, 0.0), elements)
    # the strains of the model by hand below
    model.beams("rod", "rod", "rod", strains="natural", damping=DAMPING)
    model.body("crank", (0.5 * CRANK, 0.0), mass=0.1, inertia=1e-4)
    model.joint("axis", "pin", "crank", "ground", point=(0.0, 0.0))
    model.joint("crank pin", "pin", "crank", "rod:start")
    model.joint("guide", "slider", "rod:end", axis=(1.0, 0.0))
    model.point_mass("slider", "rod:end", SLIDER)
    model.motion("drive", "crank", "rotation", {"kind": "constant_speed", "rate": SPEED})
    now, h = 0, TURN / steps
    if along:
        every = round((angles[1] - angles[0]) / (SPEED * h))
        model.transient_step(turns * TURN, h, frames=0)
        model.transient_step(TURN, h, frames=0, eigenvalues={"every": every, "count": 2})
        return model
    for angle in angles:
        step = turns * steps + round(angle / (SPEED * h))
        model.transient_step((step - now) * h, h, frames=0)
        model.complex_modes_step(count=2)
        now = step
    return model


# --- the pinned beam -------------------------------------------------------------------------------------------------
def rigid_mechanism(angle: float, s: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return for the rigid mechanism the tangent of the rod's slope, the axial force N (n,) [N] at distances s (n,)
    from the crank pin, positive if it stretches, and the accelerations (n,) across the rod."""
    pin = -CRANK * SPEED**2 * np.array([np.cos(angle), np.sin(angle)])
    sine = CRANK * np.sin(angle) / ROD
    cosine = np.sqrt(1.0 - sine**2)
    rate = CRANK * SPEED * np.cos(angle) / (ROD * cosine)
    growth = (-CRANK * SPEED**2 * np.sin(angle) + ROD * rate**2 * sine) / (ROD * cosine)
    along, across = np.array([cosine, -sine]), np.array([sine, cosine])
    line = DENSITY * AREA
    acceleration = pin + ROD * (-growth * across - rate**2 * along)
    force = -SLIDER * acceleration[0]  # on the rod, along the guide
    moment = line * (0.5 * ROD**2 * (pin @ across) - ROD**3 * growth / 3.0)
    guide = (moment / ROD - force * sine) / cosine
    end = force * cosine - guide * sine
    axial = end - line * ((ROD - s) * (pin @ along) - 0.5 * (ROD**2 - s**2) * rate**2)
    return sine / cosine, axial, pin @ across - s * growth


def pinned_beam(angle: float, bent: bool = True, terms: int = 6) -> np.ndarray:
    """Return eigenvalues p with Im p > 0 of the pinned beam under N(s), by sines, sorted by |p|.

    ``bent``: the forces of inertia bend the rod by w0; what then vibrates across also shortens, u' = -w0' w', the
    slider goes by u(L)/cos, and the rod's end keeps to the guide by w(L) = u(L) tan.
    """
    x, weights = np.polynomial.legendre.leggauss(40)
    s, weights = 0.5 * ROD * (x + 1.0), 0.5 * ROD * weights
    k = np.pi * np.arange(1, terms + 1) / ROD
    tangent, axial, across = rigid_mechanism(angle, s)
    shape, slope = np.sin(np.outer(s, k)), k * np.cos(np.outer(s, k))
    elastic = np.diag(0.5 * ROD * E * INERTIA * k**4)
    stress = slope.T @ ((weights * axial)[:, None] * slope)
    line = DENSITY * AREA * weights
    along, slider = np.zeros_like(shape), np.zeros(terms)
    if bent:
        amplitude = np.linalg.solve(elastic + stress, -shape.T @ (line * across))
        # int_0^s w0' w_j' = sum_i A_i k_i k_j int cos cos, in closed form
        plus, minus = k[:, None] + k, k[:, None] - k
        product = np.sin(plus[..., None] * s) / (2.0 * plus[..., None])
        product += 0.5 * s * np.sinc(minus[..., None] * s / np.pi)
        along = -np.einsum("i,i,j,ijs->sj", amplitude, k, k, product)
        end = -0.5 * ROD * amplitude * k**2
        shape = shape + np.outer(s / ROD, end * tangent)
        slope = slope + end * tangent / ROD
        slider = end * np.sqrt(1.0 + tangent**2)
        stress = slope.T @ ((weights * axial)[:, None] * slope)
    mass = shape.T @ (line[:, None] * shape) + along.T @ (line[:, None] * along) + SLIDER * np.outer(slider, slider)
    mass += np.diag(0.5 * ROD * DENSITY * INERTIA * k**2)
    return roots(mass, DAMPING * elastic, elastic + stress)


def roots(M: np.ndarray, C: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Return p with Im p > 0 of p^2 M + p C + K by QZ, sorted by |p|."""
    one, none = np.eye(len(M)), np.zeros_like(M)
    p = eig(np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]]), right=False)
    p = p[p.imag > 0.0]
    return p[np.argsort(np.abs(p))]


# --- the whole mechanism once more -----------------------------------------------------------------------------------
def residual(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return Lagrange's equations (n, 3) of the rod and the slider: positions and angles q of the nodes, velocities,
    accelerations; analytic, so that complex steps give derivatives."""
    n = len(q) - 1
    length = ROD / n
    pairs = np.column_stack((np.arange(n), np.arange(1, n + 1)))
    x, u, w = (z[pairs] for z in (q, v, a))  # (n, 2, 3)
    d = x[:, 1, :2] - x[:, 0, :2]
    l = np.sqrt(d[:, 0] ** 2 + d[:, 1] ** 2)
    c, s = (d / l[:, None]).T
    one, two = (x[:, i, 2] - np.arctan(d[:, 1] / d[:, 0]) for i in range(2))
    zero, unit = np.zeros(n, q.dtype), np.ones(n, q.dtype)
    stretch = np.array([-c, -s, zero, c, s, zero])
    chord = np.array([s, -c, zero, -s, c, zero]) / l
    first, second = np.array([zero, zero, unit, zero, zero, zero]) - chord, np.array([*[zero] * 5, unit]) - chord
    G = np.array(
        [stretch + length / 30.0 * ((4.0 * one - two) * first + (4.0 * two - one) * second), first, second]
    )  # fmt: skip
    strains = np.array([l - length + length * (2.0 * one**2 - one * two + 2.0 * two**2) / 30.0, one, two])
    bend = E * INERTIA / length
    S = np.array([[E * AREA / length, 0.0, 0.0], [0.0, 4.0 * bend, 2.0 * bend], [0.0, 2.0 * bend, 4.0 * bend]])
    rates = np.einsum("ijn,nj->in", G, u.reshape(n, 6))
    force = np.einsum("ijn,ik,kn->nj", G, S, strains + DAMPING * rates).reshape(n, 2, 3)
    m, r = DENSITY * AREA * length / 420.0, DENSITY * INERTIA * length / 6.0
    M = m * np.array([[156.0, 22.0, 54.0, -13.0], [22.0, 4.0, 13.0, -3.0], [54.0, 13.0, 156.0, -22.0],
                      [-13.0, -3.0, -22.0, 4.0]])  # fmt: skip
    scale = np.array([1.0, length, 1.0, length])
    M = M * np.outer(scale, scale)
    M[np.ix_([1, 3], [1, 3])] += r * np.array([[2.0, 1.0], [1.0, 2.0]])
    cosine, sine = np.cos(x[:, :, 2]), np.sin(x[:, :, 2])
    director, normal = np.stack((cosine, sine), axis=-1), np.stack((-sine, cosine), axis=-1)
    turned = w[:, :, 2, None] * normal - (u[:, :, 2] ** 2)[..., None] * director
    y = np.stack((w[:, 0, :2], turned[:, 0], w[:, 1, :2], turned[:, 1]), axis=1)
    inertia = np.einsum("ij,njk->nik", M, y)
    force[:, :, :2] += inertia[:, ::2]
    force[:, :, 2] += (normal * inertia[:, 1::2]).sum(axis=-1)
    total = np.zeros_like(q)
    np.add.at(total, pairs, force)
    total[-1, :2] += SLIDER * a[-1, :2]
    return total


def whole_mechanism(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return eigenvalues p with Im p > 0 at a state (n, 3), sorted by |p|."""
    q, v, a = q.astype(complex), v.astype(complex), np.zeros(q.shape, complex)
    held = [0, 1, q.size - 2]  # the pin goes round, the slider keeps its height
    free = np.setdiff1d(np.arange(q.size), held)
    a[0, :2] = -(SPEED**2) * q[0, :2]

    def derivative(z: np.ndarray) -> np.ndarray:
        columns = []
        for i in free:
            z.flat[i] += 1e-30j
            columns.append(residual(q, v, a).imag.ravel()[free] / 1e-30)
            z.flat[i] -= 1e-30j
        return np.column_stack(columns)

    M = derivative(a)
    a.flat[free] = -np.linalg.solve(M, residual(q, v, a).real.ravel()[free])
    return roots(derivative(a), derivative(v), derivative(q))


def state(angle: float, **options) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions and angles of the rod's nodes (n, 3), and their rates, as the transient has left them."""
    model = build([angle], **options)
    lin = linearise(model)
    place = dict(zip(lin.names, lin.dofs, strict=True))
    nodes = [model.node_name(int(i)) for i in model.nodes_of("rod")]
    rows = np.array([[place[f'node "{node}", {c}'] for c in ("x", "y", "rotation")] for node in nodes])
    return lin.state.Q[0][rows], lin.velocity()[rows]


def reference() -> dict:
    """Return the frequencies of the pinned rod without axial force [rad/s]."""
    k = np.pi * np.arange(1, 3) / ROD
    return {"at rest": k**2 * np.sqrt(E * INERTIA / (DENSITY * AREA))}


def eigenvalues(summary: dict) -> np.ndarray:
    p = np.array(summary["eigenvalues"]) @ (1.0, 1j)
    p = p[p.imag > 0.0]
    return p[np.argsort(np.abs(p))]


def check(f: Findings) -> None:
    angles = np.deg2rad(np.arange(0.0, 360.0, 15.0))
    steps = solve(build(angles)).steps
    modes = [step.summary for step in steps if step.type == "complex_modes"]
    p = np.array([eigenvalues(s)[:2] for s in modes])
    beam = np.array([pinned_beam(angle)[:2] for angle in angles])
    size, expected = np.abs(p), np.abs(beam)
    straight = np.abs([pinned_beam(angle, bent=False)[:2] for angle in angles])
    bend = float(np.abs(expected / straight - 1.0).max())
    why = (
        "The pinned beam contains the bend of the rod to leading order; the row allows the largest change that the "
        "bend makes in it."
    )
    rest = reference()["at rest"]
    for k in range(2):
        f.zero(
            "B-CRANK", f"mode {k + 1} against the pinned beam, largest relative distance of |p|, 24 angles",
            np.abs(size[:, k] / expected[:, k] - 1.0).max(), bend, why, INDEPENDENT,
        )  # fmt: skip
        f.row(
            "B-CRANK", f"mode {k + 1}: damping ratio at 90 deg, against the pinned beam",
            -p[6, k].real / size[6, k], -beam[6, k].real / expected[6, k], why, INDEPENDENT, relative=bend,
        )  # fmt: skip
    for at in (0, 3, 9, 16):
        degrees = np.rad2deg(angles[at])
        exact = whole_mechanism(*state(angles[at]))
        off = max(np.abs(exact - x).min() / abs(x) for x in eigenvalues(modes[at])[:2])
        f.zero(
            "B-CRANK", f"both modes at {degrees:g} deg against Lagrange's equations, relative distance", off, 1e-8,
            "The file derives the equations at the state of the transient; differences of damped rates leave the "
            "rest.",
            INDEPENDENT,
        )  # fmt: skip
    path = solve(build(angles, along=True)).steps[-1].summary["eigenvalues"]
    q = np.array(path["values"])[: len(angles)] @ (1.0, 1j)
    f.zero(
        "B-CRANK", "eigenvalues along one transient against those of steps of their own, relative distance",
        max(np.abs(row - x).min() / abs(x) for row, here in zip(q, p, strict=True) for x in here), 1e-9,
        "Both ways are exact; only round-off is left.",
        SELF,
    )  # fmt: skip
    good_pairs(f, "B-CRANK", "24 angles", *modes)
    f.figure(
        "Frequencies of the rod",
        [Curve(np.rad2deg(angles), size[:, k] / rest[k], f"mode {k + 1}, 8 elements") for k in range(2)]
        + [Curve(np.rad2deg(angles), expected[:, k] / rest[k], f"mode {k + 1}, pinned beam", "o") for k in range(2)],
        "Crank angle [deg]", "|p| / frequency at rest", f"{SPEED:g} rad/s, slider of half the rod's mass.",
    )  # fmt: skip
