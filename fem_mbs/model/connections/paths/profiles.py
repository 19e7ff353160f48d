"""Joints on curves: a point or a roller on a track, cams and profiles that slide or roll on one another."""

from __future__ import annotations

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import JointRequest, check_different, couple
from fem_mbs.model.connections.paths.sliding import add_ways, drive_way
from fem_mbs.model.connections.paths.splines import Spline, fitted, self_crossing
from fem_mbs.system.blocks import GROUND
from fem_mbs.units import unit_of

__all__ = ["curve_on_curve", "point_on_curve", "rolling_curves"]


def point_on_curve(building: Building, j: JointRequest) -> None:
    """Add a joint of a point, or of the axis of a roller, of b on a curve of a."""
    dim = building.dimension
    a = _part_of(building, j.a, j.owner)
    b, offset = building.point(j.b, j.point, j.owner)
    check_different(j, a, b)
    curve = _curve_of(building, j, j.curve, "curve", a)
    at = building.global_point(b, offset)
    if j.radius is not None:
        curve = _offset_curve(building, j, curve, at)
    s = curve.nearest(at)
    _check_gap(building, j, curve, float(np.linalg.norm(curve(np.array([s]))[0] - at)))
    way = add_ways(building, j, (s,), ("displacement",))
    own = _in_axes(building, a, curve)
    columns = {f"a{c}_b": float(v) for c, v in zip("xyz", offset, strict=False)}
    columns |= {f"e{k + 1}{c}_a": float(i == k) for k in range(dim) for i, c in enumerate("xyz"[:dim])}
    building.add_block(
        j.name, f"point_on_curve{dim}", [(a, b, way)], own.table, pieces=float(len(own.coefficients)),
        length=own.length, closed=float(own.closed), **columns,
    )  # fmt: skip
    drive_way(building, j)


def curve_on_curve(building: Building, j: JointRequest) -> None:
    """Add a joint of two profiles in the plane that touch and slide."""
    _profiles(building, j)
    drive_way(building, j)


def rolling_curves(building: Building, j: JointRequest) -> None:
    """Add a joint of two profiles in the plane that roll on one another."""
    ratio = _profiles(building, j)
    c = building.joints[j.name].coordinates
    couple(building, j.name, c["displacement"], c["displacement_b"], ratio)
    drive_way(building, j)


def _profiles(building: Building, j: JointRequest) -> float:
    """Add the elements of two profiles that touch; return 1.0 or -1.0: whether both run the same way."""
    a, b = _part_of(building, j.a, j.owner), _part_of(building, j.b, j.owner)
    check_different(j, a, b)
    curves = [_curve_of(building, j, j.curve, "curve", a), _curve_of(building, j, j.curve_b, "curve_b", b)]
    for curve, name in zip(curves, (j.curve, j.curve_b), strict=True):
        crossing = self_crossing(curve)
        if crossing is not None:
            raise ModelError(f'curve "{name}" crosses itself at {_at(crossing)}', owner=j.owner, remedy="mend it")
    s, u = _contact(building, j, *curves)
    places = np.array([curve(np.array([v]))[0] for curve, v in zip(curves, (s, u), strict=True)])
    tangents = [curve(np.array([v]), 1)[0] for curve, v in zip(curves, (s, u), strict=True)]
    normal = np.array([-tangents[0][1], tangents[0][0]])
    gap = float(normal @ (places[1] - places[0]))
    size = max(min(curve.length for curve in curves), 1e-300)
    if abs(gap) > 1e-7 * size and building.assembling is None:
        raise ModelError(
            f"its profiles are {abs(gap):g} {unit_of('m')} apart, or cut into each other by this, at {_at(places[0])}",
            owner=j.owner,
            remedy="move one until they touch, give a point near the contact, or ask for an assembly before it",
        )  # fmt: skip
    ratio = float(np.sign(tangents[0] @ tangents[1]))
    kappa = [float(curve.curvature(np.array([v]))[0]) for curve, v in zip(curves, (s, u), strict=True)]
    against = kappa[0] - ratio * kappa[1]
    if abs(against) <= 1e-9 * (abs(kappa[0]) + abs(kappa[1])) or against == 0.0:
        raise ModelError(
            f"both profiles have the same curvature at {_at(places[0])}: the place of contact is not determined",
            owner=j.owner, remedy="round one of them",
        )  # fmt: skip
    own = [_in_axes(building, node, curve) for node, curve in zip((a, b), curves, strict=True)]
    columns = {"arm": 1.0 / abs(against), "side": float(np.sign(against)) * (1.0 if ratio > 0.0 else 2.0)}
    columns["arm"] = min(columns["arm"], size)
    columns |= {f"e{k + 1}{c}_{end}": float(i == k) for end in "ab" for k in range(2) for i, c in enumerate("xy")}
    for end, curve in zip(("", " b"), own, strict=True):
        columns |= {f"pieces{end}": float(len(curve.coefficients)), f"length{end}": curve.length}
        columns[f"closed{end}"] = float(curve.closed)
    way = add_ways(building, j, (s, u), ("displacement", "displacement_b"))
    table = np.concatenate([curve.table for curve in own])
    building.add_block(j.name, "curve_on_curve2", [(a, b, way)], table, **columns)
    return ratio


def _contact(building: Building, j: JointRequest, a: Spline, b: Spline) -> tuple[float, float]:
    """Return the places s, u where two profiles touch or are nearest, by Newton's rule from the nearest of many."""
    s, u = a.samples(500), b.samples(500)
    if j.point is None:
        apart = np.linalg.norm(a(s)[:, None] - b(u)[None], axis=2)
        i, k = np.unravel_index(int(apart.argmin()), apart.shape)
        x = np.array([s[i], u[k]])
    else:
        point = building.vector(j.point, j.owner, "point")
        x = np.array([a.nearest(point), b.nearest(point)])
    for _ in range(50):
        (ra, da, dda), (rb, db, ddb) = ([c(x[[m]], order)[0] for order in range(3)] for m, c in enumerate((a, b)))
        residual = np.array([da @ (rb - ra), da[0] * db[1] - da[1] * db[0]])
        K = np.array(
            [
                [dda @ (rb - ra) - da @ da, da @ db],
                [dda[0] * db[1] - dda[1] * db[0], da[0] * ddb[1] - da[1] * ddb[0]],
            ]
        )
        if abs(np.linalg.det(K)) < 1e-12 * np.abs(K).max() ** 2:
            break
        step = np.linalg.solve(K, residual)
        longest = 0.05 * min(a.length, b.length)
        x = x - step * min(1.0, longest / max(float(np.abs(step).max()), 1e-300))
        for m, c in enumerate((a, b)):
            if not c.closed:
                x[m] = min(max(x[m], 0.0), c.length)
        if np.abs(step).max() < 1e-15 * max(a.length, b.length):
            break
    return float(x[0]), float(x[1])


def _offset_curve(building: Building, j: JointRequest, curve: Spline, at: np.ndarray) -> Spline:
    """Return the curve of the axis of a roller on a curve of the plane, on the side of the point ``at``."""
    if building.dimension == 3:
        raise ModelError("radius is that of a roller in the plane", owner=j.owner, key="radius", remedy="remove it")
    radius = building.number(j.radius, j.owner, "radius", 0.0, strict=True)
    s = curve.nearest(at)
    r, t = curve(np.array([s]))[0], curve(np.array([s]), 1)[0]
    side = 1.0 if t[0] * (at - r)[1] - t[1] * (at - r)[0] > 0.0 else -1.0
    places = curve.samples()
    room = 1.0 - side * radius * curve.curvature(places)
    if room.min() <= 1e-6:
        k = int(room.argmin())
        bend = 1.0 / abs(float(curve.curvature(places[[k]])[0]))
        raise ModelError(
            f'a roller of radius {radius:g} {unit_of("m")} does not fit into curve "{j.curve}", which bends with '
            f'{bend:g} {unit_of("m")} at '
            f"{_at(curve(places[[k]])[0])}",
            owner=j.owner, key="radius", value=radius, remedy="make the roller smaller or the curve rounder",
        )  # fmt: skip

    def place(p: np.ndarray) -> np.ndarray:
        d = curve(p, 1)
        n = np.column_stack((-d[:, 1], d[:, 0])) / np.linalg.norm(d, axis=1)[:, None]
        return curve(p) + side * radius * n

    found = fitted(
        Owner("Joint", j.name), place, curve.knots, curve.closed, f'the path of the roller on curve "{j.curve}"'
    )
    crossing = self_crossing(found)
    if crossing is not None:
        raise ModelError(
            f'the path of a roller of radius {radius:g} {unit_of("m")} on curve "{j.curve}" crosses itself at '
            f'{_at(crossing)}: the '
            "curve is too narrow for it", owner=j.owner, key="radius", value=radius, remedy="make the roller smaller",
        )  # fmt: skip
    return found


def _check_gap(building: Building, j: JointRequest, curve: Spline, gap: float) -> None:
    if gap > 1e-7 * curve.length and building.assembling is None:
        roller = "" if j.radius is None else f" a roller's radius of {j.radius:g} {unit_of('m')} beside"
        raise ModelError(
            f'its point is {gap:g} {unit_of("m")} off{roller or " the"} curve "{j.curve}"', owner=j.owner,
            remedy="move it, give the point that slides, or ask for an assembly before it",
        )  # fmt: skip


def _part_of(building: Building, place: str | int, owner: str) -> int:
    """Return the node of a part that a curve is fixed to; ground is one."""
    return building.turning_node(place, owner)


def _curve_of(building: Building, j: JointRequest, name: object, key: str, node: int) -> Spline:
    """Return the curve that a key of a joint names, which it fixes to a node."""
    if name is None:
        raise ModelError(f"it needs its {key}", owner=j.owner, key=key, remedy=f"add {key} = the name of a [[curve]]")
    found: Spline = building.find("curve", str(name), building.curves, j.owner)
    building.joint_curves.append((str(name), node))
    return found


def _in_axes(building: Building, node: int, curve: Spline) -> Spline:
    """Return the curve in the axes of a node."""
    if node == GROUND:
        return curve
    return curve.moved(building.rotation_matrix(node), building.position(node))


def _at(x: np.ndarray) -> str:
    return f"({', '.join(f'{v:g}' for v in x)})"
