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
