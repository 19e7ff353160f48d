"""Several parts reduced side by side, in processes of this machine or of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fem_mbs.analysis.reduction.reduce import reduce_part
from fem_mbs.cluster import TaskProgress, run_tasks
from fem_mbs.errors import FemMbsError, ModelError, Owner
from fem_mbs.parts.part import ReducedPart

__all__ = ["reduce_parts"]


def reduce_parts(
    parts: Mapping[str, Mapping[str, Any]],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[TaskProgress], None] | None = None,
) -> dict[str, ReducedPart]:
    """Reduce several parts at once; needs the extra ``[cluster]``.

    Args:
        parts: by name the arguments of `fem_mbs.reduce_part`: "model", "interfaces", and its options.
        workers: processes on this machine, by default one per processor and not more than parts.
        scheduler: address of a running dask cluster that is used instead.
        progress: called with a `fem_mbs.cluster.TaskProgress` whenever a part is done, and between.

    Returns:
        The parts by name, in the order given; each is what `fem_mbs.reduce_part` makes by itself.

    Raises:
        ModelError: arguments that do not belong to `reduce_part`; and as that, with the name of the part.
        InputError, AnalysisError: as `fem_mbs.run_tasks`.
    """
    for name, given in parts.items():
        for key in ("model", "interfaces"):
            if key not in given:
                raise ModelError(
                    f'"{key}" is missing', owner=Owner("Part", name), remedy="give the arguments of reduce_part"
                )
    found = run_tasks(_reduce, list(parts.items()), workers=workers, scheduler=scheduler, progress=progress)
    return dict(zip(parts, found, strict=True))


def _reduce(name: str, given: Mapping[str, Any]) -> ReducedPart:
    try:
        return reduce_part(**{"name": name, **given})
    except FemMbsError as error:
        raise type(error)(f'Part "{name}": {error}') from None
    except TypeError as error:
        raise ModelError(f"{error}", owner=Owner("Part", name)) from None
