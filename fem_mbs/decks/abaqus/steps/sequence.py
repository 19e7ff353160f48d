"""Context of the procedures of a deck: the step to make, and the state that earlier steps have left."""

from __future__ import annotations

from dataclasses import field

from fem_mbs.decks.abaqus.loads import Plan
from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.declarations.steps import StepKind
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import DeckStep, OutputRequest

__all__ = ["Sequence", "StepPlan", "StepToMake"]


@dataclass(frozen=True)
class StepPlan:
    """A step of the model that stands for one of the deck: its index there, its name, kind, total time at its end, and
    the prints in force."""

    index: int
    name: str
    kind: StepKind
    time: float
    prints: tuple[OutputRequest, ...]
    start: float = 0.0


@dataclass
class Sequence:
    """The steps that are ``made``, and what the general ones among them leave.

    ``preload`` names the last one if it is a linear static one, ``last`` if it is any linear one; else they are empty.
    ``moved``: a nonlinear one has changed the state of the model.
    """

    made: list[StepPlan] = field(default_factory=list)
    preload: str = ""
    last: str = ""
    moved: bool = False

    @property
    def swung(self) -> bool:
        """Whether the last one is a linear transient, which leaves the state of the model where it was."""
        return bool(self.last) and not self.preload

    def after_statics(self, name: str) -> None:
        """Enter a linear static step as the last general one."""
        self.preload = self.last = name

    def after_transient(self, name: str) -> None:
        """Enter a linear transient as the last general step."""
        self.preload, self.last = "", name

    def after_motion(self) -> None:
        """Enter a nonlinear step as the last general one."""
        self.preload, self.last, self.moved = "", "", True


@dataclass(frozen=True)
class StepToMake:
    """A step of the deck, its ``index`` there, and the ``name`` of the step of the model.

    ``prints`` are in force in it, ``supports`` hold in it alone, equations of the names ``without`` are removed.
    ``before`` holds the steps made before it.
    """

    conv: Conversion
    plan: Plan
    index: int
    name: str
    prints: tuple[OutputRequest, ...]
    without: list[str]
    before: Sequence

    @property
    def step(self) -> DeckStep:
        """The step of the deck."""
        return self.conv.deck.steps[self.index]

    @property
    def supports(self) -> list[str]:
        """Names of supports that hold in this step alone."""
        return self.conv.step_supports.get(self.index, [])

    @property
    def loads(self) -> list[str]:
        """Names of loads that act in this step alone."""
        return self.plan.own[self.index]

    @property
    def about(self) -> str:
        """Name of the linear static step about whose end a perturbation is computed; empty: none."""
        return self.before.preload if self.step.perturbation else ""

    def need_loads(self, kind: str) -> list[str]:
        """Return the names of the loads of the step.

        Raises:
            ModelError: it has none.
        """
        if not self.loads:
            raise ModelError(f"the {kind} has no loads", place=self.step.where, remedy="give them in the step")
        return self.loads
