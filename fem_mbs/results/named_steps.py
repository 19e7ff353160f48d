"""Steps of results by their names, which several steps may share: steps without a name of their own have that of their
kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fem_mbs.errors import ResultsError

__all__ = ["step_named"]


def step_named(where: str, steps: Iterable[Any], name: str, first: int = 0) -> Any:
    """Return the step of a name, or None if no step has it.

    Args:
        where: place of the results, for the message.
        steps: those that may be meant.
        name: which is sought.
        first: number of the first step of a run, as the caller counts them.

    Raises:
        ResultsError: several steps have this name.
    """
    found = [step for step in steps if step.name == name]
    if len(found) > 1:
        numbers = [str(step.number + first) for step in found]
        raise ResultsError(
            f'{where}: {len(found)} steps are called "{name}"; give the number of one, counted from {first}: '
            f"{', '.join(numbers[:-1])} or {numbers[-1]}; or give each step a name of its own"
        )
    return found[0] if found else None
