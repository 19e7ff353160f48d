"""Random beams against the exact beam.

Thirty cantilevers in space and five in the plane, drawn at random: straight, curved and twisted; prismatic and tapered;
with centroid and shear centre beside the line, with the line beside the nodes, with fully coupled sections; of every
ratio of stiffnesses, with strains of order 1 among them.  Dead forces and moments act at the end and in the middle.

      clamp |====.....____           m2
            |         f1  '''---___ / f2        f: forces, m: moments, fixed in direction
            |          \\ m1       \\/

Every beam is computed with 28, 84 and 252 elements.  The middle of an element of one mesh is the middle of an element
of the next, so that section forces, which elements report for their middles, are compared at the same places; moments
are compared at the clamp too.  The reference is the boundary-value solution of
`exact_beam`.  What the meshes converge to (extrapolated twice, errors in h^2 and h^4) is demanded to be that solution.
The solution by 24 intervals differs from that by 48 by less than 1e-9 in the place of the end ("helix with everything",
seed 0).

Source: E. Reissner, "On one-dimensional large-displacement finite-strain beam theory", Stud. Appl. Math. 52 (1973),
87-95, doi:10.1002/sapm197352287; J.C. Simo, "A finite strain beam formulation", Comp. Meth. Appl. Mech. Eng. 49 (1985),
55-70, doi:10.1016/0045-7825(85)90050-7.  No number is printed: all references are computed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.exact_beam import cantilever, matrix_of
from fem_mbs.validation.kinds import INDEPENDENT

CAPABILITY = "beams"
CASES = {"B-RANDOM": "random beams: place, rotation and section forces converge to the exact beam"}

#: A seed of each kind besides the first has stiffnesses that differ up to 1e4, the first has strains of order 1.
SEEDS = range(5)
KINDS = ("straight", "coupled section", "eccentric", "tapered and twisted", "helix", "helix with everything")
MESHES = (28, 84, 252)
INSIDE = (0.125, 0.625)  # of the length: middles of elements of all meshes
#: Section forces at the clamp and at each of the places inside, in space and in the plane.
CLAMP, MIDDLE = ("My 1", "Mz 1"), ("N", "Vy", "Vz", "T")
PLANE_CLAMP, PLANE_MIDDLE = ("M_p",), ("N", "Q")
_PLANE_OF_ALL = np.array([1, 2, 3, 6, 7])  # those of the plane among those in space
_MOMENTS = np.array([0, 1, 5, 9])


@dataclass(frozen=True)
class Beam:
    """A drawn beam; sections are the keys of `Model.section`, loads (s / length, force, moment)."""

    kind: str
    seed: int
    sections: tuple[dict, dict]
    helix: tuple[float, float, float] | None  # radius, rise per radian, angle
    offset: np.ndarray
    twist: float
    loads: tuple[tuple[float, np.ndarray, np.ndarray], ...]

    @property
    def label(self) -> str:
        return f"{self.kind}, seed {self.seed}"

    @property
    def tapered(self) -> bool:
        return self.sections[0] is not self.sections[1]

    def nodes(self, n: int) -> np.ndarray:
        """Return nodes (n + 1, 3)."""
        t = np.linspace(0.0, 1.0, n + 1)
        if self.helix is None:
            return t[:, None] * np.array([1.0, 0.0, 0.0])
        radius, rise, angle = self.helix
        a = angle * t
        return np.stack([radius * np.cos(a), radius * np.sin(a), rise * a], axis=1)


def draw(kind: str, seed: int) -> Beam:
    """Return a beam of a kind, or "plane"; EI is of the order of 1, lengths are of the order of 1 to 2."""
    rng = np.random.default_rng(((*KINDS, "plane").index(kind), seed))
    size = 1.0
    ratios = 10.0 ** rng.uniform((0.8, 0.8, 0.8, -0.5, -0.5, -0.5), (4.0, 4.0, 4.0, 0.5, 0.5, 0.5))
    if seed == 0:
        ratios[:3] = (4.0, 3.0, 5.0)  # strains of order 1
    keys = ("EA", "GAy", "GAz", "GJ", "EIy", "EIz")
    first = dict(zip(keys, ratios, strict=True)) | {"rhoA": 0.0}
    if kind == "eccentric":
        first |= {
            "centroid": tuple(rng.uniform(-0.1, 0.1, 2)),
            "shear_centre": tuple(rng.uniform(-0.1, 0.1, 2)),
            "rotate": rng.uniform(-60.0, 60.0),
        }
    last = first
    if "tapered" in kind:
        last = {k: v * rng.uniform(0.4, 0.9) for k, v in first.items()}
        first, last = (
            d | {"centroid": tuple(rng.uniform(-0.05, 0.05, 2)), "rotate": rng.uniform(-20.0, 20.0)}
            for d in (first, last)
        )
    if kind in ("coupled section", "helix with everything"):
        first, last = ({"stiffness": _coupled(rng, ratios), "mass": np.zeros((6, 6))} for _ in range(2))
        if kind == "coupled section":
            last = first
    helix, twist, offset = None, 0.0, np.zeros(3)
    if "helix" in kind:
        helix = (rng.uniform(0.5, 1.0), rng.uniform(-0.4, 0.4), rng.uniform(1.0, 2.5))
        twist = rng.uniform(-1.5, 1.5)
        size = helix[2] * np.hypot(helix[0], helix[1])
    if "twisted" in kind:
        twist = rng.uniform(1.0, 3.0) * rng.choice((-1.0, 1.0))
    if kind in ("eccentric", "helix with everything"):
        offset = np.array([0.0, *rng.uniform(-0.1, 0.1, 2)])
    loads = tuple(
        (at, rng.normal(0.0, 1.0, 3) * share / size**2, rng.normal(0.0, 0.5, 3) * share / size)
        for at, share in ((0.5, 1.0), (1.0, 1.0))
    )
    if kind == "plane":
        loads = tuple((at, f * (1.0, 1.0, 0.0), m * (0.0, 0.0, 1.0)) for at, f, m in loads)
    return Beam(kind, seed, (first, last), helix, offset, twist, loads)


def _coupled(rng, diagonal: np.ndarray) -> np.ndarray:
    """Return a positive definite 6x6 stiffness with this diagonal and random couplings of it all."""
    mixed = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    mixed = (mixed * rng.uniform(0.3, 1.7, 6)) @ mixed.T
    scale = np.sqrt(diagonal / np.diag(mixed))
    return mixed * scale[:, None] * scale


def build(beam: Beam | None = None, n: int = 12, strains: str | None = None) -> Model:
    """Return the model of a drawn beam with n elements."""
    beam = draw(KINDS[0], 1) if beam is None else beam
    if beam.kind == "plane":
        return _build_plane(beam, n, strains)
    model = Model(3, f"random beam, {beam.label}")
    names = ["first", "last"] if beam.tapered else ["first"]
    for name, keys in zip(names, beam.sections, strict=False):
        model.section(name, "matrix" if "stiffness" in keys else "stiffness", **keys)
    model.polyline("beam", beam.nodes(n), 1)
    places: dict[str, Any] = {}
    if beam.helix is not None:
        places = {"curved": True, "orientation": ("-x", "-y", 0.0)}
    else:
        places = {"orientation": (0.0, 1.0, 0.0)}
    if beam.offset.any():
        places["offset"] = beam.offset
    if beam.twist:
        places["twist"] = (0.0, beam.twist)
    model.beams("beam", "beam", names if beam.tapered else names[0], strains=strains, **places)
    model.fix("beam:start")
    for i, (at, force, moment) in enumerate(beam.loads, 1):
        node = f"beam:corner_{round(at * n) + 1}"
        model.force(f"force {i}", node, force)
        model.moment(f"moment {i}", node, moment)
    model.sensor("tip", "position", on="beam:end")
    model.sensor("turn", "rotation", on="beam:end")
    for k, at in enumerate((0.0, *INSIDE)):
        for q in MIDDLE if k else CLAMP:
            model.sensor(f"{q} {k}", "element", on="beam", element=int(at * n), quantity=q)
    model.static_step(increments=4)
    return model


def flexibility(beam: Beam, s: np.ndarray) -> np.ndarray:
    """Return F (k, 6, 6) at s (k,) in 0..1, from what the keys of the section mean."""

    def between(key, default=0.0):
        a, b = (np.asarray(section.get(key, default), float) for section in beam.sections)
        t = s.reshape(-1, *(1,) * a.ndim)
        return (1.0 - t) * a + t * b

    if "stiffness" in beam.sections[0]:
        return np.linalg.inv(between("stiffness"))
    yc, zc = between("centroid", (0.0, 0.0)).T
    # without a shear centre of its own it is the centroid
    ys, zs = (between("shear_centre", (0.0, 0.0)) if "shear_centre" in beam.sections[0] else np.stack([yc, zc], 1)).T
    angle = np.radians(between("rotate"))
    c, o, z = np.cos(angle), np.sin(angle), np.zeros(len(s))
    one = np.ones(len(s))
    T = np.array(
        [  # strains at the centroid (1st, 5th, 6th row) and the shear centre along the principal axes
            [one, z, z, z, zc, -yc],
            [z, c, o, o * ys - c * zs, z, z],
            [z, -o, c, c * ys + o * zs, z, z],
            [z, z, z, one, z, z],
            [z, z, z, z, c, o],
            [z, z, z, z, -o, c],
        ]
    ).transpose(2, 0, 1)
    D = np.stack([between(k) for k in ("EA", "GAy", "GAz", "GJ", "EIy", "EIz")], axis=1)
    return np.linalg.inv(np.einsum("nki,nk,nkj->nij", T, D, T))


def exact(beam: Beam, intervals: int = 24):
    """Return Boundary-value solution at full load, and the line's own length."""
    ez = np.array([0.0, 0.0, 1.0])
    if beam.helix is None:
        R, length, start = np.eye(3), 1.0, beam.offset
        rate = np.zeros(3)
        arm = -beam.offset
    else:
        # all of it follows from its first section by the screw motion about z
        radius, rise, angle = beam.helix
        node = np.array([radius, 0.0, 0.0])

        def along(x):  # derivative by the angle
            return np.cross(ez, x) + rise * ez

        def axes(tangent):
            ex = tangent / np.linalg.norm(tangent)
            ey = -node - (-node @ ex) * ex
            ey /= np.linalg.norm(ey)
            return np.stack([ex, ey, np.cross(ex, ey)], axis=1)

        start = node + axes(along(node)) @ beam.offset
        speed = np.linalg.norm(along(start))
        R, length = axes(along(start)), angle * speed
        rate = R.T @ ez / speed
        arm = R.T @ (node - start)

    def curvature(s):
        a = beam.twist * s / length
        c, o = np.cos(a), np.sin(a)
        x, y, z = rate
        return np.stack([x + beam.twist / length + 0.0 * s, c * y + o * z, c * z - o * y], axis=1)

    def arm_at(t):
        c, o = np.cos(beam.twist * t), np.sin(beam.twist * t)
        return np.array([arm[0], c * arm[1] + o * arm[2], c * arm[2] - o * arm[1]])

    inner = [(at * length, f, m, arm_at(at)) for at, f, m in beam.loads[:-1]]
    _, force, moment = beam.loads[-1]
    solution = cantilever(
        length,
        lambda s: flexibility(beam, s / length),
        force,
        moment,
        start,
        R,
        curvature,
        arm_at(1.0),
        inner,
        intervals=intervals,
    )[-1]
    # axes of the last section before loading, for the turn of the node
    turned = cantilever(length, np.zeros((6, 6)), (0, 0, 0), (0, 0, 0), start, R, curvature, intervals=intervals)[-1]
    turn = solution.rotation(length) @ turned.rotation(length).T
    tip = solution.place(length) + solution.rotation(length) @ arm_at(1.0)
    forces = [solution.forces(0.0)[4:]] + [solution.forces(at * length)[:4] for at in INSIDE]
    return tip, turn, np.concatenate(forces), length


def _build_plane(beam: Beam, n: int, strains: str | None) -> Model:
    model = Model(2, f"random beam, {beam.label}")
    s = beam.sections[0]
    model.section("first", "stiffness", EA=s["EA"], GA=s["GAy"], EI=s["EIz"], rhoA=0.0)
    model.polyline("beam", beam.nodes(n)[:, :2], 1)
    model.beams("beam", "beam", "first", strains=strains)
    model.fix("beam:start")
    for i, (at, force, moment) in enumerate(beam.loads, 1):
        node = f"beam:corner_{round(at * n) + 1}"
        model.force(f"force {i}", node, force[:2])
        model.moment(f"moment {i}", node, moment[2])
    model.sensor("tip", "position", on="beam:end")
    model.sensor("turn", "rotation", on="beam:end")
    for k, at in enumerate((0.0, *INSIDE)):
        for q in PLANE_MIDDLE if k else PLANE_CLAMP:
            model.sensor(f"{q} {k}", "element", on="beam", element=int(at * n), quantity=q)
    model.static_step(increments=4)
    return model


def measured(beam: Beam, n: int, strains: str | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute a beam with n elements: return position (3,) and rotation (3, 3) of the end, and section forces."""
    solution = solve(build(beam, n, strains))
    tip, turn = solution.steps[-1].series["sensor/tip"][-1], solution.steps[-1].series["sensor/turn"][-1]
    clamp, middle = (PLANE_CLAMP, PLANE_MIDDLE) if beam.kind == "plane" else (CLAMP, MIDDLE)
    forces = np.array(
        [solution.steps[-1].series[f"sensor/{q} {k}"][-1, 0] for k in range(3) for q in (middle if k else clamp)]
    )
    if beam.kind == "plane":
        tip, turn = np.append(tip, 0.0), np.array([0.0, 0.0, turn[0]])
    return tip, rotation(turn), forces


def rotation(vector: np.ndarray) -> np.ndarray:
    """Return rotation (3, 3) by a rotation vector."""
    angle = np.linalg.norm(vector)
    axis = vector / angle
    half = 0.5 * angle
    return matrix_of(np.array([np.cos(half), *(np.sin(half) * axis)]))


def errors(beam: Beam, strains: str | None = None, intervals: int = 24):
    """Return errors (meshes, k) of the place of the end over the length, its angle, section forces over the largest
    one."""
    tip, turn, forces, length = exact(beam, intervals)
    keep = _PLANE_OF_ALL if beam.kind == "plane" else np.arange(len(forces))
    moment = np.isin(np.arange(len(forces)), _MOMENTS)
    size = np.where(moment, np.abs(forces[moment]).max(), np.abs(forces[~moment]).max())
    rows = []
    for n in MESHES:
        place, found, section = measured(beam, n, strains)
        away = found @ turn.T
        angle = 0.5 * np.array([away[2, 1] - away[1, 2], away[0, 2] - away[2, 0], away[1, 0] - away[0, 1]])
        rows.append(np.concatenate([(place - tip) / length, angle, (section - forces[keep]) / size[keep]]))
    return np.array(rows)


def reference() -> dict:
    return {"limit": 0.0, "order": 2.0}


def check(f: Findings) -> None:
    curves = []
    for kind in (*KINDS, "plane"):
        worst = np.zeros(len(MESHES))
        for seed in SEEDS:
            beam = draw(kind, seed)
            e = errors(beam)
            end, forces = np.abs(e[:, :6]).max(axis=1), np.abs(e[:, 6:]).max(axis=1)
            worst = np.maximum(worst, end)
            left = np.abs(extrapolated(e, 3.0))
            f.zero(
                "B-RANDOM", f"limit of place and turn of the end, {beam.label}", left[:6].max(), 1e-6,
                "The boundary-value solution is exact; extrapolation leaves 1e-7.", INDEPENDENT,
            )  # fmt: skip
            f.zero(
                "B-RANDOM", f"limit of section forces over the largest one, {beam.label}", left[6:].max(),
                1e-5, "The boundary-value solution is exact; extrapolation leaves 1e-6.", INDEPENDENT,
            )  # fmt: skip
            for name, error in (("place and turn", end), ("section forces", forces)):
                f.between(
                    "B-RANDOM", f"order of {name}, 84 to 252 elements, {beam.label}",
                    np.log(error[1] / error[2]) / np.log(3.0), 1.8, 5.0,
                    "The order is 2 at least, and 4 where nothing of the second order is left.",
                )  # fmt: skip
        curves.append(Curve(1.0 / np.array(MESHES), worst, kind))
    f.figure(
        "Error of the end, worst of five beams", curves, "Element length / length", "Error of place / length, of turn",
        "", "loglog",
    )  # fmt: skip
