"""Compile kernels in advance, and list them (`fem-mbs compile`)."""

from __future__ import annotations

import difflib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fem_mbs.cli.progress import compilations
from fem_mbs.compiling.in_advance import all_kernels, compile_kernels, missing_kernels, processes
from fem_mbs.compiling.machine_code import cache_root, costs, uncached_reason
from fem_mbs.contract import Kernel, kernel_of
from fem_mbs.decks.formats import is_deck, need_format
from fem_mbs.errors import DiskFullError, InputError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["compile_named", "list_named", "named_kernels"]


def named_kernels(names: list[str]) -> list[Kernel]:
    """Return the kernels of names: element types, modules or folders of elements, "solvers", model files, decks; of
    no names all.

    Raises:
        InputError: an unknown name, or a model that cannot be used.
    """
    every = all_kernels()
    if not names:
        return every
    found: dict[str, Kernel] = {}
    for name in names:
        chosen = _of_file(Path(name)) if Path(name).suffix else _of_name(name, every)
        found.update((kernel.name, kernel) for kernel in chosen)
    return list(found.values())


def _of_file(path: Path) -> list[Kernel]:
    from fem_mbs.analysis.kernels import model_kernels

    if is_deck(path):
        form = need_format(path)
        return model_kernels(form.convert(form.read(path)).model)
    from fem_mbs.modelfile.read import load_model, locate_error

    model = load_model(path)
    try:
        return model_kernels(model)
    except InputError as error:
        raise locate_error(path, error) from None


def _of_name(name: str, every: list[Kernel]) -> list[Kernel]:
    from fem_mbs.elements.registry import element_type, element_types

    if name in element_types():
        kind = element_type(name)
        return [k for k in map(kernel_of, (kind.force, kind.report)) if k is not None]
    groups: dict[str, list[Kernel]] = {}
    for kernel in every:
        for group in {*kernel.name.partition(":")[0].split(".")[1:]} - {"elements", "stepping"}:
            groups.setdefault(group, []).append(kernel)
    if name in groups:
        return groups[name]
    close = difflib.get_close_matches(name, [*groups, *element_types()], 3)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(sorted(groups))}"
    raise InputError(
        f'kernels of "{name}": no such element type, module or folder; {hint} Element types: fem-mbs list elements'
    )


def compile_named(names: list[str], count: int | None, console: Console, quiet: bool) -> None:
    """Compile what is missing of the kernels of names, and say what was done.

    Raises:
        InputError: an unknown name.
        DiskFullError: the cache cannot be written to.
    """
    began = time.monotonic()
    kernels = named_kernels(names)
    missing = missing_kernels(kernels)
    reason = uncached_reason()
    if missing and reason:
        raise DiskFullError(f"compiled kernels cannot be kept ({reason}); name another folder by NUMBA_CACHE_DIR")
    if missing:
        side = min(processes() if count is None else count, len(missing))
        with compilations(console, quiet):
            compile_kernels(missing, side)
    if quiet:
        return
    of = f"{len(kernels)} kernels" if len(kernels) != 1 else "1 kernel"
    if missing:
        text = f"{len(missing)} of {of} compiled in {time.monotonic() - began:.0f} s, kept in {cache_root()}"
    else:
        text = f"all there: {of} in {cache_root()}"
    console.print(text, markup=False, soft_wrap=True)


def list_named(names: list[str], console: Console) -> None:
    """Print the kernels of names, whether they are in the cache, and what each takes."""
    kernels = sorted(named_kernels(names), key=lambda kernel: kernel.name)
    missing = {kernel.name for kernel in missing_kernels(kernels)}
    for kernel, seconds in zip(kernels, costs([k.name for k in kernels]), strict=True):
        state = "missing" if kernel.name in missing else "there"
        name = kernel.name.removeprefix("fem_mbs.").removeprefix("elements.")
        console.print(f"{state:8}{seconds:6.1f} s  {name}", markup=False, soft_wrap=True)
    rest = sum(costs(sorted(missing)))
    tail = f", {rest:.0f} s of one processor" if missing else ""
    console.print(f"{len(kernels)} kernels, {len(missing)} missing{tail}; {cache_root()}", markup=False, soft_wrap=True)
