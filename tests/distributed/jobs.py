"""Models and what all ranks compute of them; `python jobs.py FILE` under mpiexec writes it, for the tests beside this."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from solid_meshes import grid

from fem_mbs import Model, reduce_part, run
from fem_mbs.meshes.mesh import CellBlock, Mesh

SIZE = (0.4, 0.1, 0.08)
LOCAL = "local"


def bar(cells=(12, 4, 4), free: bool = False) -> Model:
    """A bar of hexahedra in two halves that equations tie, clamped, with a rigid coupling, a beam, a spring with damping
    and a lumped mass at its tip, under forces and weight."""
    x, c = grid("hexahedron", cells, SIZE)
    tip, root = np.flatnonzero(np.isclose(x[:, 0], SIZE[0])), np.flatnonzero(x[:, 0] == 0.0)
    middle = np.flatnonzero(np.isclose(x[:, 0], SIZE[0] / 2))
    new, number = len(x) + np.arange(middle.size), np.arange(len(x))
    number[middle] = new
    far = x[c].mean(axis=1)[:, 0] > SIZE[0] / 2
    c = np.where(far[:, None], number[c], c)
    x = np.vstack((x, x[middle]))
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.mesh("bar", Mesh(x, [CellBlock("hexahedron", c)], {"ROOT": root, "TIP": tip, "CORNER": tip[:1]}))
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.solids("part", "bar", "steel", element="standard")
    k = 3 * len(middle)
    nodes = np.repeat(np.column_stack((new, middle)), 3, axis=0).ravel()
    m.equations("cut", np.repeat(np.arange(k), 2), nodes, np.tile(np.repeat((0, 1, 2), 2), len(middle)), [1, -1] * k)
    if free:
        return m
    m.fix("bar:ROOT")
    m.force("across", "bar:TIP", [0.0, 30.0, -100.0])
    m.force("along", "bar:TIP", [-1000.0, 0.0, 0.0])
    m.node("wall", [SIZE[0] + 0.1, 0.0, 0.0])
    m.fix("wall")
    m.spring("damper", "bar:CORNER", "wall", stiffness=1e5, damping=50.0)
    m.sensor("tip", "displacement", on="bar:CORNER")
    return m


def steps(m: Model) -> Model:
    """Add all steps that are distributed."""
    m.linear_static_step(loads=["across", "gravity"], name="static")
    m.modes_step(8, name="modes", check="inertia")
    m.modes_step(name="band", band=(0.0, 3000.0))
    m.modes_step(4, name="near", near=2000.0)
    m.modes_step(5, name="loaded", preload="static")
    m.buckling_step(3, loads=["along"], check=True, name="buckling")
    m.harmonic_step([100.0, 400.0], loads=["across"], name="direct", method="direct")
    m.harmonic_step([100.0, 400.0], loads=["across"], name="structural", method="direct", structural=0.02)
    m.harmonic_step([100.0, 400.0], loads=["across"], name="modal", method="modal", damping=0.01, cutoff=4000.0)
    return m


def numbers_of(results: Any) -> dict[str, Any]:
    """Return what is compared of results: frequencies, factors, displacements, responses."""
    out = {}
    for step in results.steps:
        summary = step.summary
        for key in ("frequencies_hz", "load_factors", "largest_displacement", "strain_energy", "rigid_body_modes"):
            if key in summary:
                out[f"{step.name} {key}"] = summary[key]
        if "reactions" in summary:
            out[f"{step.name} reactions"] = summary["reactions"]["force"]
        if step.name == "static":
            out["static displacement"] = np.asarray(step.frames["displacement"]).ravel().tolist()
            out["static stress"] = np.asarray(step.frames["stress [Pa]"]).ravel().tolist()
        for key in ("response/tip", "response imaginary/tip"):
            if key in step.series:
                out[f"{step.name} {key}"] = np.asarray(step.series[key]).ravel().tolist()
    return out


REDUCTIONS = {
    "craig_bampton": {"modes": 6},
    "cutoff": {"method": "craig_bampton", "cutoff": 12000.0},
    "rubin": {"method": "rubin", "modes": 5},
    "herting": {"method": "herting", "modes": 5},
    "guyan": {"method": "guyan"},
}


def parts(backend: str) -> dict[str, Any]:
    """Return frequencies with free interfaces, reduced matrices and shapes of a bar by several methods."""
    out = {}
    for name, options in REDUCTIONS.items():
        wanted = {"root": "bar:ROOT", "tip": {"on": "bar:TIP", "kind": "average"}}
        part = reduce_part(bar(free=True), wanted, backend=backend, **options)
        out[f"{name} frequencies"] = part.frequencies.tolist()
        out[f"{name} stiffness"] = np.linalg.eigvalsh(part.stiffness).tolist()
        out[f"{name} mass"] = np.linalg.eigvalsh(part.mass).tolist()
        out[f"{name} accuracy"] = [row["frequency_hz"] for row in part.info["accuracy"]]
    return out


def everything(backend: str) -> dict[str, Any]:
    """Return all numbers of a backend; on ranks that write nothing, an empty dictionary."""
    with tempfile.TemporaryDirectory() as folder:
        if backend == LOCAL:
            found = numbers_of(run(steps(bar()), folder))
        else:
            from fem_mbs.analysis.distributed.run import run_distributed

            results = run_distributed(steps(bar()), folder, backend)
            found = {} if results is None else numbers_of(results)
    return {**found, **parts(backend)}


if __name__ == "__main__":
    from fem_mbs.solvers.distributed.ranks import ranks

    numbers = everything("petsc")
    if ranks().rank == 0:
        Path(sys.argv[1]).write_text(json.dumps(numbers))
