"""Check the arguments of spring laws: tables, polynomials, preload, stops, dampers over the rate."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NUMBER
from fem_mbs.elements.laws import ROW, piecewise
from fem_mbs.errors import ModelError

__all__ = [
    "INTERPOLATIONS", "SLIDERS", "SpringLaw", "exponent_key", "law_of", "spring_law", "unloading_key",
]  # fmt: skip

INTERPOLATIONS = ("linear", "spline")
#: What the key of sliders is.
SLIDERS = "pairs [stiffness, yield force] of springs that slip, in parallel to the stiffness (Iwan)"


def exponent_key() -> Any:
    """Return the key of the exponent of Bouc and Wen's law."""
    text = "n of the law of Bouc & Wen, at least 1: the yield force is approached smoothly"
    return key(NUMBER, text, None, shows="it yields at once", kw_only=True)


def unloading_key() -> Any:
    """Return the key of the shape of unloading in Bouc and Wen's law."""
    text = "beta/(beta + gamma) of that law, at least 1/2, where it unloads along its stiffness"
    return key(NUMBER, text, None, shows="1/2", kw_only=True)


class SpringLaw:
    """The force law on a coordinate: ``linear`` if stiffness and damping define it; else ``family``, the first word of
    the element types (`nonlinear_*`, `plastic_*`, `bouc_wen_*`, `iwan_*`), ``suffix`` what stands at their end, their
    parameters by name in ``columns`` (but for "free"), and ``table``, the pieces that follow them."""

    def __init__(self, stiffness: float, damping: float):
        self.stiffness, self.damping = stiffness, damping
        self.linear = True
        self.family = "nonlinear"
        self.suffix = ""
        self.columns: dict[str, float] = {}
        self.table: np.ndarray = np.zeros(0)


def _points(value, owner: str, key: str) -> np.ndarray:
    try:
        points = np.asarray(value, float)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1:] != (2,) or len(points) < 2 or not np.isfinite(points).all():
        raise ModelError(f"{key} must be a list of at least two points [x, force], all finite numbers", owner=owner)
    bad = np.flatnonzero(np.diff(points[:, 0]) <= 0.0)
    if bad.size:
        raise ModelError(
            f"{key}: x must rise from point to point, but {points[bad[0] + 1, 0]:g} follows {points[bad[0], 0]:g}",
            owner=owner,
            remedy="sort the points and leave out doubles",
        )
    return points


def _damper(points: np.ndarray, owner: str) -> np.ndarray:
    """Return a table of force over rate that takes energy at every rate."""
    rate, force = points.T
    wrong = np.flatnonzero(rate * force < 0.0)
    if wrong.size:
        raise ModelError(
            f"damping_table: force {force[wrong[0]]:g} at the rate {rate[wrong[0]]:g} drives instead of damping",
            owner=owner,
            remedy="force and rate must have the same sign",
        )
    at_rest = _interpolate(points, 0.0)
    if abs(at_rest) > 1e-12 * np.abs(force).max():
        raise ModelError(
            f"damping_table gives the force {at_rest:g} at rest",
            owner=owner,
            remedy="put the point [0, 0] between its points",
        )
    slopes = np.diff(force) / np.diff(rate)
    if min(slopes[0], slopes[-1]) < 0.0:
        raise ModelError(
            "damping_table falls at its ends, so that it would drive far beyond them",
            owner=owner,
            remedy="end it with points of equal or growing force",
        )
    return piecewise(points)


def _interpolate(points: np.ndarray, x: float) -> float:
    at = int(np.clip(np.searchsorted(points[:, 0], x) - 1, 0, len(points) - 2))
    (x0, f0), (x1, f1) = points[at : at + 2]
    return float(f0 + (f1 - f0) / (x1 - x0) * (x - x0))


def _refuse_others(owner: str, what: str, others: dict) -> None:
    """Refuse keys that a law does not know; absent ones are None or 0."""
    beside = [name for name, value in others.items() if value is not None and not (np.isscalar(value) and value == 0.0)]
    if beside:
        raise ModelError(
            f"a spring {what} has no {beside[0]}", owner=owner, key=beside[0],
            remedy="give that to a second spring beside it",
        )  # fmt: skip


def _make_sliding(law: SpringLaw, owner: str, sliders: Any, others: dict) -> None:
    """Fill the law of a spring with sliders in parallel."""
    _refuse_others(owner, "with sliders", others)
    try:
        pairs = np.asarray(sliders, float)
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not len(pairs) or not np.isfinite(pairs).all():
        raise ModelError(
            "sliders must be a list of pairs [stiffness, yield force], all finite numbers", owner=owner, key="sliders",
            value=sliders,
        )  # fmt: skip
    bad = np.flatnonzero((pairs <= 0.0).any(axis=1))
    if bad.size:
        raise ModelError(
            f"sliders: stiffness and yield force of number {bad[0] + 1}, {pairs[bad[0]].tolist()}, must be positive",
            owner=owner, key="sliders", value=sliders, remedy="leave out what does not hold",
        )  # fmt: skip
    law.linear, law.family, law.suffix = False, "iwan", f"_{len(pairs)}"
    law.columns = {"stiffness": law.stiffness, "damping": law.damping}
    for i, (stiffness, limit) in enumerate(pairs.tolist(), 1):
        law.columns |= {f"stiffness {i}": stiffness, f"yield force {i}": limit}


def _make_smooth(law: SpringLaw, model: Any, owner: str, limit: float, tangent: float, exponent, unloading) -> None:
    """Fill the law of Bouc and Wen: a yield force ``limit`` that is approached smoothly, and the ``tangent`` beyond."""
    n = model.number(exponent, owner, "exponent", 1.0)
    share = 0.5 if unloading is None else model.number(unloading, owner, "unloading", 0.5)
    law.family = "bouc_wen"
    law.columns = {
        "stiffness": law.stiffness, "damping": law.damping, "share": tangent / law.stiffness,
        "limit": limit / law.stiffness, "exponent": n, "unloading": share,
    }  # fmt: skip


def _make_plastic(law: SpringLaw, model: Any, owner: str, given: dict[str, Any], others: dict) -> None:
    """Fill the law of an elastic-plastic spring; ``given`` are yield_force, hardening, exponent and unloading."""
    yield_force, hardening = given["yield_force"], given["hardening"]
    if yield_force is None:
        name = next(name for name, value in given.items() if value is not None and (value or name != "hardening"))
        raise ModelError(f"{name} belongs to yield_force", owner=owner, remedy="add yield_force")
    _refuse_others(owner, "that yields", others)
    k = law.stiffness
    if k == 0.0:
        raise ModelError("a spring that yields needs its elastic stiffness", owner=owner, remedy="add stiffness")
    limit = model.number(yield_force, owner, "yield_force", 0.0, strict=True)
    tangent = model.number(hardening, owner, "hardening", 0.0)
    if tangent >= k:
        raise ModelError(
            f"hardening = {tangent:g} must be less than the stiffness {k:g}", owner=owner, key="hardening",
            value=tangent, remedy="it is the tangent stiffness beyond the yield force",
        )  # fmt: skip
    law.linear, law.family = False, "plastic"
    if given["exponent"] is not None:
        _make_smooth(law, model, owner, limit, tangent, given["exponent"], given["unloading"])
        return
    if given["unloading"] is not None:
        raise ModelError("unloading belongs to exponent", owner=owner, key="unloading", remedy="add exponent")
    law.columns = {
        "stiffness": k, "damping": law.damping, "yield force": limit, "hardening": k * tangent / (k - tangent)
    }  # fmt: skip


def law_of(model: Any, owner: str, given: Any, start: float = 0.0) -> SpringLaw:
    """Return the law of a declaration, which has the arguments of `spring_law` as keys.

    Raises:
        as `spring_law`.
    """
    names = (p.name for p in signature(spring_law).parameters.values() if p.kind is p.KEYWORD_ONLY)
    return spring_law(model, owner, start=start, **{name: getattr(given, name) for name in names if name != "start"})


def spring_law(
    model: Any,
    owner: str,
    *,
    stiffness: Any,
    damping: Any,
    cubic: Any = 0.0,
    preload: Any = 0.0,
    table: Any = None,
    interpolation: Any = "linear",
    damping_table: Any = None,
    stops: Any = None,
    stop_stiffness: Any = None,
    stop_damping: Any = 0.0,
    yield_force: Any = None,
    hardening: Any = 0.0,
    exponent: Any = None,
    unloading: Any = None,
    sliders: Any = None,
    start: float = 0.0,
) -> SpringLaw:
    """Return the law that these arguments say; ``start`` is what the element measures where the user's coordinate is
    zero.

    Raises:
        ModelError: naming ``owner``, key, value and remedy.
    """
    number = model.number
    if (
        stiffness is None
        and all(v is None for v in (table, damping_table, stops, sliders))
        and not (cubic or preload or damping)
    ):
        raise ModelError(
            "it has no force", owner=owner, remedy="give stiffness, table, cubic, preload, damping or stops"
        )
    law = SpringLaw(
        0.0 if stiffness is None else number(stiffness, owner, "stiffness", 0.0),
        number(damping, owner, "damping", 0.0),
    )
    cubic, preload = number(cubic, owner, "cubic"), number(preload, owner, "preload")
    stop_damping = number(stop_damping, owner, "stop_damping", 0.0)
    if stops is None and (stop_stiffness is not None or stop_damping):
        raise ModelError(
            "stop_stiffness and stop_damping belong to stops", owner=owner, remedy="add stops = [lower, upper]"
        )
    if table is None and interpolation != "linear":
        raise ModelError(
            f'interpolation = "{interpolation}" belongs to a table', owner=owner, key="interpolation",
            value=interpolation, remedy="add table, or remove it",
        )  # fmt: skip
    others = {"table": table, "damping_table": damping_table, "stops": stops, "cubic": cubic, "preload": preload}
    flowing = {"yield_force": yield_force, "hardening": hardening, "exponent": exponent, "unloading": unloading}
    if sliders is not None:
        _make_sliding(law, owner, sliders, flowing | others)
        return law
    if hardening or any(value is not None for name, value in flowing.items() if name != "hardening"):
        _make_plastic(law, model, owner, flowing, others)
        return law
    law.linear = table is None and damping_table is None and stops is None and not cubic and not preload
    lower, upper = -np.inf, np.inf
    if stops is not None:
        try:
            lower, upper = (float(v) for v in stops)
        except (TypeError, ValueError):
            raise ModelError(
                f"stops = {stops!r} must be two numbers, -inf or inf where there is none",
                owner=owner,
                key="stops",
                value=stops,
            ) from None
        if not lower < upper:
            raise ModelError(
                f"stops = [{lower:g}, {upper:g}]: the lower one must be less than the upper one", owner=owner
            )
        if stop_stiffness is None:
            raise ModelError("stops need their stiffness", owner=owner, remedy="add stop_stiffness")
        stop_stiffness = number(stop_stiffness, owner, "stop_stiffness", 0.0, strict=True)
    points = np.zeros((0, 2)) if table is None else _points(table, owner, "table")
    force = piecewise(points, interpolation, law.stiffness, cubic)
    rate = np.zeros((0, ROW))
    if damping_table is not None:
        rate = _damper(_points(damping_table, owner, "damping_table"), owner)
        rate[:, 1] += law.damping * rate[:, 0]
        rate[:, 2] += law.damping
    elif law.damping:
        rate = piecewise((), stiffness=law.damping)
    law.columns = {
        "preload": preload, "lower": lower + start, "upper": upper + start,
        "stop stiffness": stop_stiffness or 0.0, "stop damping": stop_damping,
        "pieces": len(force), "rate pieces": len(rate),
    }  # fmt: skip
    law.table = np.concatenate((force.ravel(), rate.ravel()))
    return law
