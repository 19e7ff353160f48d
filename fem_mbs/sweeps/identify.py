"""Find masses, densities and stiffnesses of a model from the energy of a run: `identify`.

    found = identify("model.toml", results, ["section.rod.EI", "section.rod.rhoA"])
    found.values, found.rank, found.condition

The energy of a model is linear in masses, moments of inertia, densities and stiffnesses, X: H = sum_j h_j X_j + h_0.
Between two instants it changes by the work of loads and drivers, less what was dissipated, so that each pair of
instants gives one equation sum_j (h_j(t1) - h_j(t0)) X_j = work - (h_0(t1) - h_0(t0)), without any acceleration
(Chedmail, Depince & Bennis 1993, eqs 17-22).  The h_j are differences of the energies of models with other values in
the same states, so that any number of a model file on which the energy depends linearly can be identified.  Columns
that depend on each other leave combinations of parameters that no motion of the run can tell apart (eqs 23, 24,
theorem 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.transient.state_energies import StateEnergies, StateRecord
from fem_mbs.dataframes import dataframe
from fem_mbs.declarations.kinds import shown
from fem_mbs.display import html_table
from fem_mbs.errors import ModelError, Owner, ResultsError
from fem_mbs.late import dataclass
from fem_mbs.model.model import Model
from fem_mbs.modelfile.paths import locate
from fem_mbs.modelfile.read import load_model, parse_model_file
from fem_mbs.results.reader import Results
from fem_mbs.units import Units

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike

__all__ = ["Identification", "Instant", "identify", "instants_of", "measured_instants"]

#: Singular value over the largest one below which a combination of parameters is not determined.
RANK_TOLERANCE = 1e-9
#: Second difference of the energy over its first one above which it does not depend linearly on a parameter.
_BENT = 1e-6
#: Change of a parameter for its differences, over its start value.
_CHANGE = 0.0625

ModelMaker = Callable[[Mapping[str, float]], Model]


@dataclass(frozen=True)
class Instant:
    """A state of a run, and the work [J] that loads and drivers have done until then, less what was dissipated.

    Works count from the first instant of their ``step``; no equation connects instants of different steps.
    """

    state: StateRecord
    work: float
    step: int = 0


@dataclass(frozen=True)
class Identification:
    """Parameters of a model identified from the energies of a run.

    Attributes:
        values: of the parameters, by name; what is not determined stays as near to the start values as it can.
        start: values of the model.
        deviations: standard deviations of the values, from what the equations leave; NaN where they are not determined.
        rank: of the equations, the number of combinations of the parameters that they determine.
        condition: ratio of the largest singular value of the columns, each divided by its norm, to the smallest one of
            the ``rank``.
        singular_values: (m,), of the same columns over the largest one.
        undetermined: combinations that the run does not determine: changes of parameters, relative to their start
            values, that change no energy by more than round-off.
        error: what the equations leave, root mean square [J].
        change: of the energy in the run, root mean square over the equations [J].
        equations: their number.
    """

    values: dict[str, float]
    start: dict[str, float]
    deviations: dict[str, float]
    rank: int
    condition: float
    singular_values: np.ndarray
    undetermined: list[dict[str, float]]
    error: float
    change: float
    equations: int

    def __repr__(self) -> str:
        found = ", ".join(f"{name} = {value:.6g}" for name, value in self.values.items())
        told = f"rank {self.rank} of {len(self.values)}, condition {self.condition:.3g}"
        return f"<Identification {found}: {told}, {self.equations} equations>"

    @property
    def rows(self) -> list[tuple[str, float, float, float]]:
        """Return name, start value, value and standard deviation of each parameter."""
        return [(name, self.start[name], value, self.deviations[name]) for name, value in self.values.items()]

    def to_json(self) -> dict[str, Any]:
        """Return all entries as a table of JSON; what is not determined has no deviation."""
        lost = {name: None if value != value else value for name, value in self.deviations.items()}
        return {**asdict(self), "deviations": lost, "singular_values": self.singular_values.tolist()}

    def _repr_html_(self) -> str:
        """Return the values as a table of a notebook."""
        heads = ("parameter", "start", "identified", "standard deviation")
        return html_table(repr(self)[1:-1], heads, ((n, *(f"{v:.6g}" for v in numbers)) for n, *numbers in self.rows))

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the values as a table of pandas, a row per parameter."""
        named = [(text, "") for text in ("parameter", "start", "identified", "standard deviation")]
        return dataframe(named, [list(column) for column in zip(*self.rows, strict=True)], Units(), "identification")


def identify(
    model: str | Path | ModelMaker,
    measured: Results | Sequence[Instant],
    parameters: Sequence[str] | Mapping[str, float],
    *,
    rank_tolerance: float = RANK_TOLERANCE,
) -> Identification:
    """Return the values of parameters that fit the energy of a run.

    Args:
        model: model file, or a function that returns the model for values of the parameters by name. measured:
        results whose steps have restart points (``restarts`` of the step: each is a state), or instants. parameters:
        names of parameters of the model file, or paths into it ("section.rod.EI"); with a function, names and
            start values.
        rank_tolerance: singular value over the largest one below which a combination is not determined.

    Raises:
        InputError: a name that leads nowhere or twice to the same, an energy that does not depend linearly on a
            parameter, results without enough states or of another model.
    """
    start, make = _maker(model, parameters)
    names = list(start)
    instants = instants_of(measured) if isinstance(measured, Results) else list(measured)
    pairs = [(a, b) for a, b in zip(instants[:-1], instants[1:], strict=True) if a.step == b.step]
    if len(pairs) < len(names):
        raise ResultsError(
            f"{len(names)} parameters need as many pairs of states, and there are {len(pairs)}; run the step with "
            f"restarts = {5 * len(names)} or more, whose restart points are the states"
        )
    states = [instant.state for instant in instants]
    at_start, columns = _columns(make, start, states)
    work = np.array([b.work - a.work for a, b in pairs])
    place = {id(instant): i for i, instant in enumerate(instants)}
    first, second = (np.array([place[id(pair[k])] for pair in pairs]) for k in (0, 1))
    return _solved(start, columns[second] - columns[first], work - (at_start[second] - at_start[first]), work,
                   at_start[second] - at_start[first], rank_tolerance)  # fmt: skip


def instants_of(results: Results) -> list[Instant]:
    """Return the states of the restart points of results, with the works until then.

    Raises:
        ResultsError: there are fewer than two.
    """
    points = [results.restart(k) for k in range(len(results.restart_points))]
    if len(points) < 2:
        raise ResultsError(
            f"{results.where}: {len(points)} restart points; give the step restarts = 20 or more, whose states the "
            "identification takes"
        )
    found = []
    for point in points:
        dissipated, load, driver = (float(v) for v in point["works"])
        found.append(Instant(point, load + driver - dissipated, int(point["model step"])))
    return found


def measured_instants(
    model: Model,
    time: ArrayLike,
    displacement: ArrayLike,
    rotation: ArrayLike,
    velocity: ArrayLike,
    spin: ArrayLike,
    work: ArrayLike,
) -> list[Instant]:
    """Return the instants of measured motions of all nodes of a model.

    Args:
        model: with the nodes; reduced parts have coordinates that no node shows.
        time: (m,) [s].
        displacement: (m, n, dimension) since the start of the model [m].
        rotation: since the start: space (m, n, 3), axis times angle; plane (m, n) [rad]; read where nodes rotate.
        velocity: (m, n, dimension) [m/s].
        spin: global angular velocities: space (m, n, 3), plane (m, n) [rad/s].
        work: (m,) of loads and drivers since the first row, less what was dissipated [J].

    Raises:
        ModelError: an array has another number of rows, nodes or components.
    """
    times, works = np.atleast_1d(np.asarray(time, float)), np.atleast_1d(np.asarray(work, float))
    m, n, dimension = len(times), model.n_nodes, model.dimension
    turning = (m, n) if dimension == 2 else (m, n, 3)
    wanted = {
        "displacement": (displacement, (m, n, dimension)), "rotation": (rotation, turning),
        "velocity": (velocity, (m, n, dimension)), "spin": (spin, turning), "work": (works, (m,)),
    }  # fmt: skip
    for name, (values, shape) in wanted.items():
        if np.shape(values) != shape:
            raise ModelError(
                f"{name} of shape {np.shape(values)} must be {shape}", owner=Owner("Identification"), key=name
            )
    energies = StateEnergies(model)
    rows = zip(times, *(np.asarray(wanted[name][0], float) for name in wanted), strict=True)
    return [Instant(energies.measured(float(t), *motion), float(done)) for t, *motion, done in rows]


def _maker(
    model: str | Path | ModelMaker, parameters: Sequence[str] | Mapping[str, float]
) -> tuple[dict[str, float], ModelMaker]:
    """Return start values by name, and what makes the model for values."""
    if callable(model):
        if not isinstance(parameters, Mapping):
            raise ModelError("a function that makes the model needs start values", key="parameters",
                             remedy='give them as {"name": value}')  # fmt: skip
        return {name: float(value) for name, value in parameters.items()}, model
    path = Path(model)
    data = parse_model_file(path)
    start: dict[str, float] = {}
    keys: set[tuple] = set()
    for name in parameters:
        found = locate(data, name, path)
        if found in keys:
            raise ModelError(f"{name} is named twice")
        keys.add(found)
        value = _value(data, found)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ModelError(
                f"{name} = {shown(value)} is no number",
                remedy="name a number that the model file gives, or a parameter",
            )
        start[name] = float(value)
    if not start:
        raise ModelError("nothing to identify", key="parameters", remedy='name parameters, as "section.rod.EI"')
    return start, lambda values: load_model(path, values)


def _value(data: Mapping[str, Any], keys: Sequence[str | int]) -> Any:
    """Return the value at a path of keys in the tables of a model file; None where it is left to its default."""
    at: Any = data
    for key in keys:
        try:
            at = at[key]
        except (KeyError, IndexError):
            return None
    return at["value"] if isinstance(at, Mapping) and "value" in at else at


def _columns(
    make: ModelMaker, start: Mapping[str, float], states: Sequence[StateRecord]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the energies (n,) [J] for the start values, and their derivatives (n, m) by the parameters.

    Raises:
        ModelError: the energy does not depend linearly on a parameter.
    """
    owner = Owner("Identification")

    def energies(values: Mapping[str, float]) -> np.ndarray:
        found = StateEnergies(make(values))
        return np.array([found.of(state) for state in states])

    at_start = energies(start)
    columns = np.zeros((len(states), len(start)))
    for j, (name, value) in enumerate(start.items()):
        step = _CHANGE * value if value else 1.0
        once, twice = (energies({**start, name: value + k * step}) for k in (1.0, 2.0))
        first, second = once - at_start, twice - once
        scale = max(float(np.abs(first).max()), 1e-12 * float(np.abs(at_start).max()))
        if np.abs(second - first).max() > _BENT * scale and np.abs(first).max() > 0.0:
            raise ModelError(
                f"the energy does not depend linearly on {name}", owner=owner, key=name, value=value,
                remedy="identify masses, moments of inertia, densities and stiffnesses (a section of shape "
                '"stiffness" has EA, EI, GJ, rhoA and rhoI)',
            )  # fmt: skip
        columns[:, j] = first / step
    return at_start, columns


def _solved(
    start: Mapping[str, float],
    W: np.ndarray,
    rest: np.ndarray,
    work: np.ndarray,
    change: np.ndarray,
    tolerance: float,
) -> Identification:
    """Solve W (X - X_start) = rest by least squares over the combinations that W determines."""
    names = list(start)
    scale = np.array([abs(value) or 1.0 for value in start.values()])
    norm = np.linalg.norm(W * scale, axis=0)
    unit = np.where(norm > 0.0, norm, 1.0)
    U, s, Vt = np.linalg.svd(W * scale / unit, full_matrices=False)
    rank = int(np.sum(s > tolerance * s[0])) if s[0] > 0.0 else 0
    y = Vt[:rank].T @ ((U[:, :rank].T @ rest) / s[:rank])
    left = rest - (W * scale / unit) @ y
    free = max(len(rest) - rank, 1)
    spread = np.sqrt(np.sum((Vt[:rank].T / s[:rank]) ** 2, axis=1)) * np.sqrt(left @ left / free) / unit * scale
    null = Vt[rank:]
    lost = (np.abs(null) > 1e-6).any(axis=0) if len(null) else np.zeros(len(names), bool)
    values = np.array([*start.values()]) + scale * y / unit
    return Identification(
        values=dict(zip(names, map(float, values), strict=True)),
        start=dict(start),
        deviations={n: float("nan") if lost[i] else float(spread[i]) for i, n in enumerate(names)},
        rank=rank,
        condition=float(s[0] / s[rank - 1]) if rank else float("inf"),
        singular_values=s / s[0] if s[0] > 0.0 else s,
        undetermined=[_combination(names, row / unit) for row in null],
        error=float(np.sqrt(np.mean(left**2))),
        change=float(np.sqrt(np.mean(np.maximum(np.abs(work), np.abs(change)) ** 2))),
        equations=len(rest),
    )


def _combination(names: Iterable[str], row: np.ndarray) -> dict[str, float]:
    """Return the entries of a combination that count, the largest one 1."""
    row = row / row[np.argmax(np.abs(row))]
    return {name: float(v) for name, v in zip(names, row, strict=True) if abs(v) > 1e-6}
