"""Plane and solid cells of meshes: kinds, facets, sets, and the files they come from."""

from __future__ import annotations

import meshio
import numpy as np
import pytest
from meshio import gmsh
from places import DATA
from solid_meshes import grid

from fem_mbs import Model
from fem_mbs.elements.solids import shapes
from fem_mbs.errors import MeshError, ModelError
from fem_mbs.meshes.cells import CELL_KINDS, DIMENSION, FACETS, facets_of, match_facets
from fem_mbs.meshes.formats.gmsh_index import CELL_TYPES
from fem_mbs.meshes.formats.meshio_formats import settled
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.mesh import CellBlock, Mesh

meshio._mesh.topological_dimension.setdefault("wedge15", 3)  # as the reader does: meshio 5.3 forgot it
SOLIDS = [k for k in CELL_KINDS if DIMENSION[k] == 3]
PLANES = [k for k in CELL_KINDS if DIMENSION[k] == 2]


def facets_at(kind, cells, chosen):
    """Facets whose corner nodes all are chosen: (cells, local numbers)."""
    found = [(np.flatnonzero(chosen[cells[:, list(f)]].all(axis=1)), i) for i, (_, f) in enumerate(FACETS[kind])]
    return np.concatenate([r for r, _ in found]), np.concatenate([np.full(len(r), i) for r, i in found])


def box(kind, counts=(2, 2, 2), size=(2.0, 1.0, 1.0)):
    dim = DIMENSION[kind]
    X, cells = grid(kind, counts[:dim], size[:dim], distort=0.1)
    return np.column_stack([X, np.zeros((len(X), 3 - dim))]), cells


def area(facets, X):
    """Area of faces, length of edges."""
    total = 0.0
    for kind, nodes in facets:
        name = {"line2": "line"}.get(kind, kind)
        p, w = shapes.exact_rule(name)
        J = shapes.jacobians(name, X[nodes], p)
        total += (np.sqrt(np.linalg.det(np.swapaxes(J, -1, -2) @ J)) @ w).sum()
    return total


# --- tables ----------------------------------------------------------------------------------------------------------
def test_facets_are_those_of_the_elements():
    ours = {k: tuple((f.replace("line2", "line"), n) for f, n in v) for k, v in FACETS.items()}
    assert ours == shapes.FACES
    assert {k: shapes.n_nodes(k) for k in FACETS} == {k: n for k, n in CELL_KINDS.items() if k in FACETS}


@pytest.mark.parametrize("kind", FACETS)
def test_facets_are_found_by_their_nodes(kind):
    """Every facet of every cell, its corners in any order, is found; a facet inside the body by one of its cells."""
    X, cells = box(kind)
    rng = np.random.default_rng(1)
    for i, (facet, local) in enumerate(FACETS[kind]):
        corners = {"line2": 2, "line3": 2, "triangle": 3, "triangle6": 3, "quad": 4, "quad8": 4}[facet]
        wanted = rng.permuted(cells[:, local[:corners]], axis=1)
        block, cell, number = match_facets([(7, kind, cells)], wanted)
        assert (block == 7).all()
        for row in range(len(cells)):
            found = cells[cell[row]][list(FACETS[kind][number[row]][1][:corners])]
            assert set(found) == set(wanted[row])
        by_kind = list(facets_of(kind, cells, np.full(len(cells), i)))
        assert [k for k, *_ in by_kind] == [facet]
        assert np.array_equal(by_kind[0][2], cells[:, local])
    assert (match_facets([(0, kind, cells)], np.array([[0, len(X) + 3]]))[0] == -1).all()


# --- Mesh ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", FACETS)
def test_facet_sets_of_a_mesh(kind):
    X, cells = box(kind)
    end = X[:, 0] > 2.0 - 1e-9
    found = facets_at(kind, cells, end)
    mesh = Mesh(X, [CellBlock(kind, cells)], facet_sets={"end": [(0, *found), (0, *found)]})
    assert len(mesh.facets("end")[0][1]) == len(found[0])  # named twice, there once
    assert np.array_equal(mesh.nodes_of("end"), np.flatnonzero(end))
    assert area(mesh.facet_nodes("end"), mesh.points) == pytest.approx(1.0, rel=1e-12)
    assert mesh.read["facet sets"] == 1
    assert mesh.set_names == ["end"]
    assert len(mesh.lines()) == 0
    assert np.array_equal(mesh.nodes_of("all"), np.arange(len(X)))
    assert len(mesh.cells_of(None, DIMENSION[kind])[0][1]) == len(cells)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"facet_sets": {"f": [(1, [0], [0])]}}, 'facet set "f" refers to block 1, but there are 1 blocks'),
        ({"facet_sets": {"f": [(0, [0], [6])]}}, 'facet set "f" has facets of hexahedron 6 to 6, outside 0 to 5'),
        ({"facet_sets": {"f": [(0, [8], [0])]}}, 'facet set "f" has cells 8 to 8, outside 0 to 7'),
        ({"facet_sets": {"f": [(0, [1, 2], [0])]}}, "as many cells as facets"),
        ({"facet_sets": {"f": [(0, [0.5], [0])]}}, "all whole numbers"),
    ],
)
def test_bad_facet_sets(changes, message):
    X, cells = box("hexahedron")
    with pytest.raises(MeshError, match=message):
        Mesh(X, [CellBlock("hexahedron", cells)], **changes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.facets("body"), 'set "body" holds no faces of solids .*; facet sets: end'),
        (lambda m: m.facets("ent"), 'no set "ent".*Did you mean "end"'),
        (lambda m: m.cells_of("body", 1), 'set "body" holds hexahedron cells and no line cells; name a line group'),
        (lambda m: m.cells_of("end", 3), 'set "end" holds facets and no solid cells; name a volume group'),
    ],
)
def test_questions_refused(call, message):
    X, cells = box("hexahedron")
    found = facets_at("hexahedron", cells, X[:, 0] > 2.0 - 1e-9)
    mesh = Mesh(
        X, [CellBlock("hexahedron", cells)], cell_sets={"body": [(0, [0, 1])]}, facet_sets={"end": [(0, *found)]}
    )
    with pytest.raises(MeshError, match=message):
        call(mesh)


# --- files -----------------------------------------------------------------------------------------------------------
def with_boundary(kind):
    """A mesh for meshio: the body, the facets at x = 2 as cells of their own, and group numbers."""
    X, cells = box(kind)
    at, number = facets_at(kind, cells, X[:, 0] > 2.0 - 1e-9)
    blocks, groups = [(kind, cells)], [np.full(len(cells), 1)]
    for facet, _, nodes in facets_of(kind, cells[at], number):
        blocks.append(({"line2": "line"}.get(facet, facet), nodes))
        groups.append(np.full(len(nodes), 2))
    return X, blocks, groups, len(at)


def write_41(path, X, blocks, dim):
    """MSH 4.1 with an entity per block; physical groups "body" and "load here"."""
    types = {name: number for number, (name, *_) in CELL_TYPES.items()}
    box = "0 0 0 2 1 1"
    low = [i for i in range(len(blocks)) if i]
    counts = [0, 0, 0, 0]
    counts[dim], counts[dim - 1] = 1, len(low)
    lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", "$PhysicalNames", "2", f'{dim - 1} 2 "load here"']
    lines += [f'{dim} 1 "body"', "$EndPhysicalNames", "$Entities", " ".join(map(str, counts))]
    lines += [f"{i} {box} 1 2 0" for i in low] + [f"1 {box} 1 1 0", "$EndEntities"]
    n = len(X)
    lines += ["$Nodes", f"1 {n} 1 {n}", f"{dim} 1 0 {n}", *[str(i + 1) for i in range(n)]]
    lines += [" ".join(f"{v:.17g}" for v in x) for x in X] + ["$EndNodes", "$Elements"]
    total = sum(len(c) for _, c in blocks)
    lines += [f"{len(blocks)} {total} 1 {total}"]
    at = 1
    for i, (kind, cells) in enumerate(blocks):
        lines.append(f"{dim - 1 if i else dim} {i or 1} {types[kind]} {len(cells)}")
        for row in gmsh_order(kind, cells) + 1:
            lines.append(" ".join(map(str, (at, *row))))
            at += 1
    path.write_text("\n".join([*lines, "$EndElements", ""]))


# Mid-side nodes of Gmsh's elements as in its manual, against ours
_GMSH = {
    "tetra10": (0, 1, 2, 3, 4, 5, 6, 7, 9, 8),
    "hexahedron20": (0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 9, 17, 10, 18, 19, 12, 15, 13, 14),
    "wedge15": (0, 1, 2, 3, 4, 5, 6, 8, 12, 7, 13, 14, 9, 11, 10),
}


def gmsh_order(kind, cells):
    return cells[:, _GMSH.get(kind, range(cells.shape[1]))]


@pytest.mark.parametrize("kind", SOLIDS + PLANES)
@pytest.mark.parametrize("version", ["4.1", "2.2"])
def test_gmsh_groups(tmp_path, kind, version):
    X, blocks, groups, n = with_boundary(kind)
    dim = DIMENSION[kind]
    if version == "2.2":
        data = {"gmsh:physical": groups, "gmsh:geometrical": groups}
        names = {"body": np.array([1, dim]), "load here": np.array([2, dim - 1])}
        gmsh.write(tmp_path / "part.msh", meshio.Mesh(X, blocks, cell_data=data, field_data=names), "2.2", binary=False)
    else:
        write_41(tmp_path / "part.msh", X, blocks, dim)
    mesh = read_mesh(tmp_path / "part.msh", "all")
    body = next(b for b in mesh.blocks if b.kind == kind)
    assert shapes.volumes(kind, mesh.points[body.cells][..., :dim]).sum() == pytest.approx(2.0, rel=1e-12)
    assert np.allclose(mesh.points[body.cells], X[blocks[0][1]])  # the order of the nodes is ours
    assert mesh.set_names == ["load here", "body"]
    assert sum(len(c) for _, c, _ in mesh.facets("load here")) == n
    assert area(mesh.facet_nodes("load here"), mesh.points) == pytest.approx(1.0, rel=1e-12)
    assert np.allclose(mesh.points[mesh.nodes_of("load here"), 0], 2.0)
    assert not mesh.skipped


def test_only_lines_as_ever(tmp_path):
    """Without asking, the reader keeps line cells and drops the rest, as models of beams expect."""
    X, blocks, groups, _ = with_boundary("triangle")
    raw = meshio.Mesh(X, blocks, cell_data={"gmsh:physical": groups, "gmsh:geometrical": groups})
    gmsh.write(tmp_path / "part.msh", raw, "2.2", binary=False)
    mesh = read_mesh(tmp_path / "part.msh")
    assert mesh.read.keys() == {"points", "line2", "node sets", "cell sets"}
    assert np.allclose(mesh.points[:, 0], 2.0)
    assert any("triangle" in s for s in mesh.skipped)
    with pytest.raises(MeshError, match="cells = 'solid' must be"):
        read_mesh(tmp_path / "part.msh", "solid")


def test_groups_of_two_dimensions_with_one_name(tmp_path):
    X, blocks, groups, _ = with_boundary("tetra")
    data = {"gmsh:physical": groups, "gmsh:geometrical": groups}
    raw = meshio.Mesh(X, blocks, cell_data=data)
    gmsh.write(tmp_path / "part.msh", raw, "2.2", binary=False)
    text = (tmp_path / "part.msh").read_text()
    names = '$PhysicalNames\n2\n2 2 "A"\n3 1 "A"\n$EndPhysicalNames\n'
    (tmp_path / "part.msh").write_text(text.replace("$Nodes\n", names + "$Nodes\n", 1))
    mesh = read_mesh(tmp_path / "part.msh", "all")
    assert sorted(mesh.cell_sets) == ["A", "A@3"]
    assert mesh.blocks[mesh.cell_sets["A@3"][0][0]].kind == "tetra"
    assert mesh.facets("A")


@pytest.mark.parametrize("kind", SOLIDS + PLANES)
@pytest.mark.parametrize("suffix", ["vtu", "vtk"])
def test_vtk_family(tmp_path, kind, suffix):
    X, blocks, groups, n = with_boundary(kind)
    fixed = (X[:, 0] == 0.0).astype(int)
    raw = meshio.Mesh(X, blocks, cell_data={"part": groups}, point_data={"fixed": fixed})
    path = tmp_path / f"part.{suffix}"
    meshio.write(path, raw)
    mesh = read_mesh(path, "all")
    assert np.array_equal(mesh.blocks[0].cells, blocks[0][1])
    assert mesh.set_names == ["fixed", "part_1", "part_2"]
    assert sum(len(c) for _, c, _ in mesh.facets("part_2")) == n
    assert np.array_equal(mesh.nodes_of("fixed"), np.flatnonzero(fixed))


@pytest.mark.parametrize("kind", SOLIDS + PLANES)
def test_med_groups(tmp_path, kind):
    """Families of MED; and its order of nodes, mirrored against ours, is brought back."""
    X, blocks, groups, _ = with_boundary(kind)
    cells = blocks[0][1]
    linear = {"tetra10": "tetra", "hexahedron20": "hexahedron", "wedge15": "wedge", "triangle6": "triangle"}
    corners = {"tetra": (0, 2, 1, 3), "hexahedron": (0, 3, 2, 1, 4, 7, 6, 5), "wedge": (0, 2, 1, 3, 5, 4)}
    mirrored = cells.copy()
    order = corners.get(linear.get(kind, kind))
    if order:
        mirrored[:, : len(order)] = cells[:, order]
    dim = DIMENSION[kind]
    raw = meshio.Mesh(
        X[:, : max(dim, 2)], [(kind, mirrored), *blocks[1:]], cell_data={"cell_tags": [-g for g in groups]},
        point_data={"point_tags": (X[:, 0] == 0.0).astype(int)},
    )  # fmt: skip
    raw.cell_tags = {-1: ["body", "everything"], -2: ["loaded"]}
    raw.point_tags = {1: ["left"]}
    path = tmp_path / "part.med"
    meshio.write(path, raw)
    mesh = read_mesh(path, "all")
    assert sorted(mesh.set_names) == ["body", "everything", "left", "loaded"]
    X3 = mesh.points[next(b for b in mesh.blocks if b.kind == kind).cells][..., :dim]
    assert shapes.volumes(kind, X3).sum() == pytest.approx(2.0, rel=1e-12)
    assert shapes.smallest_jacobian(kind, X3).min() > 0.2
    assert area(mesh.facet_nodes("loaded"), mesh.points) == pytest.approx(1.0, rel=1e-12)
    assert np.array_equal(mesh.nodes_of("left"), np.flatnonzero(X[:, 0] == 0.0))


@pytest.mark.parametrize("kind", [*SOLIDS, "triangle6", "quad8"])
def test_settled_leaves_good_cells_alone(kind):
    X, cells = box(kind)
    assert np.array_equal(settled(kind, cells, X), cells)


@pytest.mark.parametrize("kind", ["tetra", "hexahedron", "triangle", "quad"])
def test_medit_references(tmp_path, kind):
    X, blocks, groups, n = with_boundary(kind)
    dim = DIMENSION[kind]
    raw = meshio.Mesh(
        X[:, :dim], blocks, cell_data={"medit:ref": groups}, point_data={"medit:ref": 0 * X[:, 0].astype(int)}
    )
    meshio.write(tmp_path / "part.mesh", raw)
    mesh = read_mesh(tmp_path / "part.mesh", "all")
    assert sum(len(c) for _, c, _ in mesh.facets("ref_2")) == n
    body = mesh.blocks[mesh.cell_sets["ref_1"][0][0]]
    assert np.allclose(mesh.points[body.cells], X[blocks[0][1]])


# --- Exodus ----------------------------------------------------------------------------------------------------------
# Nodes of EXODUS II's elements against ours (Schoof & Yarberry, figure 4.x): the upright edges before the upper ones
_EXODUS = {"hexahedron20": (*range(12), *range(16, 20), *range(12, 16)), "wedge15": (*range(9), 12, 13, 14, 9, 10, 11)}
_NAMES = {"hexahedron": "HEX8", "hexahedron20": "HEX20", "tetra": "TETRA", "tetra10": "TETRA10", "wedge": "WEDGE"}
_NAMES |= {"wedge15": "WEDGE15", "triangle": "TRI3", "triangle6": "TRI6", "quad": "QUAD4", "quad8": "QUAD8"}
# outward sides of the manual's table of sides, corner nodes counted from 1
_SIDES = {
    "hexahedron": ((1, 2, 6, 5), (2, 3, 7, 6), (3, 4, 8, 7), (1, 5, 8, 4), (1, 4, 3, 2), (5, 6, 7, 8)),
    "tetra": ((1, 2, 4), (2, 3, 4), (1, 4, 3), (1, 3, 2)),
    "wedge": ((1, 2, 5, 4), (2, 3, 6, 5), (1, 4, 6, 3), (1, 3, 2), (4, 5, 6)),
    "triangle": ((1, 2), (2, 3), (3, 1)),
    "quad": ((1, 2), (2, 3), (3, 4), (4, 1)),
}


def exodus(path, kind, hdf=False, shells=""):
    """Write bodies or shells whose side set names faces: side 1 of the first half, side 2 of the others."""
    X, cells = box(kind)
    base = {"tetra10": "tetra", "hexahedron20": "hexahedron", "wedge15": "wedge"}.get(kind, kind)
    base = {"triangle6": "triangle", "quad8": "quad"}.get(base, base)
    end = X[:, 0] > 2.0 - 1e-9
    hits = [np.flatnonzero(end[cells[:, np.array(s) - 1]].all(axis=1)) for s in _SIDES[base]]
    elements, sides = np.concatenate(hits), np.concatenate([np.full(len(h), i + 1) for i, h in enumerate(hits)])
    if shells:  # side 3 is the first edge
        faces = np.arange(len(cells)) + 1
        elements, sides = np.append(elements, faces - 1), np.append(sides + 2, 1 + (faces > len(cells) // 2))
    local = _EXODUS.get(kind, range(cells.shape[1]))

    def text(names):
        return np.array([list(n.ljust(33, "\0")) for n in names], "S1")

    variables = {
        **{f"coord{c}": X[:, i] for i, c in enumerate("xyz"[: 3 if shells else DIMENSION[kind]])},
        "connect1": cells[:, local].astype(np.int32) + 1,
        "eb_names": text(["steel"]), "eb_prop1": np.array([5], np.int32),
        "node_ns1": np.flatnonzero(X[:, 0] == 0.0).astype(np.int32) + 1, "ns_prop1": np.array([11], np.int32),
        "ns_names": text([""]),
        "elem_ss1": elements.astype(np.int32) + 1, "side_ss1": sides.astype(np.int32), "ss_names": text(["load"]),
        "elem_num_map": np.arange(len(cells), dtype=np.int32) + 101,
    }  # fmt: skip
    if hdf:
        import h5py

        with h5py.File(path, "w") as file:
            for name, value in variables.items():
                file[name] = value
            file["connect1"].attrs["elem_type"] = shells or _NAMES[kind]
        return X, cells, len(elements)
    from scipy.io import netcdf_file

    with netcdf_file(path, "w") as file:
        for name, value in variables.items():
            axes = []
            for i, n in enumerate(np.shape(value)):
                file.createDimension(f"{name}_{i}", n)
                axes.append(f"{name}_{i}")
            item = file.createVariable(name, "c" if value.dtype.kind == "S" else value.dtype.str[1:], axes)
            item[:] = value
        file.variables["connect1"].elem_type = shells or _NAMES[kind]
    return X, cells, len(elements)


@pytest.mark.parametrize("kind", SOLIDS + PLANES)
@pytest.mark.parametrize("hdf", [False, True])
def test_exodus(tmp_path, kind, hdf):
    X, cells, n = exodus(tmp_path / "part.exo", kind, hdf)
    mesh = read_mesh(tmp_path / "part.exo", "all")
    assert mesh.set_names == ["nodes_11", "steel", "load"]
    assert np.array_equal(mesh.blocks[0].cells, cells)
    assert mesh.blocks[0].ids[0] == 101
    assert np.array_equal(mesh.nodes_of("nodes_11"), np.flatnonzero(X[:, 0] == 0.0))
    assert sum(len(c) for _, c, _ in mesh.facets("load")) == n
    assert area(mesh.facet_nodes("load"), mesh.points) == pytest.approx(1.0, rel=1e-12)
    assert np.array_equal(mesh.nodes_of("load"), np.flatnonzero(X[:, 0] > 2.0 - 1e-9))


@pytest.mark.parametrize(("kind", "shells"), [("quad", "SHELL4"), ("quad8", "SHELL8"), ("triangle", "TRI3")])
def test_exodus_shells(tmp_path, kind, shells):
    """Sides 1 and 2 of shells are their faces; they were read as the edges 0-1 and 1-2."""
    X, cells, _ = exodus(tmp_path / "part.exo", kind, shells=shells)
    mesh = read_mesh(tmp_path / "part.exo", "all")
    half = len(cells) // 2
    found = {name: np.concatenate([c for _, c in parts]) for name, parts in mesh.cell_sets.items()}
    assert list(found) == ["steel", "load", "load@back"]
    assert np.array_equal(found["load"], np.arange(half))
    assert np.array_equal(found["load@back"], np.arange(half, len(cells)))
    assert list(mesh.facet_sets) == ["load@edges"]
    ends = np.concatenate([nodes.ravel() for _, nodes in mesh.facet_nodes("load@edges")])
    assert sum(len(c) for _, c, _ in mesh.facets("load@edges")) == 2
    assert (X[ends, 0] > 2.0 - 1e-9).all()
    assert mesh.skipped == ()


@pytest.mark.parametrize("name", ["a.e", "a.med", "a.vtk", "a.mesh"])
@pytest.mark.parametrize("data", [b"nonsense", b"\x89HDF\r\n\x1a\nxx", b"CDF\1" + bytes(40), b"CDF\5" + bytes(40)])
def test_damaged_files(tmp_path, capfd, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MeshError) as error:
        read_mesh(tmp_path / name, "all")
    assert str(error.value).startswith(str(tmp_path / name))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", ["vtu", "vtk", "med", "exo"])
def test_cut_and_changed_files(tmp_path, capfd, suffix):
    """Whatever happens to a file, the reader gives a mesh or one MeshError."""
    path = tmp_path / f"part.{suffix}"
    if suffix == "exo":
        exodus(path, "tetra10")
    else:
        X, blocks, groups, _ = with_boundary("tetra10")
        name = "cell_tags" if suffix == "med" else "part"
        raw = meshio.Mesh(X, blocks, cell_data={name: [-g for g in groups]})
        raw.cell_tags, raw.point_tags = {-1: ["body"], -2: ["end"]}, {}
        meshio.write(path, raw)
    capfd.readouterr()
    data = path.read_bytes()
    rng = np.random.default_rng(3)
    refused = 0
    for k in range(30):
        changed = bytearray(data[: len(data) * k // 10] if k < 10 else data)
        if k >= 10:
            for at in rng.integers(0, len(data), 4):
                changed[at] = rng.integers(0, 256)
        path.write_bytes(bytes(changed))
        try:
            read_mesh(path, "all")
        except MeshError as error:
            assert str(error).startswith(str(path)) and len(str(error)) < 700
            refused += 1
    assert refused > 10
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("name", "said"), [("segfault.exo", "crashes"), ("hang.exo", "does not end")])
def test_damaged_exodus_files(name, said, monkeypatch):
    """The library that reads them crashes on one and never ends with the other, so it does so in another process."""
    monkeypatch.setattr("fem_mbs.files._SECONDS", 6.0)
    with pytest.raises(MeshError, match=f"{name}: cannot be read as HDF5: it is damaged: .*{said}"):
        read_mesh(DATA / "damaged" / name)


# --- cells that parts would miss or have twice -----------------------------------------------------------------------
CUBE = np.array([[x, y, z] for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))], float)


def part_of(path, on="b"):
    model = Model(3)
    model.material("m", E=1.0, density=1.0)
    model.mesh("b", path, cells="all", unused="drop")
    model.solids("p", on=on, material="m")
    return model


@pytest.mark.parametrize("name", ["part.msh", "part.vtu", "part.vtk", "part.med"])
def test_parts_with_cells_that_no_element_knows(name, tmp_path):
    """They were left out with a note, and the part had a hole."""
    X = np.vstack((CUBE, [[0.5, 0.5, 2.0]], CUBE + [3.0, 0.0, 0.0]))
    cells = [("hexahedron", [[*range(8)], [*range(9, 17)]]), ("pyramid", [[4, 5, 6, 7, 8]])]
    array = {"part.msh": "gmsh:physical", "part.med": "cell_tags"}.get(name, "set")
    groups = [np.array([-1, -2]), np.array([-1])] if name == "part.med" else [np.array([1, 2]), np.array([1])]
    data = {array: groups}
    if name == "part.msh":
        data["gmsh:geometrical"] = groups
    raw = meshio.Mesh(X, cells, cell_data=data)
    raw.cell_tags, raw.point_tags = {-1: ["set_1"], -2: ["set_2"]}, {}
    meshio.write(tmp_path / name, raw, **({"file_format": "gmsh22", "binary": False} if name == "part.msh" else {}))
    sets = ("physical_3_1", "physical_3_2") if name == "part.msh" else ("set_1", "set_2")
    for on in ("b", f"b:{sets[0]}"):
        with pytest.raises(ModelError, match="would have holes there: 1 of the kind pyramid"):
            part_of(tmp_path / name, on)
    part_of(tmp_path / name, f"b:{sets[1]}")


def test_planes_with_cells_that_no_element_knows(tmp_path):
    X = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5], [0.5, 0.5], [2, 0]], float)
    cells = [("quad9", [[*range(9)]]), ("triangle", [[1, 9, 2]])]
    meshio.write_points_cells(tmp_path / "plane.vtu", np.column_stack((X, np.zeros(10))), cells)
    model = Model(2)
    model.material("m", E=1.0, density=1.0)
    model.mesh("b", tmp_path / "plane.vtu", cells="all", unused="drop")
    with pytest.raises(ModelError, match="1 of the kind quad9; mesh it with triangle, triangle6, quad, quad8"):
        model.planes("p", on="b", material="m")


def test_parts_with_a_cell_twice(tmp_path):
    """They were twice as stiff and heavy there."""
    cells = [("hexahedron", [[*range(8)]]), ("hexahedron", [[4, 5, 6, 7, 8, 9, 10, 11], [1, 2, 3, 0, 5, 6, 7, 4]])]
    X = np.vstack((CUBE, CUBE[4:] + [0.0, 0.0, 1.0]))
    meshio.write_points_cells(tmp_path / "part.vtu", X, cells)
    with pytest.raises(ModelError, match='cells 0 and 2 of mesh "b" have the same nodes'):
        part_of(tmp_path / "part.vtu")
