"""Mark results folders: a file in the folder names the model and lists every file that fem-mbs has written.

    {"format": "fem-mbs folder", "version": 1, "kind": "results", "model": {"file": "../rod.toml", "title": "Rod"},
     "files": ["figures/ledger.png", "results.h5", ...], "kept": ["variant.toml"]}

Listed files are replaced and removed; other files in the folder are never touched. A folder with files but without a
mark, or with the mark of another model, is refused. ``file`` leads from the folder to the model file, so that both may
be moved together; a model that was built in Python is known by its title. A file is listed before it is written.
``kept`` are files of ours that a new run leaves (the model file of a sweep's variant).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Any

from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.results import store

__all__ = ["MARK", "Folder", "adopt", "claim", "examine", "take"]

MARK = "fem-mbs.json"
_FORMAT, _VERSION = "fem-mbs folder", 1
_PRODUCTS = "products"  # kind of what was made of results without a mark, those of an older version
_SHOWN = 3  # names in a message


@dataclass
class Folder:
    """The mark of a folder: ``kind`` of what is in it, path to the model file (None: built in Python) and its title,
    files that a new run removes, and files of ours that it keeps; paths are relative to the folder, with "/"."""

    directory: Path
    kind: str = "results"
    file: str | None = None
    title: str = ""
    files: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, directory: Path) -> Folder | None:
        """Return the mark of a folder, None if it has none.

        Raises:
            ResultsError: the mark is damaged, or of a newer version.
        """
        path = directory / MARK
        if not path.is_file():
            return None
        found = store.read_json(path)
        wrong = ResultsError(
            f'Results folder "{directory}": its {MARK} is no mark of fem-mbs, or a damaged one: give another folder'
        )
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise wrong
        if found.get("version") != _VERSION:
            raise ResultsError(
                f'Results folder "{directory}": its mark has version {found.get("version")}, this fem-mbs reads '
                f"{_VERSION}: update fem-mbs, or give another folder"
            )
        model, files, kept = found.get("model"), found.get("files"), found.get("kept", [])
        if not isinstance(model, dict) or not isinstance(files, list) or not isinstance(kept, list):
            raise wrong
        if not all(isinstance(name, str) for name in (*files, *kept)):
            raise wrong
        return cls(directory, str(found.get("kind")), model.get("file"), str(model.get("title")), set(files), set(kept))

    def save(self) -> None:
        """Write the mark, atomically."""
        store.write_json(
            self.directory / MARK,
            {
                "format": _FORMAT,
                "version": _VERSION,
                "kind": self.kind,
                "model": {"file": self.file, "title": self.title},
                "files": sorted(self.files),
                "kept": sorted(self.kept),
            },
        )

    def name_of(self, path: Path) -> str:
        """Return the path of a file relative to the folder, as the mark lists it."""
        return _relative(path, self.directory)

    def check(self, paths: Iterable[Path]) -> None:
        """Raise ResultsError if one of the paths exists and is not listed, hence is not ours."""
        known = self.files | self.kept
        strange = [path for path in paths if os.path.lexists(path) and self.name_of(path) not in known]
        if strange:
            raise ResultsError(
                f"{_listed(strange, None)} was not written by fem-mbs from these results: move it away, or give "
                "another name"
            )

    def take(self, paths: Iterable[Path], keep: bool = False) -> None:
        """List files that are about to be written; with ``keep`` as those that a new run leaves.

        Raises:
            ResultsError: one of them exists and is not listed.
        """
        paths = list(paths)
        self.check(paths)
        names = {self.name_of(path) for path in paths}
        target = self.kept if keep else self.files
        if not names <= target:
            target |= names
            self.save()

    def removable(self) -> list[Path]:
        """Return the listed files that exist in the folder."""
        inside = self.directory.resolve()
        found = []
        for name in sorted(self.files):
            path = self.directory / name
            # a list that leads out of the folder, by itself or by a link, removes nothing there
            if ".." not in Path(name).parts and path.parent.resolve().is_relative_to(inside) and path.is_file():
                found.append(path)
        return found


def _relative(path: Path, directory: Path) -> str:
    path = path.parent.resolve() / path.name
    return os.path.relpath(path, directory.resolve()).replace(os.sep, "/")


def _listed(paths: list[Path], directory: Path | None) -> str:
    names = [str(path if directory is None else path.relative_to(directory)) for path in paths]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(f'"{name}"' for name in names[:_SHOWN]) + more


def examine(
    directory: Path,
    source: str | Path | None,
    title: str,
    *,
    kind: str = "results",
    fixed: Iterable[str] = (),
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> Folder:
    """Return the mark that the folder of a model would get, including files of earlier runs; write nothing.

    Args:
        source: the model file, None for a model that was built in Python.
        fixed: names that the run is going to write in any case.
        inputs: files that the model reads, none of which may be in the list.
        overwrite: take the folder of another model, or one with files of others, too.

    Raises:
        ResultsError: the folder is that of another model, or holds files without a mark.
    """
    found = Folder.read(directory)
    if found is None or found.kind == _PRODUCTS:
        known = {MARK, MARK + store.PART} | ({name.split("/")[0] for name in found.files} if found else set())
        strange = [path for path in sorted(directory.iterdir()) if path.name not in known]
        if strange and not overwrite:
            raise store.folder_error(
                directory,
                f"holds {_listed(strange, directory)}, not written by fem-mbs (there is no mark of its run): give "
                "another folder with -o, or --overwrite to write beside them",
            )
    file = None if source is None else _relative(Path(source), directory)
    if found is not None and found.kind != _PRODUCTS and not overwrite:
        if (found.kind, found.file) != (kind, file) or (file is None and found.title != title):
            own, new = found.file or found.title, file or title
            raise store.folder_error(
                directory,
                f'holds {found.kind} of the model "{own}", not {kind} of "{new}": give another folder with -o, or '
                "--overwrite to replace them",
            )
    folder = found or Folder(directory)
    given = {path.resolve() for path in inputs}
    read = [path for path in folder.removable() if path.resolve() in given]
    if read:
        raise store.folder_error(
            directory,
            f"the model reads {_listed(read, directory)}, which a new run removes: give another folder with -o",
        )
    taken = [directory / name for name in fixed if name not in folder.files and os.path.lexists(directory / name)]
    if taken:
        raise store.folder_error(
            directory, f"holds {_listed(taken, directory)}, not written by fem-mbs: give another folder with -o"
        )
    folder.kind, folder.file, folder.title = kind, file, title
    folder.files.update(fixed)
    return folder


def claim(directory: Path, source: str | Path | None, title: str, **options: Any) -> Folder:
    """Assign a folder to a model and return its mark; remove nothing.  Arguments and errors as `examine`."""
    folder = examine(directory, source, title, **options)
    folder.save()
    return folder


def adopt(directory: Path, fixed: Iterable[str], present: Iterable[str]) -> Folder:
    """Return the mark of a folder whose result is continued; create it if the folder holds only the result.

    Args:
        fixed: names that the run is going to write in any case.
        present: those of them that the result consists of.

    Raises:
        ResultsError: there is no mark, and other files.
    """
    folder = Folder.read(directory)
    if folder is not None and folder.kind != _PRODUCTS:
        return folder
    known = {MARK, MARK + store.PART, *present} | ({name.split("/")[0] for name in folder.files} if folder else set())
    strange = [path for path in sorted(directory.iterdir()) if path.name not in known]
    if strange:
        raise store.folder_error(
            directory,
            f"holds {_listed(strange, directory)}, and no mark says that fem-mbs wrote it: move it away to go on with "
            "the results",
        )
    folder = folder or Folder(directory)
    folder.kind = "results"
    folder.files.update(fixed)
    folder.save()
    return folder


def take(directory: Path, paths: Iterable[str | Path]) -> None:
    """List files that are about to be derived from the results in a folder: figures, tables, animations.

    Raises:
        ResultsError: one of them exists and was not derived from these results.
    """
    files = [Path(path) for path in paths]
    folder = Folder.read(directory) or Folder(directory, kind=_PRODUCTS)
    folder.check(files)
    outside = all(folder.name_of(path).startswith("../") for path in files)
    if outside and not os.access(directory, os.W_OK):
        return  # results that may only be read can be drawn elsewhere; there is no place to remember it
    folder.take(files)
