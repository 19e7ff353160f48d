"""A kind of step in one file, as a user or a package beside fem-mbs would add one: it weighs the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT
from fem_mbs.declarations.steps import PlannedStep, StepKind, StepOptions, register_step
from fem_mbs.records import entry
from fem_mbs.results.report import StepReport

AXES = ("x", "y", "z")


@dataclass(frozen=True, kw_only=True)
class Options(StepOptions):
    """Options of a weighing."""

    along: str = key(ANY_TEXT, '"x", "y" or "z": the direction of the motion', "x", choices=AXES)


@dataclass(frozen=True, kw_only=True)
class WeighReport(StepReport, type="weigh"):
    """The mass of the model in a direction."""

    mass: float = entry("that a motion along the axis accelerates", unit="kg")


class Weigh(StepKind):
    """The mass r^T M r of a rigid motion r."""

    name = "weigh"
    Options = Options
    Report = WeighReport
    quantity_names = ("weight",)
    positional = ("along", "name")
    text = "Add a weighing: the mass that a translation of the whole model accelerates."
    linear = stands = True
    tables = ("toy_step:weigh_tables",)

    def run(self, step: PlannedStep, context: Any, resumed: dict[str, Any] | None) -> WeighReport:
        linear = context.linear.at(context)
        system, axis = context.system, AXES.index(step.options.along)
        motion = np.zeros(system.n_dof)
        motion[system.offset[: len(system.nodes.x)] + axis] = 1.0
        motion = motion[: linear.mass_matrix.shape[0]]
        mass = float(motion @ (linear.mass_matrix @ motion))
        context.recorder.append({"time": np.array([context.time]), "mass": np.array([mass])})
        return WeighReport(name=step.name, mass=mass)

    def sentence(self, options: Any) -> str:
        return f"mass along {options.along}"

    def quantities(self, report: WeighReport) -> Iterator[tuple[str, Any, str]]:
        yield "weight", 9.81 * report.mass, "N"


def weigh_tables(step: Any) -> Iterator[Any]:
    """Yield the table of a weighing."""
    from fem_mbs.cli.report_stability import make_table

    table = make_table(f"{step.name}: mass", "kg")
    table.add_row("", f"{step.report.mass:.6g}")
    yield table


KIND = Weigh()
register_step(KIND)
