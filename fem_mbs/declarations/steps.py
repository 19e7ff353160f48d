"""Kinds of analysis steps, and their registry: names and the modules in which they are.

A kind is one module: the options of its steps (a `Declaration`), its checks, its run, and what other layers show of
it.  A module of a kind has an object called KIND; the registry loads it at its first use, so that lower layers (the
builder, the results) ask a kind for its properties and know no name of one.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from fem_mbs.declarations.declaration import Declaration, Key, arguments
from fem_mbs.declarations.docstrings import with_arguments
from fem_mbs.declarations.kinds import NAME
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext
    from fem_mbs.model.model import Model
    from fem_mbs.results.report import StepReport

__all__ = [
    "PlannedStep", "StepKind", "StepOptions", "function_of", "on_registration", "recorded_kind", "register_step",
    "step_kind", "step_kinds", "step_names",
]  # fmt: skip

#: Name of a kind and the module with its KIND, in the order of the reference; one line per kind.
_MODULES = {
    "transient": "fem_mbs.analysis.steps.transient",
    "inverse": "fem_mbs.analysis.steps.inverse",
    "inverse_path": "fem_mbs.analysis.steps.inverse_path",
    "static": "fem_mbs.analysis.steps.static",
    "steady_running": "fem_mbs.analysis.steps.steady_running",
    "linear_static": "fem_mbs.analysis.steps.linear_static",
    "linear_transient": "fem_mbs.analysis.steps.linear_transient",
    "modes": "fem_mbs.analysis.steps.modes",
    "cyclic_modes": "fem_mbs.analysis.steps.cyclic_modes",
    "buckling": "fem_mbs.analysis.steps.buckling",
    "campbell": "fem_mbs.analysis.steps.rotors.campbell",
    "unbalance": "fem_mbs.analysis.steps.rotors.unbalance",
    "complex_modes": "fem_mbs.analysis.steps.complex_modes",
    "linearise": "fem_mbs.analysis.steps.linearise",
    "stability_map": "fem_mbs.analysis.steps.stability_map",
    "harmonic": "fem_mbs.analysis.steps.harmonic",
}

_kinds: dict[str, StepKind] = {}
_hooks: list[Callable[[str], None]] = []


@dataclass(frozen=True, kw_only=True)
class StepOptions(Declaration):
    """Options of a step: those that must be given come first, then those of the class itself, then of its bases."""

    owner: ClassVar[str] = "Step"

    @classmethod
    def keys(cls) -> dict[str, Key]:
        found = super().keys()
        bases = [*reversed([*enumerate(cls.__mro__)])]
        place = {name: i for i, base in bases for name in vars(base).get("__annotations__", {})}
        return dict(sorted(found.items(), key=lambda item: (not item[1].required, place[item[0]])))


@dataclass(frozen=True)
class PlannedStep:
    """A step of a run: its number from 0, name, kind and options, and the keys that the user has given."""

    number: int
    name: str
    kind: StepKind
    options: Any
    given: frozenset[str]

    @property
    def owner(self) -> Owner:
        """Return the name of the step in messages."""
        return Owner("Step", self.name)

    @property
    def duration(self) -> float:
        """Return the time [s] that passes in the step."""
        return float(getattr(self.options, "duration", None) or 0.0)


class StepKind:
    """One kind of step; a subclass is all that there is to say of it, and its only object is KIND of its module.

    ``name`` is its type in a model file, and ``NAME_step`` the call of the builder; ``positional`` are the arguments
    of that call that need no keyword; ``text`` is its docstring, ``notes`` follow the options in the reference.
    ``tables``, ``sentences`` and ``figures`` name functions of higher layers, "module:function".
    """

    name: ClassVar[str]
    Options: ClassVar[type[StepOptions]]
    Report: ClassVar[type[StepReport]]
    positional: ClassVar[tuple[str, ...]] = ("name",)
    text: ClassVar[str]
    notes: ClassVar[str] = ""

    # properties of a kind
    noun: ClassVar[str] = "analysis"  # its name in sentences
    passes_time: ClassVar[bool] = False  # time steps, each of which is a state
    linear: ClassVar[bool] = False  # small motions about the state, which stays as it is
    equilibrium: ClassVar[bool] = False  # it finds one, so that loads or supports must hold the model
    stands: ClassVar[bool] = False  # whether steps behind it are the same without it
    motion: ClassVar[bool] = False  # whether its rows are instants of a motion
    states: ClassVar[bool] = False  # whether its rows are states of the model, over which sensors have statistics
    takes_events: ClassVar[bool] = False
    looks_at_limits: ClassVar[bool] = False  # whether forces are compared with limits of locks, joints and supports
    differentiated: ClassVar[bool] = False  # whether derivatives with respect to parameters follow its steps
    distributed: ClassVar[bool] = False  # whether several processes can share its matrices
    impacts: ClassVar[bool] = False  # whether blows can happen in it
    recorded: ClassVar[str] = ""  # type in the results, if it is not the name
    path: ClassVar[bool] = False  # rows may be points of a path over a load factor
    shapes: ClassVar[str] = ""  # its frames: "real" or "complex" shapes, or "vibration" of their own size
    axis: ClassVar[str] = "Parameter [-]"  # label of the abscissa of its rows and frames
    #: Names that `quantities` may yield: "#" a number from 1, "*" any text, "{column}" a column of a sensor, "{event}"
    #: an event of the model.
    quantity_names: ClassVar[tuple[str, ...]] = ()
    joint_forces: ClassVar[bool] = False  # whether files of its driving forces are written
    carries: ClassVar[tuple[str, ...]] = ()  # options of later steps that may name it: "preload", "start", "basis"
    branches: ClassVar[str] = (
        ""  # how series of eigenvalues are read: "along" the step, over the "speed" or a "parameter"
    )
    #: Functions of a step of the results that yield its tables, its sentences (marked up), and its figures.
    tables: ClassVar[tuple[str, ...]] = ()
    sentences: ClassVar[str] = ""
    figures: ClassVar[tuple[str, ...]] = ()

    def prepare(self, model: Model, given: dict[str, Any], owner: str) -> dict[str, Any]:
        """Return the options of a call of the builder as the step keeps them.

        Raises:
            ModelError: a value that the model cannot use.
        """
        return given

    def check(self, step: PlannedStep, context: RunContext) -> None:
        """Refuse options that make no sense, before anything is computed.

        Raises:
            ModelError: naming the step, the option and what it may be.
        """

    def check_distributed(self, step: PlannedStep, context: RunContext) -> None:
        """Refuse what has no form for several processes.

        Raises:
            ModelError: naming the step, and the option or the elements.
        """
        if not self.distributed:
            raise ModelError(
                f"a step of type {self.name} is not distributed", owner=step.owner, remedy="run it without --backend"
            )

    def fit_loads(self, step: PlannedStep, context: RunContext) -> None:
        """Make loads of the model those that this step, the first one that passes time, needs at its start.

        Raises:
            ModelError: the step cannot follow them.
        """

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        """Refuse what the compiled model cannot do; ``ahead`` is what is known of the start of the step.

        Raises:
            ModelError: as of `check`.
        """

    def moves(self, step: PlannedStep, context: RunContext) -> Any:
        """Return the motions (n_fun,) bool that the step brings in before a transient; False: none."""
        return False

    def begin(self, step: PlannedStep, context: RunContext) -> None:
        """Try the start of the first step of a run without making it.

        Raises:
            ModelError: the step cannot start.
        """

    def check_stability(self, step: PlannedStep, context: RunContext) -> None:
        """Refuse steps at the start of a run that are not stable there, as far as that can be told.

        Raises:
            ModelError: naming what must be smaller.
        """

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> StepReport:
        """Make the step, record its rows, and return its report; ``resumed`` is the restart point it goes on from.

        Raises:
            ModelError, AnalysisError: the step cannot be made, or not to its end.
        """
        raise NotImplementedError

    def info(self, options: Any) -> dict[str, Any]:
        """Return the information that readers of the results need before the first row."""
        return {"rule": "static", "mid_step": False, **({"linear": True} if self.linear else {})}

    def sentence(self, options: Any) -> str:
        """Return the step in words, for `fem-mbs check`."""
        return self.name.replace("_", " ")

    def quantities(self, report: Any) -> Iterator[tuple[str, Any, str]]:
        """Yield names, values and units of what only this kind has, for the table of a sweep; ``report`` is a
        ``Report`` of the kind.  `quantity_names` lists the names."""
        yield from ()

    def kernels(self, options: Any) -> tuple[str, ...]:
        """Return the sets of compiled solvers that a step calls, names of `fem_mbs.solvers.stepping.signatures`."""
        return ()

    def plan(self, number: int, name: str, given: dict[str, Any]) -> PlannedStep:
        """Return a step with its options checked by themselves.

        Raises:
            ModelError: an unknown option, a missing one, or a wrong value.
        """
        return PlannedStep(number, name, self, self.Options.read(given, Owner("Step", name)), frozenset(given))

    def signature(self) -> inspect.Signature:
        """Return the signature of the builder's call."""
        keys = self.Options.keys()
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [*self.positional, *(k for k in ("name", *keys) if k not in self.positional)]
        found = [own]
        for name in names:
            default = self.name.replace("_", " ") if name == "name" else keys[name].default
            kind = own.kind if name in self.positional else inspect.Parameter.KEYWORD_ONLY
            missing = default is MISSING
            found.append(inspect.Parameter(name, kind, default=inspect.Parameter.empty if missing else default))
        positional = [p for p in found if p.kind is own.kind]
        first = [p for p in positional if p.default is inspect.Parameter.empty]
        if positional[: len(first)] != first:  # Python wants those without a default in front
            found = [p.replace(default=None) if p in first and p is not own else p for p in found]
        return inspect.Signature(found)

    def docstring(self) -> str:
        """Return the docstring of the builder's call: what the step does, and its options."""
        name = Key(NAME, "of the step, in messages and results", self.name.replace("_", " "))
        return with_arguments(self.text, {"name": name, **self.Options.keys()})

    def arguments(self, given: tuple[Any, ...], options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the name and the options of a call of the builder.

        Raises:
            ModelError: an unknown argument, one that is missing or given twice, or one without its keyword.
        """
        _, *others = self.signature().parameters.values()
        found = arguments(inspect.Signature(others), self.Options.owner, given, options)
        return str(found.pop("name", self.name.replace("_", " "))), found


class _Unknown(StepKind):
    """Kind of step for results whose type is not in the registry."""

    name = ""
    Options = StepOptions
    text = ""


_UNKNOWN = _Unknown()


def register_step(kind: StepKind) -> None:
    """Add a kind of step: the builder, model files, `fem-mbs check` and reports know it from then on.

    Raises:
        ModelError: there is another kind of the same name.
    """
    if kind.name in _MODULES or _kinds.get(kind.name, kind) is not kind:
        raise ModelError(f'there is a kind "{kind.name}" already', owner=Owner("Step"), remedy="choose another name")
    _kinds[kind.name] = kind
    for hook in _hooks:
        hook(kind.name)


def on_registration(hook: Callable[[str], None]) -> None:
    """Call ``hook`` with the name of every kind that there is, and of those that are registered later."""
    _hooks.append(hook)
    for name in step_names():
        hook(name)


def step_names() -> list[str]:
    """Return the names of all kinds, none of which is loaded for that."""
    return list(dict.fromkeys([*_MODULES, *_kinds]))


def step_kinds() -> dict[str, StepKind]:
    """Return all kinds by their names."""
    return {name: step_kind(name) for name in step_names()}


def step_kind(name: str) -> StepKind:
    """Return a kind of step.

    Raises:
        ModelError: there is none of this name.
    """
    if name not in _kinds:
        if name not in _MODULES:
            known = step_names()
            close = difflib.get_close_matches(name, known, n=1)
            words = ", ".join(f'"{kind}"' for kind in known)
            raise ModelError(
                f'type = "{name}" must be one of {words}', key="type", value=name,
                remedy=f'did you mean "{close[0]}"?' if close else "",
            )  # fmt: skip
        _kinds[name] = import_module(_MODULES[name]).KIND
    return _kinds[name]


def recorded_kind(type: str) -> StepKind:
    """Return the kind that wrote results of a type; a kind without properties for a type that no kind has."""
    return step_kind(type) if type in _MODULES or type in _kinds else _UNKNOWN


def function_of(entry: str) -> Callable[..., Any]:
    """Return a function that is named as "module:function"."""
    module, _, name = entry.partition(":")
    return getattr(import_module(module), name)
