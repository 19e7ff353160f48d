"""What is drawn of each kind of thing: nothing is forgotten, and symbols stand where the things are."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_models import CASES, frame
from places import ROOT
from scipy.spatial.transform import Rotation

from fem_mbs import Model
from fem_mbs.analysis.header import make_header
from fem_mbs.analysis.symbols.kinds import DRAWN, JOINT_GLYPHS, Elsewhere, NotDrawn, drawn_as
from fem_mbs.analysis.symbols.symbol import LAYERS, Symbol, face_frame, symbols_of
from fem_mbs.declarations.declaration import Declaration
from fem_mbs.model.connections.joint_kinds import JOINT_KINDS
from fem_mbs.model.registry import TABLES
from fem_mbs.plot.glyphs import COLOURS, GLYPHS, lines_of
from fem_mbs.plot.scene import Scene, at_start
from fem_mbs.results.writer import check_header

SAID = (ROOT / "docs/show.md").read_text(encoding="utf-8")


def kinds(base: type = Declaration) -> set[type]:
    """All declarations of the package that are built into a model."""
    found = set()
    for kind in base.__subclasses__():
        if kind.__module__.startswith("fem_mbs.model") and hasattr(kind, "build"):
            found.add(kind)
        found |= kinds(kind)
    return found


def header_of(model: Model) -> dict:
    return check_header(make_header(model.compile(stepping=False)))


def test_every_kind_of_declaration_is_drawn_or_named_as_not_drawn():
    known = kinds()
    assert {table.declaration for table in TABLES} <= known
    header = header_of(frame())
    for kind in known:
        assert any(base in DRAWN for base in kind.__mro__), f"{kind.__name__} is a new kind: say how it is drawn"
        entry = drawn_as(kind)
        if isinstance(entry, Elsewhere):
            assert entry.entries in header, kind
        elif isinstance(entry, NotDrawn):
            assert f"| {entry.reason} |" in SAID, kind


def test_kinds_from_outside_do_not_stop_a_run():
    class Label(Declaration):
        owner = "Label"

        def build(self, building):
            pass

    m = frame()
    m.add(Label())
    assert len(header_of(m)["symbols"]) == 0


def test_a_case_for_every_maker_of_symbols():
    makers = {kind.__name__ for kind, entry in DRAWN.items() if not isinstance(entry, (Elsewhere, NotDrawn))}
    assert makers == set(CASES)


def test_every_kind_of_joint_and_every_layer_has_its_look():
    assert set(JOINT_KINDS) <= set(JOINT_GLYPHS)
    assert set(JOINT_GLYPHS.values()) <= set(GLYPHS)
    assert set(COLOURS) == set(LAYERS)
    for name, glyph in GLYPHS.items():
        assert glyph.mark or glyph.link, name
        assert all(len(point) == 3 for line in glyph.mark for point in line), name
        assert all(len(point) == 2 for line in glyph.link for point in line), name


@pytest.mark.parametrize("kind", CASES)
def test_symbols_of_each_kind(kind):
    make, count, name = CASES[kind]
    model = make()
    found = [Symbol.from_json(entry) for entry in header_of(model)["symbols"]]
    assert [symbol.name for symbol in found] == [name] * count
    for symbol in found:
        assert symbol.layer in LAYERS
        assert symbol.glyph in GLYPHS
        places = np.zeros((len(symbol.ends), 3))
        for k, (node, offset) in enumerate(symbol.ends):
            assert node < model.n_nodes
            places[k] = offset
        lines = lines_of(symbol, places + np.arange(len(places))[:, None], np.eye(3), 0.1, np.array([0.3, 0.2, 1.0]))
        assert lines and all(np.isfinite(line).all() for line in lines)


def test_symbols_stand_where_the_things_are():
    m = frame()
    m.spring("strut", "one", "two", 10.0, 1.0, point_a=(2.0, 0.0, 1.0), point_b=(3.0, 0.5, 0.0))
    m.force("push", "two", (0.0, 3.0, 4.0), point=(3.0, 1.0, 0.0), follower=True)
    m.joint("link", "distance", "rod:end", "one", point_b=(2.0, 0.0, 0.5))
    results = at_start(m)
    from fem_mbs.plot.scene import Scene

    scene = Scene(results, results.steps[0])
    by_name = {symbol.name: symbol for symbol in scene.symbols if symbol.layer != "supports"}
    np.testing.assert_allclose(scene.places(by_name["strut"], 0)[0], [[2.0, 0.0, 1.0], [3.0, 0.5, 0.0]], atol=1e-12)
    assert by_name["strut"].glyph == "spring_damper"
    np.testing.assert_allclose(scene.places(by_name["push"], 0)[0], [[3.0, 1.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(by_name["push"].axis, [0.0, 3.0, 4.0], atol=1e-12)
    assert "5 N" in by_name["push"].text
    ends = scene.places(by_name["link"], 0)[0]
    np.testing.assert_allclose(ends[np.argsort(ends[:, 0])], [[1.0, 0.0, 0.0], [2.0, 0.0, 0.5]], atol=1e-12)
    np.testing.assert_allclose(scene.places(by_name["pivot"], 0)[0], [[2.5, 0.0, 0.0]], atol=1e-12)
    assert by_name["pivot"].axis == [0.0, 1.0, 0.0]


def test_pressure_points_into_the_face():
    make, _, _ = CASES["Pressure"]
    (entry,) = header_of(make())["symbols"]
    axis = np.asarray(entry["axis"])
    np.testing.assert_allclose(axis / np.linalg.norm(axis), [-1.0, 0.0, 0.0], atol=1e-12)


def test_pressure_turns_with_its_face():
    make, _, _ = CASES["Pressure"]
    results = at_start(make())
    x = results.header["nodes"]
    turn, shift = Rotation.from_rotvec([0.2, 0.4, -0.9]).as_matrix(), np.array([1.0, 2.0, 3.0])
    results.steps[0].frames["displacement"] = (x @ turn.T + shift - x)[None]
    scene = Scene(results, results.steps[0])
    (symbol,) = [s for s in scene.symbols if s.glyph == "pressure"]
    start, before = scene.places(symbol, None)
    place, now = scene.places(symbol, 0)
    np.testing.assert_allclose(before, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(now, turn, atol=1e-12)
    np.testing.assert_allclose(place, start @ turn.T + shift, atol=1e-12)


def test_driven_angles_are_drawn_too():
    m = Model(2)
    m.body("wheel", (1.0, 0.0), 1.0, 1.0)
    m.joint("pin", "pin", "ground", "wheel", point=(0.0, 0.0))
    m.joint("drive", "angle", "ground", "wheel", function="t")
    glyphs = {symbol.name: symbol.glyph for symbol in symbols_of(header_of(m)) if symbol.layer == "joints"}
    assert glyphs == {"pin": "ball", "drive": "turn"}


def test_many_loads_do_not_fill_the_header():
    m = frame()
    for k in range(1600):
        m.force(f"force {k}", "rod:end", (0.0, 1.0, 0.0))
    assert sum(entry["layer"] == "loads" for entry in header_of(m)["symbols"]) == 1500


def test_frames_of_faces_turn_with_them():
    """Rotated corners give the rotated frame, and places of a symbol on a face follow it."""
    x = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.5, 1.0, 0.0]])
    turn = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix()
    np.testing.assert_allclose(face_frame(x @ turn.T + 5.0), turn @ face_frame(x), atol=1e-14)
    edge = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    np.testing.assert_allclose(face_frame(edge)[:, 0], [np.sqrt(0.5), np.sqrt(0.5), 0.0], atol=1e-14)
    assert np.array_equal(face_frame(np.zeros((3, 3))), np.eye(3))
