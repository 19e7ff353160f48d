"""Which kernels a run needs, known from its model and steps, so that they are compiled at once and side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fem_mbs.compiling.in_advance import compile_kernels
from fem_mbs.contract import Kernel, is_plain, kernel_of, plain
from fem_mbs.declarations.steps import PlannedStep, step_kind
from fem_mbs.solvers.stepping.pattern import is_small
from fem_mbs.solvers.stepping.signatures import SETS
from fem_mbs.system.blocks import Block

if TYPE_CHECKING:
    from fem_mbs.model.model import Model

__all__ = ["model_kernels", "needed", "prepare"]


def needed(blocks: Iterable[Block], plan: Sequence[PlannedStep]) -> list[Kernel]:
    """Return the kernels of a run: those of its elements, and of the solvers that its steps name."""
    blocks = list(blocks)
    sets = ["matrices", *(name for step in plan for name in step.kind.kernels(step.options))]
    if not is_small(block.dof.shape for block in blocks):
        sets.append("patterns")
    functions = [f for block in blocks for f in (block.type.force, block.type.report)]
    functions += [f for name in sets for f in SETS[name]]
    found = (kernel_of(f) for f in functions)
    return [kernel for kernel in found if kernel is not None]


def prepare(blocks: Iterable[Block], plan: Sequence[PlannedStep]) -> None:
    """Compile what a run needs and is missing, unless kernels run as Python."""
    if not is_plain():
        compile_kernels(needed(blocks, plan))


def model_kernels(model: Model) -> list[Kernel]:
    """Return the kernels that the steps of a model need; without steps those of its matrices.

    Raises:
        ModelError: the model or a step makes no sense.
    """
    plan = [step_kind(step.kind).plan(i, step.name, step.options) for i, step in enumerate(model.steps)]
    with plain():
        compiled = model.compile(stepping=any(not step.kind.linear for step in plan))
    return needed(compiled.system.blocks, plan)
