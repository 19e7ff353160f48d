"""Cases of damaged inputs: model files, decks, meshes, parts, tables, results.  Each function makes a `guard.Case`."""

from __future__ import annotations

import random
import shutil
import tomllib
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from . import seeds
from .guard import Attack, Case, Wrong, judge
from .mutations import flipped, mutated_bytes, mutated_lines

__all__ = ["ATTACKS"]

_WITH_KERNELS = 120.0  # seconds of a case that may compile a kernel on a busy machine


def _quiet() -> None:
    warnings.simplefilter("ignore", RuntimeWarning)  # overflows of very large numbers


# --- model files -----------------------------------------------------------------------------------------------------
def mutated_model(text: str, rng: random.Random) -> bytes:
    """Return a model file of which one to three values, or one to four lines, have changed."""
    from test_modelfile_fuzz import NASTY, document, places

    if rng.random() < 0.3:
        return mutated_lines(text, rng).encode("utf-8", "surrogatepass")
    content = tomllib.loads(text)
    for _ in range(rng.randint(1, 3)):
        path = rng.choice([p for p in places(content) if p])
        parent: Any = content
        for key in path[:-1]:
            parent = parent[key]
        action = rng.randrange(8)
        if action < 4:
            parent[path[-1]] = deepcopy(rng.choice(NASTY))
        elif action == 4 and isinstance(parent[path[-1]], (int, float)):
            parent[path[-1]] *= rng.choice((-1, 10, 1e-3, 1e3, 1e-9, 1e9))
        elif action == 5:
            del parent[path[-1]]
        elif action == 6 and isinstance(parent, dict):
            parent[rng.choice(("x", "", "name", "kind", "n", "on", "\u00e9"))] = parent.pop(path[-1])
        elif isinstance(parent, list):
            parent.append(deepcopy(parent[path[-1]]))
    return document(content).encode("utf-8", "surrogatepass")


def _model_folder(folder: Path) -> list[str]:
    """Write the files that the model files refer to into a folder, and return the texts of the model files."""
    from test_modelfile import MINIMAL, write

    write(folder, MINIMAL)
    (folder / "load.csv").write_text("time,force\n0,0\n0.1,1\n0.3,2\n")
    return seeds.model_files()


def _checks(folder: Path) -> Case:
    from fem_mbs.cli.check import explain
    from fem_mbs.compiling.machine_code import compile_nothing
    from fem_mbs.contract import plain

    texts, path = _model_folder(folder), folder / "fuzz.toml"
    _quiet()

    def case(seed: int) -> str:
        rng = random.Random(seed)
        path.write_bytes(mutated_model(rng.choice(texts), rng))
        with plain(), compile_nothing():
            return judge(lambda: list(explain(path)), "fuzz.toml", str(folder))

    return case


class _Enough(Exception):
    """Ends a run after its time limit."""


def _runs(folder: Path) -> Case:
    from time import monotonic

    from fem_mbs import solve
    from fem_mbs.modelfile.read import load_model

    texts, path = _model_folder(folder), folder / "fuzz.toml"
    _quiet()

    def case(seed: int) -> str:
        rng = random.Random(seed)
        path.write_bytes(mutated_model(rng.choice(texts), rng))
        end = monotonic() + 1.0

        def look(progress: object) -> None:
            if monotonic() > end:
                raise _Enough

        def run() -> None:
            model = load_model(path)
            solution = solve(model, progress=look)
            for step in solution.steps:
                if "displacement" in step.frames and not np.isfinite(np.asarray(step.frames["displacement"])).all():
                    raise Wrong(f'step "{step.name}" has displacements that are no numbers')

        try:
            return judge(run)
        except _Enough:
            return "stopped after 1 s"

    return case


# --- decks -----------------------------------------------------------------------------------------------------------
def _decks(suffix: str) -> Callable[[Path], Case]:
    def make(folder: Path) -> Case:
        from fem_mbs.contract import plain
        from fem_mbs.decks.notes import Accept

        if suffix == ".inp":
            from test_deck_mutations import mutated

            from fem_mbs.decks.abaqus.run import convert
            from fem_mbs.meshes.abaqus.reader import read_deck as read
        else:
            from test_nastran_mutations import DECK
            from test_nastran_mutations import mutated as of_text

            from fem_mbs.decks.nastran.run import convert
            from fem_mbs.meshes.nastran.reader import read_bulk as read

            def mutated(seed: int) -> str:
                return of_text(DECK, random.Random(seed))

        others = seeds.decks(suffix, folder)
        path = folder / f"d{suffix}"
        _quiet()

        def case(seed: int) -> str:
            if seed % 2:
                rng = random.Random(seed)
                path.write_bytes(mutated_bytes(rng.choice(others), rng))
            else:
                path.write_text(mutated(seed // 2), encoding="utf-8")
            accept = Accept.ALLOW if seed % 3 else Accept.NORMAL
            with plain():
                return judge(lambda: convert(read(path), accept=accept), f"d{suffix}", *seeds.INCLUDED)

        return case

    return make


def _listings(folder: Path) -> Case:
    """Return the case for printed results and fields of other programs (.dat, .f06, .frd)."""
    from fem_mbs.meshes.abaqus.calculix_dat import read_dat
    from fem_mbs.meshes.formats.frd import read_frd
    from fem_mbs.meshes.nastran.f06 import read_f06

    readers: dict[str, Callable[[Path], object]] = {".dat": read_dat, ".f06": read_f06, ".frd": read_frd}
    contents = [(suffix, data) for suffix in readers for data in seeds.listings(suffix)]
    _quiet()

    def case(seed: int) -> str:
        rng = random.Random(seed)
        suffix, data = rng.choice(contents)
        path = folder / f"a{suffix}"
        path.write_bytes(mutated_bytes(data, rng))
        return judge(lambda: readers[suffix](path), path.name)

    return case


# --- meshes ----------------------------------------------------------------------------------------------------------
def sound(mesh: Any) -> None:
    """Raise Wrong if a mesh is invalid: numbers that are not finite, missing nodes, empty sets."""
    if not np.isfinite(mesh.points).all():
        raise Wrong("points that are no numbers")
    for block in mesh.blocks:
        if block.cells.size and (block.cells.min() < 0 or block.cells.max() >= len(mesh.points)):
            raise Wrong("a cell names a point that is not there")
    for name in mesh.set_names:
        if not len(mesh.nodes_of(name)):
            raise Wrong(f'the set "{name}" is empty')


def _meshes(hdf5: bool) -> Callable[[Path], Case]:
    def make(folder: Path) -> Case:
        from fem_mbs.meshes.formats.reader import read_mesh

        contents = [item for item in seeds.meshes(folder) if (item[0] in (".exo", ".med")) == hdf5]
        _quiet()

        def case(seed: int) -> str:
            rng = random.Random(seed)
            suffix, data = rng.choice(contents)
            path = folder / f"a{suffix}"
            path.write_bytes(
                flipped(data, rng) if hdf5 or suffix == ".ex2" or rng.random() < 0.1 else mutated_bytes(data, rng)
            )
            return judge(lambda: sound(read_mesh(path, rng.choice(("lines", "all")))), path.name, *seeds.INCLUDED)

        return case

    return make


def _shapes(folder: Path) -> Case:
    """Return the case for surfaces (STL, OBJ) and tables (CSV)."""
    from fem_mbs.errors import Owner
    from fem_mbs.functions.columns import read_columns
    from fem_mbs.meshes.formats.shapes import read_shape

    contents = seeds.shapes(folder)
    _quiet()

    def table(path: Path) -> None:
        if len({len(column) for column in read_columns(path, Owner("Function", "f")).values()}) > 1:
            raise Wrong("columns of different lengths")

    def shape(path: Path) -> None:
        points, faces = read_shape(path)
        if faces.min() < 0 or faces.max() >= len(points):
            raise Wrong("a face names a corner that is not there")

    def case(seed: int) -> str:
        rng = random.Random(seed)
        suffix, data = rng.choice(contents)
        path = folder / f"a{suffix}"
        path.write_bytes(mutated_bytes(data, rng))
        return judge(lambda: (table if suffix == ".csv" else shape)(path), path.name)

    return case


# --- reduced parts ---------------------------------------------------------------------------------------------------
def _same(a: Any, b: Any) -> bool:
    """Return whether two reduced parts have the same numbers."""
    keys = ("stiffness", "mass", "damping", "boundary", "rigid", "gravity", "origin", "frequencies")
    pairs = [(getattr(a, key), getattr(b, key)) for key in keys]
    pairs += [(a.loads.get(name), b.loads[name]) for name in b.loads]
    pairs += [(a.stiffening.get(name), b.stiffening[name]) for name in b.stiffening]
    if b.moments is not None and a.moments is not None:
        pairs.append((a.moments.matrix(), b.moments.matrix()))
    same = all((x is None) == (y is None) and (x is None or np.array_equal(x, y)) for x, y in pairs)
    return same and [i.name for i in a.interfaces] == [i.name for i in b.interfaces]


def _parts(own: bool) -> Callable[[Path], Case]:
    """Return the factory of cases for reduced parts.

    ``own``: in the formats of fem-mbs, which have checksums, so that damage must not change numbers; else in those of
    other programs.
    """

    def make(folder: Path) -> Case:
        from fem_mbs.parts.formats import read_part

        places = seeds.parts(folder, own)
        expected = {place: read_part(place) for place in places}
        _quiet()

        def case(seed: int) -> str:
            rng = random.Random(seed)
            place = rng.choice(places)
            path = rng.choice(sorted(place.iterdir())) if place.is_dir() else place
            whole = path.read_bytes()
            change = flipped if own and (path.suffix == ".h5" or rng.random() < 0.5) else mutated_bytes
            path.write_bytes(change(whole, rng))
            try:

                def read() -> None:
                    part = read_part(place)
                    if own and not _same(part, expected[place]):
                        raise Wrong("other numbers than were written, without an error")

                return judge(read, place.name)
            finally:
                path.write_bytes(whole)

        return case

    return make


# --- results ---------------------------------------------------------------------------------------------------------
def everything(folder: Path) -> list[str]:
    """Return all that a results folder holds, as texts."""
    from fem_mbs.results.reader import Results

    results = Results.open(folder)
    out = [repr(results.header), repr(results.summary), results.status]
    for step in results.steps:
        out += [repr(np.asarray(kind[name])) for kind in (step.series, step.frames) for name in kind]
    return out + [repr(results.restart(k)) for k in range(len(results.restart_points))]


def _results(folder: Path) -> Case:
    """Return the case for files of finished results and of killed runs: they are read with the same numbers, or
    refused."""
    from written_results import begin, go_on, whole_run

    whole_run(folder / "whole")
    begin(folder / "killed", flush_seconds=0.0)._unlock()
    writer = begin(folder / "killed", flush_seconds=0.0)
    go_on(writer, 0, 10)
    writer._unlock()
    expected = {name: everything(folder / name) for name in ("whole", "killed")}
    files = [p for name in ("whole", "killed") for p in sorted((folder / name).rglob("*")) if p.is_file()]
    files = [p for p in files if p.suffix == ".h5"]
    _quiet()

    def case(seed: int) -> str:
        rng = random.Random(seed)
        path = rng.choice([files[0]] * len(files) + files)
        name = path.relative_to(folder).parts[0]
        content = path.read_bytes()
        path.write_bytes(flipped(content, rng))
        try:

            def read() -> None:
                if everything(folder / name) != expected[name]:
                    raise Wrong("other numbers than were written, without an error")

            return judge(read, name)
        finally:
            path.write_bytes(content)

    return case


def _folders(folder: Path) -> Case:
    """Return the case for JSON and XDMF files of results folders: open, export and continue, or refuse."""
    from written_results import begin, go_on, whole_run

    from fem_mbs.results.reader import Results, export
    from fem_mbs.results.writer import ResultsWriter

    whole_run(folder / "whole")
    writer = begin(folder / "failed", flush_seconds=0.0)
    go_on(writer, 0, 18)
    writer.fail("no convergence")
    _quiet()

    def case(seed: int) -> str:
        rng = random.Random(seed)
        work = folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(folder / rng.choice(("whole", "failed")), work)
        path = rng.choice([p for p in sorted(work.rglob("*")) if p.suffix in (".json", ".xdmf")])
        path.write_bytes(mutated_bytes(path.read_bytes(), rng))
        ends = [
            judge(lambda: repr(Results.open(work).summary), "work"),
            judge(lambda: export(work), "work"),
            judge(lambda: ResultsWriter.resume(work, -1).fail("stopped"), "work"),
        ]
        return "refused" if "refused" in ends else "accepted"

    return case


ATTACKS = {
    "models": Attack("models", "values and lines of model files, through `check`", _checks),
    "runs": Attack("runs", "values and lines of model files, through `run`", _runs, seconds=300.0, silent=False),
    "abaqus": Attack("abaqus", "decks of Abaqus and CalculiX", _decks(".inp"), seconds=_WITH_KERNELS),
    "nastran": Attack("nastran", "decks of Nastran", _decks(".bdf"), seconds=_WITH_KERNELS),
    "listings": Attack("listings", "printed results and fields of other programs (.dat, .f06, .frd)", _listings),
    "meshes": Attack("meshes", "Gmsh, VTU, VTK, UNV, Medit, decks as meshes", _meshes(False)),
    "hdf5-meshes": Attack("hdf5-meshes", "Exodus and MED", _meshes(True), seconds=60.0),
    "shapes": Attack("shapes", "surfaces (STL, OBJ) and tables (CSV)", _shapes),
    "parts": Attack("parts", "reduced parts in own formats (HDF5, Matrix Market): the same numbers or an error",
    _parts(True)), "foreign-parts": Attack("foreign-parts", "reduced parts in formats of others (DMIG, SID)",
    _parts(False)), "results": Attack("results", "results, finished and killed: the same numbers or an error",
    _results), "folders": Attack("folders", "JSON and XDMF files of results folders: open, export, continue", _folders),
}  # fmt: skip
