"""Steady responses of a rotor to unbalances over its speed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_turning
from fem_mbs.analysis.steps.common.options import PERIODIC, Speeds, any_frame_key
from fem_mbs.analysis.steps.common.values import number, spread, valued
from fem_mbs.analysis.steps.common.words import counted
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import shown
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.declarations.texts import tables
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.model.model import Model
    from fem_mbs.model.parts.rotors import Unbalance

__all__ = ["KIND", "Options", "UnbalanceReport", "UnbalanceResponse", "WhirlAmplitude"]


_ELLIPSE = 0.01  # of the first harmonic: what others may move and an orbit still counts as an ellipse


@dataclass(frozen=True, kw_only=True)
class WhirlAmplitude(Record):
    """The response of a node in one direction."""

    at: str = entry("node")
    direction: str = entry("major: half the longest axis of the orbit", enum=["x", "y", "z", "major"])
    amplitude: list[float] = entry("by speed", unit="m")
    phase: list[float] | None = entry(
        "a of amplitude cos(speed t + a), the rotor's first direction across its axis lying there at t = 0", unit="rad"
    )


@dataclass(frozen=True, kw_only=True)
class UnbalanceReport(StepReport, type="unbalance"):
    """Steady response of a rotor to unbalances over its speed."""

    rotor: str = entry()
    frame: str = entry(
        "in which it was computed; results are seen from outside", enum=["fixed", "rotating", "multi-blade", "periodic"]
    )
    speeds: list[float] = entry(unit="rad/s")
    response: list[WhirlAmplitude] = entry()
    seconds: float = entry("wall time", unit="s")


@dataclass(frozen=True, kw_only=True)
class Options(Speeds):
    """Options of an unbalance step."""

    unbalances: Any = key(
        valued(
            "list of tables",
            "a list of tables with at, amount and phase",
            lambda v: isinstance(v, list),
            tables(names=("at",)),
        ),
        "list of {at, amount, phase}: a place, mass times distance from the axis, and angle about the axis, from y for "
        "an axis along x, z for y, x for z; all act together",
        unit="kg m and rad",
    )
    at: Any = key(
        valued("place or list of places", "a place or a list of places", lambda v: isinstance(v, (str, list, int))),
        "places whose displacements are wanted; none: those of the unbalances",
        None,
    )
    frame: str = any_frame_key()


class UnbalanceResponse(StepKind):
    """Steady displacements under forces that turn with the rotor."""

    name = "unbalance"
    Options = Options
    Report = UnbalanceReport
    noun = "response to unbalance"
    quantity_names = ("*.amplitude_max", "*.speed_of_max")
    positional = ("rotor", "speeds", "unbalances", "name")
    text = (
        "Add a steady response to unbalances over the speed, about the steady rotation next to the state that the\n"
        "steps before have left."
    )
    linear = stands = True
    tables = ("fem_mbs.cli.report_stability:unbalance_tables",)
    figures = ("fem_mbs.plot.figures:unbalance_figures",)

    def prepare(self, model: Model, given: dict[str, Any], owner: str) -> dict[str, Any]:
        found = dict(given)
        if "unbalances" in given:
            _unbalances(model, given["unbalances"], owner)
        if "speeds" in given:
            found["speeds"] = spread(given["speeds"], owner, "speeds", "rad/s", 100_000)
        return found

    def check(self, step: PlannedStep, context: RunContext) -> None:
        check_turning(step, context)
        at = step.options.at
        if at is None:
            return
        if at == []:
            raise ModelError("at names no place", owner=step.owner, remedy="leave it out, or name some")
        for place in at if isinstance(at, list) else [at]:
            context.model.nodes_of(place, step.owner)

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> UnbalanceReport:
        from functools import partial
        from time import perf_counter

        from fem_mbs.analysis.rotors.campbell import Spinning, spinning_at
        from fem_mbs.analysis.rotors.rotating import constant_frames, rotation_of
        from fem_mbs.analysis.rotors.unbalance import steady_response
        from fem_mbs.analysis.stability.rotation import outside_tables

        began = perf_counter()
        model, owner, options = context.model, step.owner, step.options
        speeds = np.asarray(options.speeds, float)
        unbalances = _unbalances(model, options.unbalances, owner)
        at = [u.node for u in unbalances] if options.at is None else options.at
        nodes = np.array(list(dict.fromkeys(model.nodes_of(at, owner).tolist())))
        rotor, periodic = context.model.rotors[options.rotor], options.frame == PERIODIC
        make = Spinning if periodic else partial(spinning_at, speeds=speeds)
        spinning = make(context.end, rotor, options.frame, blades=True)
        if periodic:
            constant_frames(spinning.steady(float(speeds[np.abs(speeds).argmax()])))  # refuses what does not turn
        found = steady_response(
            spinning, speeds, unbalances, nodes, owner, lambda done: context.tell(step, done, len(speeds))
        )
        X = found.displacements
        response = []
        rows = [(d, X[:, :, i]) for i, d in enumerate("xyz"[: model.dimension])] + [("major", found.major())]
        for k, node in enumerate(nodes):
            for direction, values in rows:
                if direction != "major" and not np.abs(values[:, k]).max() > 1e-9 * np.abs(X[:, k]).max():
                    continue  # along the axis nothing moves
                response.append(WhirlAmplitude(
                    at=model.node_name(int(node)), direction=direction,
                    amplitude=np.abs(values[:, k]).tolist(),
                    phase=None if direction == "major" else np.angle(values[:, k]).tolist(),
                ))  # fmt: skip
        context.recorder.append(
            {"time": speeds, "displacement": np.abs(X), "phase": np.angle(X), "major": found.major()}, None
        )
        return UnbalanceReport(
            name=step.name, rotor=options.rotor, frame=PERIODIC if periodic else spinning.settled or "fixed",
            speeds=speeds.tolist(), response=response, seconds=round(perf_counter() - began, 4),
            warnings=[
                *outside_tables(context.system, rotation_of(context.compiled, rotor, 0.0), speeds),
                *_orbits(found.others),
            ],
        )  # fmt: skip

    def sentence(self, options: Any) -> str:
        return f'response to unbalance of rotor "{options.rotor}" at {counted(len(options.speeds), "speed")}'

    def quantities(self, report: UnbalanceReport) -> Iterator[tuple[str, Any, str]]:
        for found in report.response or []:
            amplitude = np.asarray(found.amplitude, float)
            if len(amplitude):
                largest = int(np.argmax(amplitude))
                where = f"{found.at}.{found.direction}"
                yield f"{where}.amplitude_max", amplitude[largest], "m"
                yield f"{where}.speed_of_max", report.speeds[largest], "rad/s"


KIND = UnbalanceResponse()


def _orbits(others: tuple[float, float]) -> list[str]:
    """Return a sentence where orbits are no ellipses."""
    share, speed = others
    if share <= _ELLIPSE:
        return []
    return [
        f"other harmonics of the turn move by up to {100.0 * share:.2g} % of the first, at {speed:g} "
        f"{unit_of('rad/s')}; amplitudes and phases are those of the first"
    ]


def _unbalances(model: Model, given: Any, owner: str) -> list[Unbalance]:
    """Return the unbalances of a step at nodes of the model.

    Raises:
        ModelError: naming the unbalance and what it may be.
    """
    from fem_mbs.model.parts.rotors import Unbalance

    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(u, dict) for u in given):
        raise ModelError(
            f"unbalances = {shown(given)} must be a list of tables with at, amount and phase",
            owner=owner,
            key="unbalances",
            value=given,
        )
    found = []
    for k, u in enumerate(given, 1):
        here = f"{owner}: unbalances {k}"
        if not {"at", "amount"} <= set(u) <= {"at", "amount", "phase"}:
            raise ModelError(f"{here} has the keys {', '.join(u) or 'none'}; it takes at, amount and phase")
        node = model.node_of(u["at"], here) if isinstance(u["at"], str) else model.nodes_of(u["at"], here)
        if np.size(node) != 1:
            raise ModelError(f"at = {shown(u['at'])} must be one node", owner=here, key="at", value=u["at"])
        amount, phase = u["amount"], u.get("phase", 0.0)
        if not _real(amount) or amount < 0.0:
            raise ModelError(
                f"amount = {shown(amount)} must be a finite number of at least 0",
                owner=here,
                key="amount",
                value=amount,
            )
        if not _real(phase):
            raise ModelError(f"phase = {shown(phase)} must be a finite number", owner=here, key="phase", value=phase)
        found.append(Unbalance(int(np.ravel(node)[0]), float(amount), float(phase)))
    return found


def _real(value: Any) -> bool:
    return number(value.item() if isinstance(value, np.generic) else value)
