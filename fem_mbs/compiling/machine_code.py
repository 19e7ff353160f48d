"""Machine code of kernels on disk: where it is kept, and what each kernel takes to compile.

Every kernel has a folder that is named by the digest of its sources (`fem_mbs.contract`).  Numba's index there tells
versions, signatures and processors apart.  The seconds that kernels have taken on this machine are kept beside the
folders; shipped ones stand for kernels that it has not compiled yet.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import stat
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

from fem_mbs.compiling import packed_code
from fem_mbs.errors import UncompiledError
from fem_mbs.progress import Compiling, tell

__all__ = ["KernelCache", "cache_root", "compile_nothing", "costs", "uncached_reason", "within_batch"]

log = logging.getLogger("fem_mbs")
_SHIPPED = Path(__file__).with_name("kernel_costs.json")
_COSTS = "seconds.json"


def wanted_root() -> Path:
    """Return the folder for machine code that the environment variables name, or the default one."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "fem-mbs"


def cache_root() -> Path:
    """Return the folder of all machine code, whether it exists or not.

    It is the wanted one.  If that is not writable, it is a private folder for temporary files, since otherwise each run
    would compile again.
    """
    return _writable_root(wanted_root())


@functools.cache
def _writable_root(wanted: Path) -> Path:
    if not _unwritable(wanted):
        return wanted
    own = _private_folder()
    return wanted if own is None or _unwritable(own) else own


def _private_folder() -> Path | None:
    """Return a folder for temporary files into which only this user can write; None if there is none.

    Others must not be able to write machine code there, since it would run under this user's name.
    """
    if not hasattr(os, "getuid"):
        return None
    path = Path(tempfile.gettempdir()) / f"fem-mbs-kernels-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return path if private else None


def _unwritable(root: Path) -> str:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"{root}: {error.strerror}"
    return "" if os.access(root, os.W_OK | os.X_OK) else f"{root}: no permission to write"


def uncached_reason() -> str:
    """Return why nothing can be kept in the cache, "" where it can."""
    return _unwritable(cache_root())


@functools.cache
def _warn_uncached(reason: str) -> None:
    """Say once in a process that every process will compile again."""
    log.warning(
        "compiled kernels cannot be kept (%s): every run compiles them again; name another folder by NUMBA_CACHE_DIR",
        reason,
    )


# --- what kernels take -----------------------------------------------------------------------------------------------
@functools.cache
def _shipped() -> dict[str, float]:
    try:
        return json.loads(_SHIPPED.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _measured() -> dict[str, float]:
    try:
        found = json.loads((cache_root() / _COSTS).read_text("utf-8"))
        return {str(name): float(seconds) for name, seconds in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def costs(names: list[str]) -> list[float]:
    """Return the processor seconds that kernels are expected to take: measured on this machine, else the shipped ones
    times the ratio of what was measured here to these, else those of a usual kernel."""
    here, shipped = _measured(), _shipped()
    ratios = [here[name] / shipped[name] for name in here if shipped.get(name, 0.0) > 0.0]
    ratio = statistics.median(ratios) if ratios else 1.0
    usual = statistics.median(shipped.values()) if shipped else 1.0
    return [here[name] if name in here else ratio * shipped.get(name, usual) for name in names]


def _record(name: str, seconds: float) -> None:
    """Keep what a kernel has taken; of two processes that write at once one entry may be lost."""
    path = cache_root() / _COSTS
    table = _measured()
    table[name] = round(seconds, 3)
    own = path.with_name(f"{_COSTS}.{os.getpid()}.{threading.get_ident()}")
    with contextlib.suppress(OSError):
        own.write_text(json.dumps(dict(sorted(table.items())), indent=0), "utf-8")
        os.replace(own, path)


# --- the cache -------------------------------------------------------------------------------------------------------
class _Place:
    """The folder of one kernel, as numba asks for it."""

    def __init__(self, folder: Path, line: int, source: str):
        self._folder, self._line = folder, line
        self._py_file = source  # numba names it where code cannot be cached

    def ensure_cache_path(self) -> None:
        """Make the folder."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return the stamp of the sources: the name of the folder is their digest."""
        return self._folder.name

    def get_disambiguator(self) -> str:
        """Return a key that distinguishes functions of one name."""
        return str(self._line)


class _Placed:
    """Locator of cached functions for numba: a fixed folder."""

    def __init__(self, place: _Place):
        self._place = place

    def from_function(self, function: Any, source: str) -> _Place:
        """Return the place."""
        return self._place


class _Index(IndexDataCacheFile):
    """Numba's files of one kernel."""

    def _load_index(self) -> dict:
        """Return the names of files by their keys; a damaged index, whatever it makes pickle raise, has none."""
        try:
            return super()._load_index()
        except Exception:
            return {}

    def has(self, key: Any) -> bool:
        """Return whether the code of a key is there."""
        name = self._load_index().get(key)
        return name is not None and os.path.isfile(self._data_path(name))


class KernelCache(FunctionCache):
    """The machine code of one kernel in a folder that is named by the digest of its sources.

    A folder that cannot be written to is read all the same.
    """

    def __init__(self, name: str, function: Any, digest: Callable[[], str]):
        """Keep what the place follows from: it is found when the kernel is asked for, as few of all are.

        Args:
            name: of the kernel.
            function: the kernel as Python.
            digest: finds the digest of its sources.
        """
        self.name = name
        self._find_digest = digest
        self._began: float | None = None
        self._name, self._py_func = repr(function), function  # numba's initialisation would look at the disk
        self.enable()

    @functools.cached_property
    def digest(self) -> str:
        """The digest of the sources."""
        return self._find_digest()

    @functools.cached_property
    def _impl(self) -> CompileResultCacheImpl:
        code = self._py_func.__code__
        place = _Place(cache_root() / self.digest, code.co_firstlineno, code.co_filename)

        class Kept(CompileResultCacheImpl):
            """Numba's way to keep code, at our place."""

            def __init__(self, function: Any):
                self._locator_classes: Any = [_Placed(place)]
                super().__init__(function)

        return Kept(self._py_func)

    @property
    def base(self) -> str:
        """The name that numba gives the files."""
        return self._impl.filename_base

    @functools.cached_property
    def _cache_path(self) -> str:
        return self._impl.locator.get_cache_path()

    @functools.cached_property
    def _cache_file(self) -> _Index:
        return _Index(self.cache_path, self.base, self.digest)

    @functools.cached_property
    def _shared(self) -> _Index | None:
        """Index of the wanted folder if that is read-only: its code is used, new code goes elsewhere."""
        wanted = wanted_root()
        return None if wanted == cache_root() else _Index(str(wanted / self.digest), self.base, self.digest)

    def has(self, signature: Any, context: Any) -> bool:
        """Return whether the code for a signature is on disk, in the cache or with the package."""
        key = self._index_key(_arguments(signature), context.codegen())
        here = self._cache_file.has(key) or (self._shared is not None and self._shared.has(key))
        return here or packed_code.has(self.digest, self.base)

    def stored(self, signature: Any, context: Any) -> Any:
        """Return the code for a signature as it lies in the cache."""
        return self._cache_file.load(self._index_key(_arguments(signature), context.codegen()))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code of a signature, or None; what is not there is about to be compiled."""
        try:
            # Without numba's refresh of the context: what is registered for compilation takes .2 s to enter.
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(_arguments(sig), target_context)
        except Exception as error:  # a damaged file, whatever it makes pickle or LLVM raise
            log.debug("cached code of %s: %s", self.name, error)
            found = None
        if found is None:
            found = self._from_shared(_arguments(sig), target_context)
        if found is None:
            found = self._packed(_arguments(sig), target_context)
        if found is None and _batch.refusing:
            raise UncompiledError("it needs kernels that are not compiled", remedy="call fem-mbs compile MODEL before")
        if found is None:
            self._began = time.process_time()
            if not _batch.running:
                tell(Compiling(0, 1, costs([self.name])[0], self.name))
        return found

    def _from_shared(self, arguments: tuple, context: Any) -> Any:
        """Return the code from the wanted folder, if that is read-only, or None."""
        if self._shared is None:
            return None
        try:
            code = self._shared.load(self._index_key(arguments, context.codegen()))
            return None if code is None else self._impl.rebuild(context, code)
        except Exception as error:  # a damaged file
            log.debug("shared code of %s: %s", self.name, error)
            return None

    def _packed(self, arguments: tuple, context: Any) -> Any:
        """Return the code that came with the package, or None."""
        try:
            code = packed_code.packed(self.digest, self.base, arguments)
            return None if code is None else self._impl.rebuild(context, code)
        except Exception as error:  # a damaged file
            log.debug("packed code of %s: %s", self.name, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code of a signature, and what it has taken."""
        began, self._began = self._began, None
        if not _batch.running:
            tell(None)
        reason = uncached_reason()
        if not reason:
            try:
                super().save_overload(_arguments(sig), data)
            except OSError as error:
                reason = f"{self.cache_path}: {error.strerror}"
        if reason:
            _warn_uncached(reason)
        elif began is not None:
            _record(self.name, time.process_time() - began)


class _Batch(threading.local):
    """State of a thread: ``running``: it compiles for a batch that reports its own progress; ``refusing``: it may not
    compile."""

    running = False
    refusing = False


_batch = _Batch()


@contextlib.contextmanager
def within_batch() -> Iterator[None]:
    """Leave the progress of compilations to the caller."""
    before, _batch.running = _batch.running, True
    try:
        yield
    finally:
        _batch.running = before


@contextlib.contextmanager
def compile_nothing() -> Iterator[None]:
    """Refuse compilations; kernels on disk are used.

    Raises:
        UncompiledError: whenever a kernel would have to be compiled.
    """
    before, _batch.refusing = _batch.refusing, True
    try:
        yield
    finally:
        _batch.refusing = before


def _arguments(signature: Any) -> tuple:
    """Return the types of arguments: one key for a kernel, however it was asked for."""
    return tuple(getattr(signature, "args", signature))
