"""Copies: the image of a structure deforms and moves as the image of what the original does; names; files; mistakes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_model_text import arrays

from fem_mbs import Model, ModelError, load_model, solve
from fem_mbs.meshes import grids
from fem_mbs.meshes.cells import CELL_KINDS, DIMENSION, FACETS, MIRRORED, mirrored_facets

NORMAL = np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25)
TURN = Rotation.from_rotvec(np.deg2rad(70.0) * np.array([1.0, 1.0, 1.0]) / np.sqrt(3.0)).as_matrix()
MOVES = {
    "mirror": ({"mirror": {"normal": NORMAL.tolist(), "point": [3.0, 0.0, 0.0]}},
               np.eye(3) - 2.0 * np.outer(NORMAL, NORMAL)),
    "turn": ({"rotate": {"axis": [1, 1, 1], "point": [0, 0, 4], "angle": 70.0}, "translate": [9.0, 0, 0]}, TURN),
    "both": ({"mirror": {"normal": NORMAL.tolist()}, "rotate": {"axis": [1, 1, 1], "angle": 70.0},
              "translate": [0, 9.0, 0]}, TURN @ (np.eye(3) - 2.0 * np.outer(NORMAL, NORMAL))),
}  # fmt: skip

FRAME = """
[material.steel]
E = 2.1e11
nu = 0.3
density = 7850
[section.odd]
shape = "rectangle"
width = 0.02
height = 0.05
rotate = 25
centroid = [0.01, 0.03]
shear_centre = [-0.02, 0.01]
[section.full]
shape = "stiffness"
EA = 1e7
EIy = 2e4
EIz = 5e4
GJ = 1e4
GAy = 1e6
GAz = 2e6
rhoA = 3.0
rhoIy = 1e-3
rhoIz = 2e-3
[mesh.frame.polyline]
points = [[0, 0, 0], [0, 0, 1], [1, 0.5, 1.5], [1.5, 1.5, 1]]
n = 2
[[node]]
name = "far"
position = [2.0, 1.0, 0.5]
[[beam]]
name = "post"
on = "frame:segment_1"
material = "steel"
section = "odd"
offset = [0.0, 0.02, 0.05]
[[beam]]
name = "bow"
on = "frame:segment_2"
section = "full"
offset_end = [0.01, 0.03, -0.02]
[[beam]]
name = "tip"
on = "frame:segment_3"
material = "steel"
section = "odd"
orientation = [0.3, 0.2, 1.0]
[[point_mass]]
name = "mass"
at = "frame:end"
mass = 30.0
inertia = [[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 1.5]]
offset = [0.1, 0.2, -0.3]
[[support]]
on = ["frame:start", "far"]
[[bushing]]
name = "bush"
a = "ground"
b = "frame:end"
point = [2.0, 1.0, 0.5]
rotation = [0.3, -0.5, 0.2]
stiffness = [
  [3e4, 1e3, 2e3, 100, 50, 20], [1e3, 2e4, 1e3, 20, 10, 70], [2e3, 1e3, 1e4, 30, 60, 90],
  [100, 20, 30, 900, 50, 20], [50, 10, 60, 50, 700, 10], [20, 70, 90, 20, 10, 800],
]
[[spring]]
name = "wire"
a = "far"
b = "frame:corner_3"
stiffness = 3e4
[[force]]
name = "push"
on = "frame:corner_3"
vector = [300.0, -200.0, 500.0]
[[moment]]
name = "twist"
on = "frame:end"
value = [40.0, 30.0, -20.0]
[[sensor]]
name = "u"
kind = "displacement"
on = "frame:end"
[[sensor]]
name = "r"
kind = "rotation"
on = "frame:end"
[[sensor]]
name = "v"
kind = "displacement"
on = "frame:corner_3"
"""
OF = ["frame", "far", "post", "bow", "tip", "mass", "support.1", "bush", "wire", "push", "twist", "u", "r", "v"]
STEPS = '[[step]]\ntype = "linear_static"\n[[step]]\ntype = "modes"\ncount = 8\n'


def inline(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {inline(v)}" for k, v in value.items()) + "}"
    return repr(value).replace("'", '"')


def load(tmp_path, text, copy=None, name="model.toml"):
    path = tmp_path / name
    extra = "" if copy is None else "[[copy]]\n" + "".join(f"{k} = {inline(v)}\n" for k, v in copy.items())
    path.write_text(text + extra, encoding="utf-8")
    return load_model(path)


def last(results, name, step=0):
    """Return the last row of a sensor."""
    return np.asarray(results.sensor(name, step))[-1]


@pytest.mark.parametrize("move", MOVES)
def test_frames_deform_and_vibrate_as_their_images(move, tmp_path):
    """Sections, offsets, default axes, masses, bushings and loads: the response is the image, mode by mode."""
    how, Q = MOVES[move]
    model = load(tmp_path, FRAME + STEPS, {"of": OF, "suffix": " 2", **how})
    results = solve(model)
    sign = np.linalg.det(Q)
    for name, turn in (("u", Q), ("v", Q), ("r", sign * Q)):
        mine, image = (last(results, n) for n in (name, f"{name} 2"))
        assert np.linalg.norm(mine) > 1e-6
        assert image == pytest.approx(turn @ mine, rel=1e-7, abs=1e-9 * np.linalg.norm(mine))
    f = np.asarray(results.steps[1].report.frequencies_hz)
    assert f[0::2] == pytest.approx(f[1::2], rel=1e-7)
    assert np.all(np.diff(f[0::2]) > 1e-3 * f[0])  # pairs, not a coincidence of the model


PARTS = """
[material.ply]
E = [1.4e11, 9e9, 1e10]
nu = [0.3, 0.25, 0.4]
G = [5e9, 4e9, 3e9]
density = 1600
[mesh.sheet.rectangle]
size = [1.0, 0.6]
n = [2, 2]
kind = "quad"
[mesh.bar.box]
size = [1.0, 0.3, 0.2]
n = [2, 1, 1]
start = [0, 2, 0]
kind = "wedge15"
[[shell]]
name = "sheet"
on = "sheet"
layers = [
  {material = "ply", thickness = 0.01, angle = 30.0}, {material = "ply", thickness = 0.02, angle = -55.0},
  {material = "ply", thickness = 0.005, angle = 80.0},
]
offset = 0.01
[[solid]]
name = "bar"
on = "bar"
material = "ply"
orientation = [[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]
[[support]]
on = ["sheet:left", "bar:left"]
[[force]]
name = "push"
on = ["sheet:bottom_right", "bar:top_back_right"]
vector = [300.0, -200.0, 500.0]
[[pressure]]
name = "press"
on = ["bar:top", "sheet:all"]
value = 2e3
[[sensor]]
name = "u"
kind = "displacement"
on = "sheet:top_right"
[[sensor]]
name = "v"
kind = "displacement"
on = "bar:bottom_front_right"
"""


@pytest.mark.parametrize("move", MOVES)
def test_laminates_and_solids_deform_as_their_images(move, tmp_path):
    """Cells of the right sense, normals, layers, material axes and pressure."""
    how, Q = MOVES[move]
    names = ["sheet", "bar", "support.1", "push", "press", "u", "v"]
    results = solve(load(tmp_path, PARTS + '[[step]]\ntype = "linear_static"\n', {"of": names, **how}))
    for name in ("u", "v"):
        mine, image = last(results, name), last(results, f"{name} copy")
        assert np.linalg.norm(mine) > 1e-7
        assert image == pytest.approx(Q @ mine, rel=1e-7, abs=1e-9 * np.linalg.norm(mine))


MECHANISM = """
gravity = [0, 0, 0]
[[body]]
name = "crank"
position = [0.2, 0.1, 0.3]
mass = 2.0
inertia = [[0.4, 0.03, 0.05], [0.03, 0.5, 0.02], [0.05, 0.02, 0.3]]
rotation = [0.3, 0.2, -0.4]
[[body]]
name = "nut"
position = [1.0, 0.2, 0.1]
mass = 1.0
inertia = [0.2, 0.3, 0.4]
[[joint]]
name = "hinge"
type = "revolute"
a = "ground"
b = "crank"
point = [0, 0, 0]
axis = [0.2, 0.1, 1.0]
function = "3*t + 10*t**2"
[[joint]]
name = "thread"
type = "screw"
a = "crank"
b = "nut"
point = [1.0, 0.2, 0.1]
axis = [1.0, 0.3, 0.2]
lead = 0.3
[[force]]
name = "push"
on = "nut"
vector = [3.0, -20.0, 5.0]
[[moment]]
name = "twist"
on = "nut"
value = [4.0, 3.0, -2.0]
[[sensor]]
name = "x"
kind = "displacement"
on = "nut"
[[sensor]]
name = "r"
kind = "rotation"
on = "crank"
[[step]]
type = "transient"
duration = 0.3
h = 0.01
"""


@pytest.mark.parametrize("move", ["mirror", "both"])
def test_mechanisms_move_as_their_images(move, tmp_path):
    """Full inertia, body axes, a driven hinge; a screw becomes left-handed in the mirror."""
    how, Q = MOVES[move]
    results = solve(
        load(tmp_path, MECHANISM, {"of": ["crank", "nut", "hinge", "thread", "push", "twist", "x", "r"], **how})
    )
    for name, turn in (("x", Q), ("r", np.linalg.det(Q) * Q)):
        mine, image = (np.asarray(results.sensor(n, 0)) for n in (name, f"{name} copy"))
        assert np.abs(mine).max() > 0.3
        assert image == pytest.approx(mine @ turn.T, abs=1e-7)


PLANE = """
dimension = 2
[[body]]
name = "arm"
position = [1.0, 0.5]
mass = 2.0
inertia = 0.4
angle = 0.3
[[joint]]
name = "pin"
type = "revolute"
a = "ground"
b = "arm"
point = [0.2, 0.1]
[[joint_spring]]
name = "spring"
joint = "pin"
stiffness = 20.0
free = 0.4
table = [[-1.0, -30.0], [0.0, 0.0], [0.5, 5.0], [1.0, 40.0]]
preload = 1.0
[[moment]]
name = "twist"
on = "arm"
value = 12.0
function = "sin(10*t)"
[[force]]
name = "push"
on = "arm"
vector = [3.0, 8.0]
point = [1.5, 0.9]
[[sensor]]
name = "x"
kind = "displacement"
on = "arm"
[[sensor]]
name = "r"
kind = "rotation"
on = "arm"
[[step]]
type = "transient"
duration = 0.4
h = 0.01
"""


def test_plane_mechanisms_move_as_their_images(tmp_path):
    n = np.array([0.6, 0.8])
    Q = np.eye(2) - 2.0 * np.outer(n, n)
    names = ["arm", "pin", "spring", "twist", "push", "x", "r"]
    copy = {"of": names, "prefix": "other ", "mirror": {"normal": n.tolist(), "point": [-2.0, 0.0]}}
    results = solve(load(tmp_path, PLANE, copy))
    mine, image = (np.asarray(results.sensor(k, 0)) for k in ("x", "other x"))
    assert np.abs(mine).max() > 0.1
    assert image == pytest.approx(mine @ Q, abs=1e-8)
    mine, image = (np.asarray(results.sensor(k, 0)) for k in ("r", "other r"))
    assert image == pytest.approx(-mine, abs=1e-8)


HAND = """
[material.m]
E = 2e11
density = 8e3
[section.s]
shape = "circle"
diameter = 0.02
[mesh.leg.line]
start = [1.0, 0.5, 0.0]
end = [1.0, 0.5, -1.0]
n = 2
{mesh}
[[body]]
name = "hull"
position = [0.0, 0.0, 0.5]
mass = 10.0
inertia = [1.0, 2.0, 3.0]
{body}
[[beam]]
name = "leg"
on = "leg"
material = "m"
section = "s"
orientation = [1, 0, 0]
{beam}
[[joint]]
name = "hip"
type = "revolute"
a = "hull"
b = "leg:start"
axis = [0, 0.6, 0.8]
{joint}
[[force]]
name = "step"
on = "leg:end"
vector = [1, 2, 3]
{force}
"""
BY_HAND = {
    "mesh": "[mesh.'left leg'.line]\nstart = [1.0, -0.5, 0.0]\nend = [1.0, -0.5, -1.0]\nn = 2\n",
    "body": "",
    "beam": "[[beam]]\nname = 'left leg'\non = 'left leg'\nmaterial = 'm'\nsection = 's'\norientation = [1, 0, 0]\n",
    # the axis of a hinge is axial: mirrored at y = 0 its y stays, x and z change signs
    "joint": "[[joint]]\nname = 'left hip'\ntype = 'revolute'\na = 'hull'\nb = 'left leg:start'\n"
    "axis = [0, 0.6, -0.8]\n",
    "force": "[[force]]\nname = 'left step'\non = 'left leg:end'\nvector = [1, -2, 3]\n",
}


def test_a_mirrored_leg_is_that_written_by_hand(tmp_path):
    """What is not copied, the hull, is shared."""
    empty = dict.fromkeys(BY_HAND, "")
    copy = {"of": ["leg", "hip", "step"], "prefix": "left ", "mirror": {"normal": [0, 1, 0]}}
    model = load(tmp_path, HAND.format(**empty), copy)
    hand = load(tmp_path, HAND.format(**BY_HAND), name="hand.toml")
    assert model.positions == pytest.approx(hand.positions, abs=1e-15)
    (mine, _, _), (its, _, _) = arrays(model.compile()), arrays(hand.compile())
    assert [b[:3] for b in mine] == [b[:3] for b in its]
    for (_, _, _, one), (_, _, _, other) in zip(mine, its, strict=True):
        assert np.array(one) == pytest.approx(np.array(other), abs=1e-12)
    model.save(tmp_path / "saved.toml")
    again = load_model(tmp_path / "saved.toml")
    assert "[[copy]]" in (tmp_path / "saved.toml").read_text(encoding="utf-8")
    assert again.specifications == model.specifications
    assert arrays(again.compile()) == arrays(model.compile())


def test_many_copies_share_their_ends_and_follow_parameters(tmp_path):
    """A chain of links, each welded to the one before, from the first; a written file keeps its copies."""
    text = """
dimension = 2
[parameters]
a = 0.5
n = 3
[material.m]
E = 2e11
density = 8e3
[section.s]
shape = "circle"
diameter = 0.02
[mesh.link.line]
start = [0, 0]
end = ["a", 0]
n = 2
[[beam]]
name = "link"
on = "link"
material = "m"
section = "s"
[[support]]
on = "link:start"
[[copy]]
of = "link"
suffix = " {i}"
count = "n"
translate = ["a", 0.0]
"""
    model = load(tmp_path, text)
    assert list(model.meshes) == ["link", "link 1", "link 2", "link 3"]
    assert model.position(model.node_of("link 3:end")).tolist() == [2.0, 0.0]
    other = load_model(tmp_path / "model.toml", {"a": 1.0, "n": 2})
    assert other.position(other.node_of("link 2:end")).tolist() == [3.0, 0.0]
    model.save(tmp_path / "saved.toml")
    saved = load_model(tmp_path / "saved.toml", {"a": 1.0})
    assert saved.position(saved.node_of("link 3:end")).tolist() == [4.0, 0.0]
    python = Model(2)
    python.material("m", E=2e11, density=8e3)
    python.section("s", "circle", diameter=0.02)
    python.line("link", (0, 0), (0, 1), 2)
    python.beams("link", on="link", material="m", section="s")
    python.fix("link:start")
    python.copy("link", mirror={"normal": (0.0, 1.0)}, share="link:start")
    assert "link:start shared copy" in python.joints
    assert python.compile().system.blocks


@pytest.mark.parametrize(
    ("copy", "message"),
    [
        ({"of": "leg"}, "lies on the original; give mirror, rotate or translate"),
        ({"of": "lek", "translate": [0, 0, 1]}, 'nothing called "lek"; there are m, s, leg, hull'),
        ({"of": "leg", "translate": [0, 1]}, "translate must have 3 numbers"),
        ({"of": "leg", "mirror": {"normal": [0, 0, 0]}}, "normal has no length"),
        ({"of": "leg", "mirror": {"normal": [0, 1, 0]}, "count": 2}, "a mirror has one image; remove count"),
        ({"of": "material.m", "translate": [0, 0, 1]}, 'Material "m" cannot be copied'),
        ({"of": "leg", "translate": [0, 0, 1], "suffix": ""}, 'the name "leg" is already taken'),
        ({"of": "leg", "translate": [0, 0, 1], "count": 2, "suffix": " b"}, 'the name "leg b" is already taken'),
        ({"of": "leg", "translate": [0, 0, 1], "share": "hull"}, '"hull" is not copied'),
        ({"of": "leg", "translate": [0, 0, 1], "sufix": "a"}, 'did you mean "suffix"'),
    ],
    ids=range(10),
)
def test_mistakes(copy, message, tmp_path):
    with pytest.raises(ModelError, match=message) as error:
        load(tmp_path, HAND.format(**dict.fromkeys(BY_HAND, "")), copy)
    assert "[[copy]]" in str(error.value)


def test_what_components_and_expressions_cannot_say_is_refused(tmp_path):
    text = FRAME.replace('on = ["frame:start", "far"]', 'on = ["frame:start", "far"]\ncomponents = ["x", "rotation z"]')
    good = {"of": OF, "rotate": {"axis": [0, 1, 0], "angle": 90.0}, "translate": [0, 5, 0]}
    support = load(tmp_path, text, good).specifications
    assert [s.components for s in support if s.owner == "Support"] == [["x", "rotation z"], ["z", "rotation x"]]
    with pytest.raises(ModelError, match='component "x" is none of the turned copy'):
        load(tmp_path, text, {**good, "rotate": {"angle": 45.0}})
    with pytest.raises(ModelError, match="orientation has expressions of coordinates"):
        load(tmp_path, FRAME.replace("[0.3, 0.2, 1.0]", '["x", 0.2, 1.0]'), good)


@pytest.mark.parametrize("kind", [k for k in CELL_KINDS if DIMENSION[k] > 1])
def test_mirrored_cells_keep_their_sense_and_facets(kind):
    plane = DIMENSION[kind] == 2
    mesh = grids.rectangle((1, 2), (2, 2), kind=kind) if plane else grids.box((1, 2, 3), (2, 1, 1), kind=kind)
    image = mesh.mirrored(np.array([1.0, 0.0, 0.0]), np.array([3.0, 0.0, 0.0]))
    for name in mesh.facet_sets:
        there = mesh.points[mesh.nodes_of(name)] * [-1, 1, 1] + [6, 0, 0]
        assert np.array_equal(np.unique(there, axis=0), np.unique(image.points[image.nodes_of(name)], axis=0))
    twice = image.mirrored(np.array([1.0, 0.0, 0.0]), np.array([3.0, 0.0, 0.0]))
    assert np.array_equal(np.sort(twice.blocks[0].cells), np.sort(mesh.blocks[0].cells))
    # corners of the image have the sense of the original: outward facets stay outwards
    for k, (_, local) in enumerate(FACETS[kind]):
        corners = list(local[: 2 if plane else {3: 3, 6: 3, 4: 4, 8: 4}[len(local)]])
        normals = []
        for m in (mesh, image):
            x = m.points[m.blocks[0].cells]
            number = k if m is mesh else int(mirrored_facets(kind)[k])
            face = x[:, list(FACETS[kind][number][1][: len(corners)])]
            across = np.cross(face[:, 1] - face[:, 0], [0, 0, 1] if plane else face[:, 2] - face[:, 0])
            normals.append(across)
        assert np.allclose(normals[1], normals[0] * [-1, 1, 1])
    assert sorted(MIRRORED[kind]) == list(range(CELL_KINDS[kind]))
