"""`fem-mbs new` for meshes of solid, plane and shell cells."""

from __future__ import annotations

import meshio
import numpy as np
import pytest
from meshio import gmsh
from test_mesh_cells import with_boundary

import fem_mbs
from fem_mbs.meshes.cells import DIMENSION
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.starter import write_starter


@pytest.mark.parametrize(
    ("kind", "sets"),
    [(k, True) for k in ("tetra10", "hexahedron", "wedge15", "triangle6", "quad", "shell triangle", "shell quad8")]
    + [(k, False) for k in ("hexahedron", "quad", "shell quad")],
)
def test_new_for_cells(tmp_path, kind, sets):
    """The model file of solid, plane and shell meshes runs as it is: held at a set, loaded at another, or free."""
    shell = kind.startswith("shell")
    kind = kind.removeprefix("shell ")
    X, blocks, groups, _ = with_boundary(kind)
    X = np.column_stack((X, np.zeros(len(X)))) if X.shape[1] == 2 else X
    if shell:
        X = X[:, [0, 2, 1]]
    path = tmp_path / "part.msh"
    data = {"gmsh:physical": groups, "gmsh:geometrical": groups}
    dim = DIMENSION[kind]
    names = {"body": np.array([1, dim]), "load here": np.array([2, dim - 1])}
    if not sets:
        names, blocks, data = {}, blocks[:1], {key: value[:1] for key, value in data.items()}
    gmsh.write(path, meshio.Mesh(X, blocks, cell_data=data, field_data=names), "2.2", binary=False)
    write_starter(path, tmp_path / "new.toml")
    text = (tmp_path / "new.toml").read_text(encoding="utf-8")
    model = load_model(tmp_path / "new.toml")
    solution = fem_mbs.solve(model)
    assert [s["type"] for s in solution.summary["steps"]] == (["static", "modes"] if sets else ["modes"])
    assert ("\n[[shell]]\n" in text) == shell
    frequencies = np.array(solution.summary["steps"][-1]["frequencies_hz"])
    assert (frequencies[-1] > 0.0).all()
    assert solution.summary["steps"][-1]["rigid_body_modes"] == (0 if sets else 3 if dim == 2 and not shell else 6)


PLACES = [(i, j, k) for k in (0, 1) for j in (0, 1) for i in range(4)]
GRIDS = "".join(f"GRID,{n},,{i}.,{j}.,{k}.\n" for n, (i, j, k) in enumerate(PLACES, 1))
BLOCK = "CHEXA,1,1,1,2,6,5,9,10,\n,14,13\nSPC1,1,123,1,5,9,13\n"


@pytest.mark.parametrize(
    ("cells", "free"),
    [
        ("CQUAD4,2,2,2,3,7,6\nCQUAD4,3,2,10,11,15,14\nCQUAD4,4,2,3,11,15,7\n", 0),  # a box around an end
        ("CQUAD4,2,2,10,11,15,14\nCQUAD4,3,2,11,12,16,15\n", 1),  # a flap
        ("CQUAD4,2,2,3,4,8,7\n", 6),  # beside it
    ],
)
def test_new_for_solids_with_shells(tmp_path, cells, free):
    """Shells of a set that is no face of the solids: held by them, on a hinge, or free."""
    path = tmp_path / "part.bdf"
    path.write_text(f"{GRIDS}{BLOCK}{cells}")
    write_starter(path, tmp_path / "new.toml")
    text = (tmp_path / "new.toml").read_text(encoding="utf-8")
    assert "\n[[solid]]\n" in text and '\n[[shell]]\nname = "PID_2 shell"' in text
    solution = fem_mbs.solve(load_model(tmp_path / "new.toml"))
    assert [s["type"] for s in solution.summary["steps"]] == (["modes"] if free else ["static", "modes"])
    frequencies = np.array(solution.summary["steps"][-1]["frequencies_hz"])
    assert (frequencies < 1e-3 * frequencies[-1]).sum() == free


def test_new_holds_no_bodies_that_lie_apart(tmp_path):
    """Two bricks, one of which is held: modes only, six of them at rest."""
    path = tmp_path / "part.bdf"
    path.write_text(f"{GRIDS}{BLOCK}CHEXA,2,1,3,4,8,7,11,12,\n,16,15\n")
    write_starter(path, tmp_path / "new.toml")
    solution = fem_mbs.solve(load_model(tmp_path / "new.toml"))
    (modes,) = solution.summary["steps"]
    frequencies = np.array(modes["frequencies_hz"])
    assert (frequencies < 1e-3 * frequencies[-1]).sum() == 6 and len(frequencies) == 12
