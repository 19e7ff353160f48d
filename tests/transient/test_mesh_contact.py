"""Contact with surfaces of triangles: distances, conservation, the limit of refinement, friction."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from fem_mbs import Mesh, Model, ModelError, solve
from fem_mbs.elements.contact.triangles import TRIANGLE, mesh_gaps, tree_table
from fem_mbs.elements.registry import element_type
from fem_mbs.input_files import files_of
from fem_mbs.meshes.formats.shapes import box
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.writer import write_model
from fem_mbs.system.blocks import chosen_rows, deal
from fem_mbs.validation.case import constancy, energy_error

UP = (0.0, 0.0, 1.0)


def table_of(points, triangles, n, ball=0.0, depth=np.inf):
    """Rows of parameters of n balls that share a surface."""
    tree, first, closed = tree_table(np.asarray(points, float), np.asarray(triangles))
    t = element_type("mesh_contact3")
    par = np.zeros((n, len(t.par)))
    for name, value in (("ball radius", ball), ("first triangle", first), ("depth", depth)):
        par[:, t.column(name)] = value
    return deal(par, t, tree), closed


def gaps_at(par, p):
    out = np.empty(len(p))
    mesh_gaps(par, np.ascontiguousarray(p), out)
    return out


def torus(n, big=1.0, small=0.4):
    """A ring of n pieces around its tube and twice as many around its axis."""
    a, b = np.meshgrid(np.arange(2 * n), np.arange(n), indexing="ij")
    u, v = np.pi * a / n, 2 * np.pi * b / n
    r = big + small * np.cos(v)
    x = np.stack((r * np.cos(u), r * np.sin(u), small * np.sin(v)), axis=-1).reshape(-1, 3)
    here, along = (a * n + b).ravel(), ((a + 1) % (2 * n) * n + b).ravel()
    up, across = (a * n + (b + 1) % n).ravel(), ((a + 1) % (2 * n) * n + (b + 1) % n).ravel()
    return x, np.concatenate((np.column_stack((here, along, across)), np.column_stack((here, across, up))))


def grid(n, half=1.0):
    """A plane of n x n squares, cut in triangles."""
    x, y = np.meshgrid(np.linspace(-half, half, n + 1), np.linspace(-half, half, n + 1), indexing="ij")
    points = np.column_stack((x.ravel(), y.ravel(), np.zeros(x.size)))
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    t = [np.column_stack((a, a + n + 1, a + n + 2)), np.column_stack((a, a + n + 2, a + 1))]
    return points, np.concatenate(t)


def stl(path, points, triangles):
    """Write an STL file."""
    lines = ["solid s"]
    for t in np.asarray(points)[triangles]:
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {a!r} {b!r} {c!r}" for a, b, c in t.tolist())]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid s", ""]))
    return str(path)


def ball(model, name, position, velocity=(0.0, 0.0, 0.0), spin=None, mass=1.0, radius=0.1):
    model.body(name, position, mass=mass, inertia=np.full(3, 0.4 * mass * radius**2))
    model.initial(name, velocity=velocity, **({} if spin is None else {"spin": spin}))


def test_distance_to_a_box_is_that_of_its_closed_form():
    """Signed, inside and outside, at faces, edges and corners; the table is shared by rows of different numbers."""
    half = np.array((0.7, 0.4, 0.2))
    p = np.random.default_rng(1).uniform(-1.2, 1.2, (2000, 3))
    p[:600] *= half / 1.2
    q = np.abs(p) - half
    exact = np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)
    for n in (2000, 1):
        par, closed = table_of(*box(2 * half), n)
        assert closed
        found = gaps_at(par, p) if n > 1 else np.array([gaps_at(par, x[None])[0] for x in p[::50]])
        assert np.abs(found - (exact if n > 1 else exact[::50])).max() < 1e-14


def test_distance_to_a_ring_converges_with_the_second_order():
    p = np.random.default_rng(2).uniform(-1.3, 1.3, (500, 3)) * (1, 1, 0.4)
    exact = np.hypot(np.hypot(p[:, 0], p[:, 1]) - 1.0, p[:, 2]) - 0.4
    errors = [np.abs(gaps_at(table_of(*torus(n), 500)[0], p) - exact).max() for n in (12, 48)]
    assert np.log2(errors[0] / errors[1]) / 2 > 1.8
    assert errors[1] < 3e-3


def test_some_elements_of_a_block_keep_the_whole_surface():
    p = np.random.default_rng(3).uniform(-1.3, 1.3, (40, 3))
    par, _ = table_of(*torus(10), 40)
    some = np.array([3, 17, 38])
    assert par.shape[1] % TRIANGLE == len(element_type("mesh_contact3").par) % TRIANGLE
    assert (gaps_at(chosen_rows(par, element_type("mesh_contact3"), some), p[some]) == gaps_at(par, p)[some]).all()


@pytest.mark.parametrize("h", [1e-3, 5e-3])
def test_elastic_blows_of_free_bodies_keep_energy_and_momenta(tmp_path, h):
    """Balls and points hit a ring that turns, in steps that are long against the blows."""
    model = Model(3)
    model.body("ring", (0.1, 0.2, 0.3), mass=2.0, inertia=(0.6, 0.7, 1.2), rotation=(0.4, 0.1, 0.2))
    model.initial("ring", spin=(0.5, 1.0, 2.0))
    rng = np.random.default_rng(5)
    names = [f"ball {k}" for k in range(12)]
    for k, name in enumerate(names):
        away = np.array((np.cos(k), np.sin(k), 0.6 * (-1) ** k)) * (1.6 + 0.3 * (k % 3))
        ball(model, name, away + (0.1, 0.2, 0.3), -3.0 * away + rng.normal(size=3), rng.normal(size=3), mass=0.3)
    surface = {"surface": "triangles", "triangles": stl(tmp_path / "ring.stl", *torus(9)), "ball": 0.1}
    model.contact("blow", "ring", names, stiffness=1e5, **surface)
    for name in names:
        model.sensor(name, "velocity", on=name)
    model.transient_step(0.5, h, frames=0)
    step = solve(model).steps[0]
    assert step.ledger("strain").max() > 1.0
    turned = [np.abs(np.diff(step.series[f"sensor/{name}"], axis=0)).max() > 1.0 for name in names]
    assert sum(turned) >= 6
    assert energy_error(step, constant=True) < 1e-11
    assert constancy(step, "linear momentum") < 1e-12
    assert constancy(step, "angular momentum") < 1e-12


def bounced(places=((0.13, -0.05),), h=2e-4, **surface):
    """The velocities of balls after their blows on a fixed body."""
    model = Model(3)
    names = [f"ball {k}" for k in range(len(places))]
    for name, (x, y) in zip(names, places, strict=True):
        ball(model, name, (x, y, 0.75), (0.1, 0.2, -2.0))
        model.sensor(name, "velocity", on=name)
    model.contact("blow", "ground", names, point=(0.0, 0.0, 0.0), ball=0.1, stiffness=1e5, **surface)
    model.transient_step(0.3, h, frames=0)
    step = solve(model).steps[0]
    assert energy_error(step, constant=True) < 1e-12
    return np.array([step.series[f"sensor/{name}"][-1] for name in names])


def test_blows_on_a_sphere_of_triangles_tend_to_those_on_a_sphere(tmp_path):
    """Normals of triangles are of the first order."""
    from fem_mbs.meshes.formats.shapes import sphere

    places = np.random.default_rng(7).uniform(-0.2, 0.2, (10, 2))
    exact = bounced(places, surface="sphere", radius=0.5)
    errors = []
    for n in (24, 120):
        path = stl(tmp_path / f"{n}.stl", *sphere(0.5, n))
        found = bounced(places, surface="triangles", triangles=path, rotation=(0.3, 0.2, 0.1))
        errors.append(np.linalg.norm(found - exact, axis=1).mean())
    assert errors[1] < 0.05
    assert errors[0] > 3.5 * errors[1]


def test_shapes_turn_and_move_like_boxes():
    place = {"rotation": (0.3, -0.2, 0.5), "overlap": 0.0}
    exact = bounced(surface="box", size=(0.8, 0.7, 0.6), **place)
    found = bounced(surface="triangles", triangles={"shape": "box", "size": [0.8, 0.7, 0.6]}, **place)
    assert np.abs(found - exact).max() < 1e-9


def test_a_ball_rolls_over_triangles_as_over_a_plane():
    """Edges between triangles of one plane are not felt: v -> 5/7 v0, at any place; the floor is a set of a mesh."""
    points, triangles = grid(7)
    points[:, 0] += 0.9
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    sinks = (9.81 / 1e6) ** (2.0 / 3.0)
    ball(model, "ball", (0.0, 0.0, 0.1 - sinks), (1.0, 0.3, 0.0))
    mesh = Mesh(points, (("triangle", triangles, None),), cell_sets={"top": ((0, np.arange(len(triangles))),)})
    model.mesh("floor", mesh)
    model.contact(
        "floor", "ground", "ball", surface="triangles", facets="floor:top", ball=0.1, stiffness=1e6, coefficient=0.2,
        smoothing=1e-3, overlap=2 * sinks,
    )  # fmt: skip
    model.sensor("speed", "velocity", on="ball")
    model.transient_step(1.0, 1e-3, frames=0)
    step = solve(model).steps[0]
    speed = step.series["sensor/speed"]
    assert speed[-1] == pytest.approx([5 / 7, 1.5 / 7, 0.0], abs=1e-6)
    assert np.abs(speed[:, 2]).max() < 1e-9
    assert energy_error(step) < 1e-12


def test_a_ball_falls_off_the_border_of_an_open_surface():
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    ball(model, "ball", (0.0, 0.0, 0.15), (3.0, 0.0, 0.0))
    points, triangles = grid(4, 0.5)
    model.mesh("table", Mesh(points, (("triangle", triangles, None),), cell_sets={"top": ((0, np.arange(32)),)}))
    model.contact("table", "ground", "ball", surface="triangles", facets="table:top", ball=0.1, stiffness=1e5)
    model.sensor("place", "position", on="ball")
    model.transient_step(1.0, 1e-3, frames=0)
    step = solve(model).steps[0]
    place = step.series["sensor/place"]
    assert place[:, 2].max() < 0.16  # (the border throws nothing up)
    assert place[-1, 2] < -0.5
    assert energy_error(step, constant=True) < 1e-12


def test_a_ball_stays_in_a_hollow_and_modes_see_the_surface():
    """Modes of a ball at rest in a groove: w^2 = 1.5 K y^.5/m along the normal of the face below."""
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    depth = (9.81 / 1e7) ** (2 / 3)
    ball(model, "ball", (0.05, 0.0, -0.4 - depth))
    model.fix("ball", ["x", "y", "rotation"])
    model.contact(
        "room", "ground", "ball", surface="triangles", triangles={"shape": "box", "size": [1.0, 1.0, 1.0]}, inside=True,
        point=(0.0, 0.0, 0.0), ball=0.1, stiffness=1e7, overlap=1e-3,
    )  # fmt: skip
    model.static_step()
    model.modes_step(1)
    solution = solve(model)
    frequency = np.sqrt(1.5 * 1e7 * np.sqrt(depth)) / (2 * np.pi)
    assert solution.steps[1].report.frequencies_hz[0] == pytest.approx(frequency, rel=1e-9)


def test_files_of_model_files_stand_beside_them_and_are_inputs(tmp_path):
    text = """dimension = 3
[[body]]
name = "a"
position = [0, 0, 2]
mass = 1
inertia = [1, 1, 1]
[[contact]]
name = "rock"
a = "ground"
b = "a"
point = [0, 0, 0]
surface = "triangles"
triangles = %s
ball = 0.1
stiffness = 1e5
"""
    stl(tmp_path / "rock.stl", *torus(5))
    stl(tmp_path / "stone.stl", *box(np.ones(3)))
    for said, files in (('"rock.stl"', ["rock.stl"]), ('["stone.stl"]', ["stone.stl"])):
        path = tmp_path / "model.toml"
        path.write_text(text % said)
        assert list(files_of(tomllib.loads(path.read_text()))) == files
        (tmp_path / "other").mkdir(exist_ok=True)
        write_model(load_model(path), tmp_path / "other" / "copy.toml")
        one, two = (load_model(p).building.blocks[-1].par for p in (path, tmp_path / "other" / "copy.toml"))
        assert (one == two).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "is given by one of triangles and facets"),
        ({"triangles": "no.stl"}, "there is no such file"),
        ({"triangles": {"shape": "box", "size": [1, 1, 1]}, "radius": 0.1}, "a surface of triangles has no radius"),
        ({"triangles": {"shape": "box", "size": [1, 1, 1]}, "axis": UP}, 'a surface "triangles" has no axis'),
        ({"triangles": {"shape": "box", "size": [1, 1, 1.9]}}, 'overlaps with the triangles of "ground"'),
        ({"facets": "floor:top", "point": None, "ball": 0.0}, "points need a depth behind it"),
        ({"triangles": {"shape": "box", "size": [1, 1, 1]}, "depth": 0.1}, "a closed surface has no depth"),
        ({"facets": "floor", "point": None}, 'must name a set ("mesh:set")'),
        ({"facets": "floor:top", "rotation": (0, 0, 1.0), "point": None}, "take no rotation"),
        ({"facets": "floor:bad", "point": None}, "are turned differently"),
        ({"surface": "sphere", "radius": 0.1, "triangles": "a.stl"}, 'triangles is for surface = "triangles"'),
        ({"triangles": {"shape": "box", "size": [1, 1, 1]}, "modulus": 1e9, "stiffness": None}, "modulus is for balls"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_clear_error(changes, message):
    model = Model(3)
    ball(model, "ball", (0.0, 0.0, 1.0))
    points, triangles = grid(2)
    cells = np.concatenate((triangles, triangles[:1]))
    sets = {"top": ((0, np.arange(8)),), "bad": ((0, np.arange(9)),)}
    model.mesh("floor", Mesh(points, (("triangle", cells, None),), cell_sets=sets))
    contact = {"surface": "triangles", "point": (0.0, 0.0, 0.0), "stiffness": 1e5, "ball": 0.1} | changes
    with pytest.raises(ModelError, match='Contact "floor"') as error:
        model.contact("floor", "ground", "ball", **contact)
    assert message in str(error.value)
