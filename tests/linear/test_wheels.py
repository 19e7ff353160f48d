"""One sector against the whole wheel: in the plane and in space, held and free, at rest and spinning."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Mesh, Model, ModelError, linearise, solve
from fem_mbs.errors import InputError

E, NU, RHO = 2e3, 0.3, 1.5


def wheel_mesh(
    sectors: int, dim: int, whole: bool = False, r=(1.0, 2.0), n=(3, 2), height: float = 0.3, turn: int = 0
) -> Mesh:
    """Return a sector, or all, of a disc with a slot in each sector: n cells around a sector and along the radius; of a
    sector ``turn`` cells come from the next one, so that the slot lies elsewhere."""
    around, across = n
    angle = np.linspace(0.0, 2.0 * np.pi, around * sectors + 1)[:-1]
    radius, z = np.linspace(*r, across + 1), (0.0, height) if dim == 3 else (0.0,)
    points = [(p * np.cos(a), p * np.sin(a), h)[:dim] for a in angle for p in radius for h in z]
    layer = (across + 1) * len(z)
    count = around * sectors if whole else around
    first = turn if not whole else 0
    cells = []
    for i in range(first, first + count):
        for j in range(across):
            if i % around == 1 and j == across - 1:
                continue  # the slot
            a, b = (i % (around * sectors)) * layer + j * len(z), ((i + 1) % (around * sectors)) * layer + j * len(z)
            face = [a, a + len(z), b + len(z), b]
            cells.append(face if dim == 2 else [*face, *(k + 1 for k in face)])
    used, cells = np.unique(cells, return_inverse=True)
    X = np.array(points)[used]
    place = np.hypot(X[:, 0], X[:, 1])
    sets = {"inner": np.flatnonzero(np.abs(place - r[0]) < 1e-9), "outer": np.flatnonzero(place > r[1] - 1e-9)}
    if not whole:
        theta = np.arctan2(X[:, 1], X[:, 0]) - 2.0 * np.pi * first / (around * sectors)
        theta = (theta + 1e-9) % (2.0 * np.pi)
        sets["low"] = np.flatnonzero(theta < 1e-6)
        sets["high"] = np.flatnonzero(np.abs(theta - 2.0 * np.pi / sectors) < 1e-6)
    kind = "quad" if dim == 2 else "hexahedron"
    return Mesh(X, [(kind, cells.reshape(-1, 4 if dim == 2 else 8))], node_sets=sets)


def wheel(sectors: int, dim: int, whole: bool = False, held: bool = True, swap: bool = False, **options) -> Model:
    model = Model(dim)
    model.solid_material("steel", E=E, nu=NU, density=RHO)
    model.mesh("w", wheel_mesh(sectors, dim, whole, **options))
    if dim == 2:
        model.planes("disc", on="w", material="steel", thickness=0.1)
    else:
        model.solids("disc", on="w", material="steel")
    if held:
        model.fix("w:inner")
    if not whole:
        faces = ("w:high", "w:low") if swap else ("w:low", "w:high")
        model.cyclic_symmetry(
            "wheel", face=faces[0], other=faces[1], sectors=sectors, axis=(0.0, 0.0, 2.0) if dim == 3 else None
        )
    return model


def every(report) -> np.ndarray:
    """Frequencies of all modes of the wheel, ascending."""
    return np.sort(np.repeat(report.frequencies_hz, report.copies))


@pytest.mark.parametrize(
    ("sectors", "dim", "held", "swap"),
    [(5, 2, True, False), (6, 2, False, True), (6, 3, True, False), (5, 3, False, True)],
)
def test_modes_are_those_of_the_wheel(sectors, dim, held, swap):
    """All modes up to the least last one of the nodal diameters, rigid-body modes too, with both faces as the first."""
    whole = wheel(sectors, dim, whole=True, held=held)
    whole.modes_step(20)
    exact = np.array(solve(whole).report.steps[0].frequencies_hz)
    sector = wheel(sectors, dim, held=held, swap=swap)
    sector.cyclic_modes_step(10)
    report = solve(sector).report.steps[0]
    assert report.sectors == sectors
    assert sorted(set(report.nodal_diameters)) == list(range(sectors // 2 + 1))
    twice = dict(zip(report.nodal_diameters, report.copies, strict=True))
    assert twice == {n: 1 if n in (0, sectors / 2) else 2 for n in range(sectors // 2 + 1)}
    found = every(report)[:20]
    assert np.count_nonzero(found == 0.0) == np.count_nonzero(exact == 0.0) == (0 if held else 3 if dim == 2 else 6)
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12)
    assert max(report.residuals) < 1e-9
    assert not report.warnings


@pytest.mark.parametrize(("sectors", "dim", "held"), [(5, 2, True), (2, 2, True), (5, 3, True), (6, 3, False)])
def test_effective_masses_are_those_of_the_wheel(sectors, dim, held):
    """By direction, summed over modes of one frequency; both totals too."""
    whole = wheel(sectors, dim, whole=True, held=held)
    whole.modes_step(16)
    exact = solve(whole).report.steps[0]
    sector = wheel(sectors, dim, held=held)
    sector.cyclic_modes_step(6)
    report = solve(sector).report.steps[0]
    part, known = report.participation, exact.participation
    names = {"along": "z", "across": "x", "about": "rz", "tilt": "rx"}
    columns = [known.directions.index(names[d]) for d in part.directions]
    assert len(columns) == (2 if dim == 2 else 4)
    if sectors == 2:  # not alike in both directions across: the mean
        other = [known.directions.index(d) for d in ("y", "rz")]
        theirs = 0.5 * (np.array(known.effective_mass)[:, columns] + np.array(known.effective_mass)[:, other])
        total = 0.5 * (np.array(known.total)[columns] + np.array(known.total)[other])
    else:
        theirs, total = np.array(known.effective_mass)[:, columns], np.array(known.total)[columns]
    assert part.total == pytest.approx(total, rel=1e-9)
    f, g = np.array(exact.frequencies_hz), np.array(report.frequencies_hz)
    mine = np.array(part.effective_mass)
    seen = 0
    for value in np.unique(np.round(f[:12], 9)):
        near = np.abs(f - value) < 1e-6 * max(value, 1.0)
        if near[-1]:
            continue
        assert mine[np.abs(g - value) < 1e-5 * max(value, 1e-3)].sum(axis=0) == pytest.approx(
            theirs[near].sum(axis=0), abs=1e-6 * total.max()
        )
        seen += near.sum()
    assert seen >= 8 and part.sums == pytest.approx(mine.sum(axis=0) / total, rel=1e-9)
    if not held:  # rigid-body motions are all of it
        assert mine[g < 1e-4].sum(axis=0) == pytest.approx(total, rel=1e-6)


def frame_wheel(sectors: int, whole: bool, dim: int) -> Model:
    """A hub on the axis with springs, spokes of beams and a rim; a sector has its share of the hub."""
    m = Model(dim)
    m.material("steel", E=2e11, nu=0.3, density=7800)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    share = 1.0 if whole else 1.0 / sectors
    m.body("hub", position=(0.0,) * dim, mass=5.0 * share, inertia=0.03 * share if dim == 2 else (0.02 * share,) * 3)
    for axis in "xyz"[:dim]:
        m.nodal_spring(axis, "hub", axis, 3e5 * share)
    for axis in ("rotation",) if dim == 2 else ("rotation x", "rotation y", "rotation z"):
        m.nodal_spring(axis, "hub", axis, 2e4 * share)
    up = {} if dim == 2 else {"orientation": (0.0, 0.0, 1.0)}
    gap = 2.0 * np.pi / sectors
    count = sectors if whole else 1
    for j in range(count):
        places = [(np.cos(a), np.sin(a), 0.2)[:dim] for a in gap * (j + np.linspace(0.0, 1.0, 5))]
        m.polyline(f"rim {j}", places, n=1)
        m.line(f"spoke {j}", tuple(0.1 * np.array(places[2])), places[2], n=2)
        for name in (f"rim {j}", f"spoke {j}"):
            m.beams(name, on=name, material="steel", section="bar", **up)
        m.joint(f"inner {j}", "weld", "hub", f"spoke {j}:start")
        m.joint(f"outer {j}", "weld", f"spoke {j}:end", f"rim {j}:#3")
    if whole:
        for j in range(count):
            m.joint(f"next {j}", "weld", f"rim {j}:end", f"rim {(j + 1) % count}:start")
    else:
        axis = (0.0, 0.0, 1.0) if dim == 3 else None
        m.cyclic_symmetry("wheel", ["rim 0:start", "hub"], "rim 0:end", sectors=sectors, axis=axis)
    return m


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("sectors", [2, 3, 4])
def test_a_hub_on_the_axis_belongs_to_both_faces(sectors, dim):
    """Of two sectors the coefficients of its equations cancel, and nothing but their rounding is left."""
    whole = frame_wheel(sectors, True, dim)
    whole.modes_step(12)
    sector = frame_wheel(sectors, False, dim)
    sector.cyclic_modes_step(12)
    found = every(solve(sector).report.steps[0])[:12]
    np.testing.assert_allclose(found, solve(whole).report.steps[0].frequencies_hz, rtol=1e-9)


def test_a_sector_may_be_cut_anywhere():
    frequencies = []
    for turn in (0, 1, 3):
        model = wheel(5, 2, turn=turn)
        model.cyclic_modes_step(4, nodal_diameters=[0, 1])
        frequencies.append(solve(model).report.steps[0].frequencies_hz)
    np.testing.assert_allclose(frequencies[1:], [frequencies[0]] * 2, rtol=1e-10)


def test_shapes_are_waves():
    """A shape of the sector, turned and multiplied sector by sector, has its frequency by the matrices of the wheel."""
    sectors, n = 5, 2
    sector = wheel(sectors, 2)
    sector.cyclic_modes_step(3, nodal_diameters=[n])
    solution = solve(sector)
    f = solution.report.steps[0].frequencies_hz
    frames = solution.steps[0].frames
    u = frames["displacement"] + 1j * frames["displacement imaginary"]
    whole = wheel(sectors, 2, whole=True)
    whole.modes_step(1)
    model = linearise(whole)
    X, x, u = whole.positions[:, :2], sector.positions[:, :2], u[..., :2]
    shapes = np.zeros((len(f), len(X), 2), complex)
    for j in range(sectors):
        a = 2.0 * np.pi * j / sectors
        R = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        at = np.linalg.norm(X[:, None] - (x @ R.T)[None], axis=2).argmin(axis=0)
        shapes[:, at] = u @ R.T * np.exp(1j * n * a)
    free = np.setdiff1d(np.arange(len(X)), whole.nodes_of("w:inner"))
    Y = shapes[:, free].reshape(len(f), -1).T
    assert model.K.shape[0] == Y.shape[0]
    w2 = (Y.conj() * (model.K @ Y)).sum(axis=0).real / (Y.conj() * (model.M @ Y)).sum(axis=0).real
    np.testing.assert_allclose(np.sqrt(w2) / (2.0 * np.pi), f, rtol=1e-6)  # frames have single precision


def test_faces_with_different_meshes():
    """Faces whose nodes do not meet: the frequencies converge to those of equal meshes."""

    def model(n_low: int, n_high: int) -> Model:
        def block(first: float, last: float, n: int):
            a, r = np.linspace(first, last, 5), np.linspace(1.0, 2.0, n + 1)
            X = np.array([(p * np.cos(t), p * np.sin(t)) for t in a for p in r])
            i, j = np.meshgrid(np.arange(4), np.arange(n), indexing="ij")
            k = (i * (n + 1) + j).ravel()
            return X, np.column_stack((k, k + 1, k + n + 2, k + n + 1))

        m = Model(2)
        m.solid_material("steel", E=E, nu=NU, density=RHO)
        for name, (first, last), n in (("p", (0.0, 0.5), n_low), ("q", (0.5, 1.0), n_high)):
            X, cells = block(first * np.pi / 3, last * np.pi / 3, n)
            sets = {"first": np.arange(n + 1), "last": len(X) - 1 - np.arange(n + 1)}
            sets["inner"] = np.flatnonzero(np.hypot(*X.T) < 1.0 + 1e-9)
            lines = [np.column_stack((np.sort(sets[k])[:-1], np.sort(sets[k])[1:])) for k in ("first", "last")]
            edges = {"first edge": [(1, np.arange(n))], "last edge": [(2, np.arange(n))]}
            blocks = [("quad", cells), *(("line2", line) for line in lines)]
            m.mesh(name, Mesh(X, blocks, node_sets=sets, cell_sets=edges), cells="all")
            m.planes(name, on=name, material="steel", thickness=0.1)
            m.fix(f"{name}:inner")
        m.tie("middle", "p:last edge", "q:first edge")
        m.cyclic_symmetry("wheel", face="q:last", other="p:first", sectors=6)
        m.cyclic_modes_step(3)
        return m

    exact = np.array(solve(model(12, 12)).report.steps[0].frequencies_hz)
    errors = [
        np.abs(np.array(solve(model(n, 2 * n)).report.steps[0].frequencies_hz) / exact - 1.0).max() for n in (3, 6)
    ]
    assert errors[0] < 0.15
    assert errors[1] < 0.5 * errors[0]


# --- statics ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("step", ["static_step", "linear_static_step"])
def test_a_spinning_wheel(step):
    """Displacements of a sector under centrifugal forces are those of the wheel; and modes about both are equal."""
    found = {}
    for whole in (True, False):
        model = wheel(6, 3, whole=whole)
        model.centrifugal("spin", 6.0, axis=(0.0, 0.0, 1.0))
        getattr(model, step)()
        preload = {"preload": model.steps[0].name} if step == "linear_static_step" else {}
        (model.modes_step if whole else model.cyclic_modes_step)(12, **preload)
        solution = solve(model)
        u = np.linalg.norm(solution.steps[0].frames["displacement"][-1], axis=1)
        modes = solution.report.steps[1]
        found[whole] = u.max(), np.array(modes.frequencies_hz) if whole else every(modes)[:12]
    assert found[False][0] == pytest.approx(found[True][0], rel=1e-6)
    np.testing.assert_allclose(found[False][1], found[True][1], rtol=1e-6)
    still = wheel(6, 3)
    still.cyclic_modes_step(1)
    assert abs(found[False][1][0] / every(solve(still).report.steps[0])[0] - 1.0) > 1e-3


def test_rotating_disc():
    """Radial displacement of a disc with a hole (Timoshenko & Goodier, Theory of elasticity, section 32), from a sector
    of 5 degrees."""
    a, b, omega, n = 1.0, 3.0, 2.0, 24
    angle, r = np.radians((0.0, 2.5, 5.0)), np.linspace(a, b, n + 1)
    X = np.array([(p * np.cos(t), p * np.sin(t)) for t in angle for p in r])
    k = np.concatenate((np.arange(n), n + 1 + np.arange(n)))
    sets = {"low": np.arange(n + 1), "high": 2 * (n + 1) + np.arange(n + 1)}
    m = Model(2)
    m.solid_material("steel", E=E, nu=NU, density=RHO)
    m.mesh("w", Mesh(X, [("quad", np.column_stack((k, k + 1, k + n + 2, k + n + 1)))], node_sets=sets))
    m.planes("disc", on="w", material="steel", thickness=0.1, kinematics="linear")
    m.cyclic_symmetry("wheel", face="w:high", other="w:low", sectors=72)
    m.fix(0, "y")  # along the axis of x all motions around the centre are the same
    m.centrifugal("spin", omega)
    m.linear_static_step()
    u = solve(m).steps[0].frames["displacement"][-1][: n + 1, 0]
    C = (3.0 + NU) * RHO * omega**2 / (8.0 * E)
    exact = C * r * (1.0 - NU) * (a * a + b * b + (1.0 + NU) / (1.0 - NU) * a * a * b * b / r**2)
    exact -= C * r**3 * (1.0 - NU**2) / (3.0 + NU)
    np.testing.assert_allclose(u, exact, rtol=2e-3)


# --- words -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sectors": 1}, "sectors = 1 must be a whole number of at least 2"),
        ({"sectors": 7}, "3 of 3 nodes of face, turned by 360/7 degrees about the axis, do not meet"),
        ({"point": (0.5, 0.0)}, "do not meet the other face"),
        ({"other": "w:low"}, "belongs to both faces and is not on the axis"),
        ({"axis": (0.0, 1.0)}, "in the plane the axis is across it"),
        ({"tolerance": -1.0}, "tolerance = -1.0"),
        ({"face": "w:left"}, 'no set "left"'),
    ],
)
def test_wrong_symmetry(options, message):
    model = Model(2)
    model.solid_material("steel", E=E, nu=NU, density=RHO)
    model.mesh("w", wheel_mesh(6, 2))
    model.planes("disc", on="w", material="steel", thickness=0.1)
    with pytest.raises(InputError, match=message):
        model.cyclic_symmetry("wheel", **{"face": "w:low", "other": "w:high", "sectors": 6, **options})


def _across(model: Model) -> None:
    model.base_excitation("shake", (1.0, 0.0, 0.0), displacement="t**2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: setattr(m, "gravity", np.array([0.0, -9.81, 0.0])),
            r"gravity = \[0.0, -9.81, 0.0\] is not along the",
        ),
        (lambda m: setattr(m, "gravity", np.array([1e-9, 0.0, -9.81])), None),
        (_across, r'Base excitation "shake": direction = \[1.0, 0.0, 0.0\] is not along the axis of "wheel"'),
        (lambda m: m.base_excitation("shake", (0.0, 0.0, -1.0), displacement="t**2"), None),
        (lambda m: m.centrifugal("spin", 5.0, axis=(0.0, 1.0, 0.0)), "turns about another axis than that of"),
        (lambda m: m.centrifugal("spin", 5.0, axis=(0, 0, 1), point=(0.1, 0, 0)), "turns about another axis"),
        (lambda m: m.centrifugal("spin", 5.0, axis=(0, 0, -1), point=(0, 0, 3)), None),
    ],
)
def test_what_sectors_cannot_have_alike(change, message):
    """Accelerations across the axis would turn from sector to sector."""
    model = wheel(6, 3)
    change(model)
    model.linear_static_step()
    if message is None:
        model.compile()
        return
    with pytest.raises(ModelError, match=message):
        model.compile()


def test_a_body_on_the_axis_that_no_face_names_is_told():
    """It is there once per sector, unless it is held."""
    for held in (False, True):
        model = wheel(6, 3)
        model.body("hub", (0, 0, 1), 1.0, (1, 1, 1))
        model.nodal_spring("spring", "hub", "z", 1.0)
        if held:
            model.fix("hub")
        for _ in range(2):
            model.compile(stepping=False)
        told = [text for text in model.building.warnings if "is on the axis and in neither face" in text]
        assert len(told) == (not held)


def test_gravity_and_shaking_of_plane_wheels_are_across_the_axis():
    for change in (
        lambda m: setattr(m, "gravity", np.array([0.0, -9.81])),
        lambda m: m.base_excitation("shake", (0.0, 1.0), displacement="t**2"),
    ):
        model = wheel(6, 2)
        change(model)
        with pytest.raises(ModelError, match="is not along the axis"):
            model.compile()


def test_wrong_steps():
    model = wheel(6, 2)
    model.cyclic_modes_step(2, nodal_diameters=[4])
    with pytest.raises(ModelError, match="a wheel of 6 sectors has nodal diameters from 0 to 3"):
        solve(model)
    model = wheel(6, 2, whole=True)
    model.cyclic_modes_step(2)
    with pytest.raises(ModelError, match=r"need a cyclic symmetry; add \[\[cyclic_symmetry\]\]"):
        solve(model)
