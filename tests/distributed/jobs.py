"""Models, and what all ranks compute of them; under mpiexec `python jobs.py FILE` writes it for the tests."""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from solid_meshes import grid

from fem_mbs import Model, reduce_part, run
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.solvers.stepping.layout import State

SIZE = (0.4, 0.1, 0.08)
LOCAL = "local"


def bar(cells=(10, 4, 3), free: bool = False) -> Model:
    """A bar of hexahedra in two halves that equations tie; clamped, with a damped spring at its tip and forces."""
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
        if step.name.endswith("static") and "stress [Pa]" in step.frames:
            for key in ("displacement", "stress [Pa]", *(key for key in step.frames if key.endswith("energy [J]"))):
                out[f"{step.name} {key}"] = np.asarray(step.frames[key]).ravel().tolist()
        for key in ("response/tip", "response imaginary/tip", "ledger", "sensor/tip"):
            if key in step.series:
                out[f"{step.name} {key}"] = np.asarray(step.series[key]).ravel().tolist()
    return out


def _run(m: Model, backend: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        if backend == LOCAL:
            return numbers_of(run(m, folder))
        from fem_mbs.analysis.distributed.run import run_distributed

        results = run_distributed(m, folder, backend)
        return {} if results is None else numbers_of(results)


REDUCTIONS = {
    "craig_bampton": {"modes": 6},
    "cutoff": {"method": "craig_bampton", "cutoff": 12000.0},
    "rubin": {"method": "rubin", "modes": 5},
    "herting": {"method": "herting", "modes": 5},
    "guyan": {"method": "guyan"},
}


def parts(backend: str) -> dict[str, Any]:
    """Return frequencies with free interfaces, reduced matrices, moments and stresses of a bar by several methods."""
    out = {}
    for name, options in REDUCTIONS.items():
        wanted = {"root": "bar:ROOT", "tip": {"on": "bar:TIP", "kind": "average"}}
        part = reduce_part(bar(free=True), wanted, backend=backend, recovery="stress", **options)
        out[f"{name} frequencies"] = part.frequencies.tolist()
        out[f"{name} stiffness"] = np.linalg.eigvalsh(part.stiffness).tolist()
        out[f"{name} mass"] = np.linalg.eigvalsh(part.mass).tolist()
        out[f"{name} accuracy"] = [row["frequency_hz"] for row in part.info["accuracy"]]
        m, b = part.moments, part.boundary.shape[0]  # modes have any sign
        out[f"{name} moments"] = [m.mass, *m.first, *m.second.ravel(), *np.linalg.eigvalsh(m.quadratic[2, 2])]
        out[f"{name} stresses"] = part.recovery.stress[..., :b].ravel().tolist()
    return out


def everything(backend: str) -> dict[str, Any]:
    """Return all numbers of a backend; on ranks that write nothing, an empty dictionary."""
    low, high = mixed(backend, 0.2), mixed(backend, 1.0)
    return {**_run(steps(bar()), backend), **parts(backend), **frame(backend), **low, **high}


def frame(backend: str) -> dict[str, Any]:
    """Return numbers of beams with rotations, joined by a weld with multipliers, and a mass."""
    m = Model(3)
    m.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.section("bar", "rectangle", width=0.06, height=0.08)
    m.line("leg", [0.0, 0.0, 0.0], [0.0, 0.0, 4.0], 30)
    m.line("arm", [0.0, 0.02, 4.0], [3.0, 0.02, 4.0], 25)
    m.beams("leg", on="leg", section="bar", material="steel")
    m.beams("arm", on="arm", section="bar", material="steel")
    m.fix("leg:start")
    m.joint("knee", "weld", "leg:end", "arm:start", point=[0.0, 0.01, 4.0])
    m.point_mass("load", "arm:end", mass=3.0)
    m.force("down", "arm:end", [0.0, 0.0, -10.0])
    m.linear_static_step(loads=["down"], name="frame static")
    m.modes_step(6, name="frame modes")
    m.buckling_step(2, loads=["down"], name="frame buckling")
    return _run(m, backend)


def mixed(backend: str, height: float) -> dict[str, Any]:
    """Return numbers of a bar, damped in one half and heated in the other, and of a heated shell under pressure at a
    height [m]: two processes take one half each of a bar and a low shell, and one of a bar and a high shell."""
    x, c = grid("hexahedron", (8, 2, 2), SIZE)
    far = x[c].mean(axis=1)[:, 0] > SIZE[0] / 2
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    halves = {"near": [(0, np.flatnonzero(~far))], "far": [(0, np.flatnonzero(far))]}
    root, tip = np.flatnonzero(x[:, 0] == 0.0), np.flatnonzero(np.isclose(x[:, 0], SIZE[0]))
    m.mesh("bar", Mesh(x, [CellBlock("hexahedron", c)], {"ROOT": root, "TIP": tip[:1]}, halves))
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0, expansion=1.2e-5)
    m.solids("near", "bar:near", "steel")
    m.solids("far", "bar:far", "steel", kinematics="linear", damping=2e-5, mass_damping=3.0)
    m.temperature("warm", "near", 40.0)
    m.fix("bar:ROOT")
    y, q = grid("quad", (6, 2), (0.3, 0.1))
    m.mesh("strip", Mesh(np.column_stack((y, np.full(len(y), height))), [CellBlock("quad", q)], {
        "ROOT": np.flatnonzero(y[:, 0] == 0.0), "TIP": np.flatnonzero(np.isclose(y[:, 0], 0.3))[:1],
    }, {"ALL": [(0, np.arange(len(q)))]}))  # fmt: skip
    m.shells("shell", "strip:ALL", "steel", 0.004)
    m.temperature("hot", "shell", 30.0, gradient=1e3)
    m.pressure("wind", "strip:ALL", 50.0)
    m.fix("strip:ROOT")
    m.force("pull", "bar:TIP", [0.0, 50.0, -100.0])
    m.sensor("tip", "displacement", on="bar:TIP")
    name = f"mixed at {height:g}"
    m.linear_static_step(name=f"{name} static")
    m.modes_step(6, name=f"{name} modes", preload=f"{name} static")
    m.harmonic_step([50.0, 300.0], loads=["wind", "pull"], name=f"{name} direct", method="direct")
    return _run(m, backend)


def shares() -> dict[str, Any]:
    """Return the elements and the entries of the stiffness that each rank has, and those of all."""
    from fem_mbs.analysis.distributed.backends import backend_named
    from fem_mbs.analysis.end_state import EndState
    from fem_mbs.solvers.distributed.ranks import ranks

    model = bar()
    end = EndState.at_start(model.compile(stepping=False, sharing=backend_named("petsc").sharing))
    solids = [b for b in end.compiled.system.blocks if b.type.name.startswith("solid_")]
    linear = backend_named("petsc").make(end.compiled, end.state, 0.0, end.loading)
    K = linear.stiffness
    return {
        "own elements": ranks().gathered([[b.size, len(b.par), len(b.dof)] for b in solids]),
        "elements": [b.count for b in solids],
        "own entries": ranks().gathered(int(K.own.nnz)), "own rows": K.layout.counts.tolist(),
        "entries": int(K.gathered().nnz), "unknowns": K.shape[0],
        "unmade": [b.later for b in model.building.blocks if b.type.name.startswith("solid_")],
    }  # fmt: skip


def whole_arrays(*roots: Any, lengths: set[int]) -> dict[str, int]:
    """Return the bytes of arrays, by their shapes, that have an axis of one of some lengths, are reached from objects
    and stand in the memory of this process alone; workspaces of states, which linear steps do not use, do not count."""
    seen, found, stack = set(), {}, list(roots)
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, (type, ModuleType)):
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            base = thing
            while isinstance(base.base, np.ndarray):
                base = base.base
            if id(base) not in found and base.base is None and lengths & set(thing.shape):
                found[id(base)] = (f"{base.shape} {base.dtype}", base.nbytes)
        elif isinstance(thing, State):
            stack.append(thing.Q)
        elif isinstance(thing, FunctionType):
            stack += [cell.cell_contents for cell in thing.__closure__ or ()]
        else:
            stack += gc.get_referents(thing)
    told: dict[str, int] = {}
    for name, size in found.values():
        told[name] = told.get(name, 0) + size
    return told


def private() -> dict[str, Any]:
    """Return the arrays with a row per node or unknown that each rank has of its own once a system has been solved."""
    from fem_mbs.analysis.distributed.backends import backend_named
    from fem_mbs.analysis.distributed.together import meshes_in_common
    from fem_mbs.analysis.end_state import EndState
    from fem_mbs.solvers.distributed.ranks import ranks

    m = Model(3)
    with meshes_in_common(True):
        m.mesh("box", box={"size": SIZE, "n": (12, 4, 3)})
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.solids("part", "box", "steel", element="standard")
    m.fix("box:left")
    m.force("pull", "box:right", [100.0, 0.0, 0.0])
    end = EndState.at_start(m.compile(False, backend_named("petsc").sharing))
    linear = backend_named("petsc").make(end.compiled, end.state, 0.0, end.loading)
    K, M, system = linear.stiffness, linear.mass, end.compiled.system
    dofs = [b.dof[:, : b.type.node_dofs].ravel() for b in linear.own_elements()]
    touched = np.setdiff1d(np.concatenate(dofs), [system.dummy])
    free = np.isin(touched, linear.elimination.free).sum()
    seen = [touched.size, free, linear.matrices.dofs.size - 1, K.own.shape[0], M.own.shape[0]]
    q = linear.equilibrium.solve(K @ np.ones(K.shape[0]), "test")
    linear.release()
    ghosts = K.own.shape[1] - K.own.shape[0]
    nodes = len(system.nodes.x)
    lengths = {system.n_dof, linear.first, K.shape[0], nodes, nodes + 1}
    own = whole_arrays(end, linear, K, M, q, lengths=lengths)
    return {
        "private": ranks().gathered(own), "nodes": nodes, "touched": ranks().gathered([int(n) for n in seen]),
        "ghosts": ranks().gathered(ghosts), "solution": float(np.abs(q - 1.0).max()),
    }  # fmt: skip


def common() -> dict[str, Any]:
    """Return how many ranks have made a mesh, the mesh that each has, and the errors of one that cannot be made."""
    from fem_mbs.analysis.distributed.together import meshes_in_common
    from fem_mbs.errors import MeshError
    from fem_mbs.solvers.distributed.ranks import ranks

    made = []

    def make() -> Mesh:
        made.append(1)
        x, c = grid("hexahedron", (3, 2, 1), SIZE)
        return Mesh(x, [CellBlock("hexahedron", c)], {"ROOT": np.arange(2)})

    def fail() -> Mesh:
        raise MeshError("it is damaged")

    mesh = ranks().made_once(make)
    try:
        ranks().made_once(fail)
    except MeshError as error:
        told = str(error)
    m = Model(3)
    with meshes_in_common(True):
        m.mesh("box", box={"size": SIZE, "n": (3, 2, 1)}, scale=2.0)
    own = [mesh.points.sum(), mesh.blocks[0].cells.sum(), mesh.node_sets["ROOT"].sum(), m.positions.max()]
    written = [a.flags.writeable or not a.flags.aligned for a in (mesh.points, mesh.blocks[0].cells)]
    return {
        "makers": sum(ranks().gathered(len(made))), "meshes": ranks().gathered([float(v) for v in own]),
        "mesh errors": ranks().gathered(told), "writeable": ranks().gathered(any(written)),
    }  # fmt: skip


def refusals() -> dict[str, Any]:
    """Return what a reduction that is not distributed says on each rank."""
    from fem_mbs.errors import ModelError
    from fem_mbs.solvers.distributed.ranks import ranks

    try:
        reduce_part(bar(free=True), {"root": "bar:ROOT"}, stiffening="free", backend="petsc")
    except ModelError as error:
        return {"refused stiffening": ranks().gathered(str(error))}
    return {"refused stiffening": []}


def algebra(title: str) -> dict[str, Any]:
    """Return largest differences of operations of a distributed matrix from those of scipy."""
    from scipy.sparse import csr_matrix, random

    from fem_mbs.solvers.distributed.matrix import DistributedMatrix
    from fem_mbs.solvers.distributed.ranks import ranks

    n, rng = 60, np.random.default_rng(3)
    A, B = (random(n, n, density=0.1, random_state=rng).tocsr() for _ in range(2))

    def share(whole: csr_matrix) -> DistributedMatrix:
        """Deal the entries out, so that each rank has some of the rows of others."""
        mine = np.arange(whole.nnz) % ranks().size == ranks().rank
        row = np.repeat(np.arange(n), np.diff(whole.indptr))
        return DistributedMatrix(csr_matrix((whole.data[mine], (row[mine], whole.indices[mine])), shape=whole.shape))

    a, b = share(A), share(B)
    x, z = rng.standard_normal((n, 3)), rng.standard_normal(n) + 1j * rng.standard_normal(n)
    some, d = np.array([3, 5, 8, 40]), rng.standard_normal(n)
    pairs = {
        "product": (a @ x, A @ x), "sizes": (abs(a) @ x, abs(A) @ x), "complex product": (a @ z, A @ z),
        "largest": (abs(a).max(), abs(A).max()), "sum": ((a + 2.0 * b - a.T) @ x, (A + 2.0 * B - A.T) @ x),
        "with one of all ranks": ((a - B) @ x, (A - B) @ x), "reverse": ((B - a) @ x, (B - A) @ x),
        "left": (x.T @ a, x.T @ A), "rows": (a[some] @ x, A[some] @ x), "diagonal": (a.diagonal(), A.diagonal()),
        "columns": (a[:, some].toarray(), A[:, some].toarray()),
        "scaled": (a.scaled(d) @ x, d[:, None] * (A @ (d[:, None] * x))),
        "whole": (a.gathered().toarray(), A.toarray()), "negative": ((-a / 2.0) @ x, -0.5 * (A @ x)),
        "with an array": (a[:, some] + x[:, [0, 1, 2, 0]], A[:, some].toarray() + x[:, [0, 1, 2, 0]]),
    }  # fmt: skip
    return {f"{title} {name}": float(np.abs(np.asarray(p) - np.asarray(q)).max()) for name, (p, q) in pairs.items()}


if __name__ == "__main__":
    from fem_mbs.model.parts import cells
    from fem_mbs.solvers.distributed import ranks as processes
    from fem_mbs.solvers.distributed.ranks import ranks

    # as of large models: parameters are made of a rank's own elements alone, vectors stand once per machine
    cells.MANY = processes.COMMON_FROM = 0
    numbers = {**everything("petsc"), **shares(), **private(), **algebra("algebra"), **common(), **refusals()}
    ranks().divide(ranks().comm.Split(ranks().rank))  # as if each had a machine
    numbers |= algebra("algebra apart")
    if ranks().rank == 0:
        Path(sys.argv[1]).write_text(json.dumps(numbers))
