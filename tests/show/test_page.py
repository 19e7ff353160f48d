"""The page holds what the model and its results hold, in one file, for every browser."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from drawn_models import frame
from places import ROOT
from solid_meshes import box_mesh
from stability_results import Overhung, write_modes

from fem_mbs import InputError, Model, ModelError, Results, ResultsError, solve
from fem_mbs.analysis.header import make_header
from fem_mbs.cli.show import show_file
from fem_mbs.decks.notes import Accept
from fem_mbs.plot.scene import Scene
from fem_mbs.results.writer import ResultsWriter
from fem_mbs.show.content import page_content
from fem_mbs.show.page import View, html_page, write_page, write_picture

FRAMES = 4
RNG = np.random.default_rng(5)


def data_of(page: str) -> dict:
    """The content of a page."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def array(packed: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["data"]), f"<{packed['type']}")


def machine() -> Model:
    m = frame()
    m.mesh("lump", box_mesh("hexahedron20", (1, 1, 1), (0.5, 0.5, 0.5), place=(0.0, 2.0, 0.0)))
    m.solids("lump", "lump", material="steel")
    m.fix("lump:x0")
    m.body("wheel", (0.0, 0.0, 2.0), 1.0, (1.0, 1.0, 1.0), rotation=(0.4, 0.0, 0.0),
           visual={"shape": "box", "size": [0.1, 0.2, 0.3], "position": [0.5, 0.0, 0.0]})  # fmt: skip
    m.spring("strut", "wheel", "rod:end", 10.0, 1.0, point_a=(0.0, 0.5, 2.0))
    m.force("push", "rod:end", (0.0, 0.0, -5.0))
    return m


def write_swing(directory: Path) -> Results:
    """Frames of the machine with displacements, rotations, stresses and moments by chance."""
    header = make_header(machine().compile(stepping=False))
    n = len(header["nodes"])
    writer = ResultsWriter(directory, header)
    writer.begin_step("swing", "transient", {})
    for k in range(FRAMES):
        frames = {
            "time": [0.5 * k],
            "displacement": 0.1 * RNG.normal(size=(1, n, 3)),
            "rotation": RNG.normal(size=(1, n, 3)),
            "von Mises stress [Pa]": 1e6 * RNG.random((1, n)),
            "rod/M [N m]": RNG.normal(size=(1, 4)),
        }
        writer.append({"time": [0.5 * k]}, frames)
    writer.end_step({"type": "transient"})
    writer.close({"title": "", "steps": []})
    return Results.open(directory)


@pytest.fixture(scope="module")
def swing(tmp_path_factory):
    return write_swing(tmp_path_factory.mktemp("swing"))


def test_page_of_a_model_holds_all_of_it():
    m = machine()
    content = data_of(html_page(m))
    assert {symbol["name"] for symbol in content["symbols"] if symbol["layer"] != "supports"} == {
        "pivot", "base", "strut", "push",
    }  # fmt: skip
    assert {body["name"] for body in content["bodies"]} == {"one", "two", "wheel"}
    assert {s["name"] for s in content["sets"]} >= {"rod:all", "rod:start", "rod:end", "lump:x0", "lump:x1 faces"}
    numbers = array(content["nodes"]["number"])
    x = array(content["nodes"]["x"]).reshape(-1, 3) + content["origin"]
    np.testing.assert_allclose(x, m.positions[numbers], atol=1e-6)
    (rod,) = content["lines"]
    np.testing.assert_array_equal(numbers[array(rod["cells"]).reshape(-1, 2)], m.groups["rod"])
    surface = content["surface"]
    vertices = array(surface["vertices"])
    corners = x[vertices[array(surface["triangles"]).reshape(-1, 3)]]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2.0
    assert area == pytest.approx(6 * 0.25, rel=1e-5)
    assert content["gravity"] == [0.0, 0.0, -9.81]
    (shape,) = content["meshes"]
    box = array(shape["vertices"]).reshape(-1, 3)
    c, s = np.cos(0.4), np.sin(0.4)
    corner = [0.55, c * 0.1 - s * 0.15, s * 0.1 + c * 0.15]
    assert np.linalg.norm(box - corner, axis=1).min() < 1e-6


def test_page_needs_no_other_file():
    page = html_page(machine())
    assert not re.search(r"https?://|<link|<img|\bsrc=|@import|\bfetch\(|XMLHttpRequest|\bimport\(", page)
    assert page.count("</script>") == 2


def test_names_cannot_leave_the_data():
    m = Model(3, title="</script><script>alert(1)</script> @SCRIPT@")
    m.body("</script>", (0.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0))
    page = html_page(m)
    assert page.count("</script>") == 2
    content = data_of(page)
    assert content["title"] == m.title
    assert content["bodies"][0]["name"] == "</script>"


def test_page_of_results_holds_its_frames(swing):
    content = data_of(html_page(swing))
    (step,) = content["steps"]
    numbers = array(content["nodes"]["number"])
    turning = numbers[array(content["nodes"]["turning"])]
    u = array(step["u"]).reshape(FRAMES, -1, 3)
    turn = array(step["turn"]).reshape(FRAMES, -1, 3)
    for k in range(FRAMES):
        np.testing.assert_allclose(u[k], swing.steps[0].frames["displacement"][k][numbers], rtol=1e-6)
        np.testing.assert_allclose(turn[k], swing.steps[0].frames["rotation"][k][turning], rtol=1e-6)
    np.testing.assert_allclose(array(step["times"]), 0.5 * np.arange(FRAMES))
    assert step["titles"][-1] == "Time 1.5 s"
    fields = {field["label"]: field for field in step["fields"]}
    stress = array(fields["von Mises stress [Pa]"]["surface"]).reshape(FRAMES, -1)
    vertices = numbers[array(content["surface"]["vertices"])]
    np.testing.assert_allclose(stress[2], swing.steps[0].frames["von Mises stress [Pa]"][2][vertices], rtol=1e-6)
    assert step["fields"][step["field"]]["label"] == "von Mises stress [Pa]"
    moment = array(fields["Bending moment [N m]"]["lines"]["rod"]).reshape(FRAMES, 4, 2)
    np.testing.assert_allclose(moment[1, :, 0], swing.steps[0].frames["rod/M [N m]"][1], rtol=1e-6)


def test_many_frames_are_thinned_and_the_page_tells(tmp_path, swing, monkeypatch):
    monkeypatch.setattr("fem_mbs.show.content._MOST_FRAMES", 2)
    content = data_of(html_page(swing))
    (step,) = content["steps"]
    assert array(step["times"]).tolist() == [0.0, 1.5]
    assert content["notes"] == ['step "swing": 2 of 4 frames']


def test_shapes_are_told_from_the_state_that_they_are_about(tmp_path):
    results = write_modes(tmp_path, Overhung(), 300.0, bent=0.02)
    content = data_of(html_page(results))
    numbers = array(content["nodes"]["number"])
    (modes,) = [step for step in content["steps"] if step["shapes"]]
    scene = Scene(results, next(step for step in results.steps if step.name == modes["name"]))
    for frame_, phase in ((0, 0.0), (1, 0.7)):
        scene.magnify(2.0, phase)
        u = np.cos(phase) * array(modes["u"]).reshape(scene.frames, -1, 3)[frame_]
        u = u - np.sin(phase) * array(modes["u_imaginary"]).reshape(scene.frames, -1, 3)[frame_]
        x = array(content["nodes"]["x"]).reshape(-1, 3) + content["origin"] + array(modes["rest"]).reshape(-1, 3)
        np.testing.assert_allclose(x + 2.0 * u, scene.state(frame_)[0][numbers], atol=1e-6)
    assert "Hz" in modes["titles"][0]


@pytest.mark.parametrize("dim", [2, 3])
def test_modes_of_beams_are_coloured_by_the_moments_of_their_shapes(dim):
    """A cantilever whose first mode moves its end by W has the moment EI k^2 W at the clamp, k L = 1.8751."""
    m = Model(dim)
    m.section("s", "stiffness", EA=1e8, rhoA=3.0, **({"GJ": 1e3, "EIy": 1e5, "EIz": 2e3} if dim == 3 else {"EI": 2e3}))
    m.line("l", (0.0,) * dim, (1.0,) + (0.0,) * (dim - 1), n=16)
    m.beams("l", on="l", section="s")
    m.fix("l:start")
    m.modes_step(1)
    results = solve(m)
    frames = results.steps[0].frames
    tip = np.linalg.norm(np.asarray(frames["displacement"])[0, -1])
    root = np.abs(np.asarray(frames["l/M_p [N m]" if dim == 2 else "l/Mz 1 [N m]"])[0]).max()
    assert root == pytest.approx(2e3 * 1.875104069**2 * tip, rel=1e-3)
    page = page_content(results)["steps"][0]
    field = page["fields"][page["field"]]
    assert field["label"].startswith("Bending moment") and max(np.abs(field["range"])) == pytest.approx(root, rel=1e-6)
    assert not any("energy" in field["label"].lower() for field in page["fields"])


def test_errors_of_pages(tmp_path, swing):
    with pytest.raises(ResultsError, match="step"):
        html_page(swing, step=3)
    other = tmp_path / "notes.html"
    other.write_text("mine")
    with pytest.raises(ResultsError, match="another file of this name"):
        write_page(swing, other)
    assert write_page(swing, tmp_path / "page.html") == write_page(swing, tmp_path / "page.html")
    assert other.read_text() == "mine"


def test_views_of_notebooks(swing):
    for thing in (machine(), swing):
        view = thing.show()
        assert isinstance(view, View)
        (document,) = re.findall(r'srcdoc="([^"]*)"', view._repr_html_())
        assert data_of(html.unescape(document)) == data_of(view.html)


def test_still_pictures(tmp_path, swing):
    for thing in (machine(), swing):
        assert write_picture(thing, tmp_path / "picture.png").stat().st_size > 10_000


# ------------------------------------------------------------------------------------------------ command line


def show(*arguments: object, cwd: Path, cache: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    environment.pop("DISPLAY", None)
    command = [sys.executable, "-c", "from fem_mbs.cli.main import main; main()", "show", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=120, check=False)


def test_show_compiles_nothing(tmp_path):
    done = show(ROOT / "examples/bracket/model.toml", cwd=tmp_path, cache=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["model-view.html"]
    content = data_of((tmp_path / "model-view.html").read_text(encoding="utf-8"))
    assert content["title"] == "Bracket"
    assert content["surface"] is not None
    assert not list(tmp_path.rglob("*.nb*"))


def test_wrong_files_name_place_and_remedy(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(
        'dimension = 3\n[[body]]\nname = "a"\nposition = [0, 0, 0]\nmass = 1.0\ninertia = [1, 1, 1]\n'
        'visual = "none.stl"\n'
    )
    with pytest.raises(ModelError, match=r'\[\[body\]\] "a": visual: .*none.stl: there is no such file'):
        show_file(path, None, False, None, False, Accept.NORMAL)
    assert not (tmp_path / "model-view.html").exists()
    with pytest.raises(InputError, match="--step is for results"):
        show_file(path, None, False, 1, False, Accept.NORMAL)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*/model.toml")), ids=lambda path: path.parent.name)
def test_examples_have_pages(path):
    from fem_mbs import load_model

    model = load_model(path)
    content = data_of(html_page(model))
    assert len(content["bodies"]) == len(model.bodies)
    assert {symbol["name"] for symbol in content["symbols"] if symbol["layer"] == "joints"} == set(model.joints)


# ------------------------------------------------------------------------------------------------ in a browser

CHROME = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

PROBE = """<script>
const F = window.femMbs, found = {};
F.chooseStep(0); F.frame(2); F.draw();
found.positions = Array.from(F.positions);
const wheel = F.data.bodies.find((b) => b.name === "wheel");
found.point = F.place(wheel.node, wheel.points[0]);
const strut = F.data.symbols.find((s) => s.name === "strut"), at = strut.ends.map(([n, o]) => F.screen(F.place(n, o)));
F.state.layers.joints = false;
found.strut = F.pick((at[0][0] + at[1][0]) / 2, (at[0][1] + at[1][1]) / 2);
const gl = document.getElementById("view").getContext("webgl2");
F.state.layers.labels = false; F.draw();
const c = gl.canvas, pixels = new Uint8Array(4 * c.width * c.height);
gl.readPixels(0, 0, c.width, c.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
found.drawn = 0;
for (let i = 0; i < pixels.length; i += 4) if (pixels[i] + pixels[i + 1] + pixels[i + 2] < 740) found.drawn++;
found.legend = document.getElementById("legend-title").textContent;
found.time = document.getElementById("time").textContent;
const box = document.getElementById("layer-springs"); box.click();
found.hidden = F.state.layers.springs;
document.body.textContent = JSON.stringify(found);
</script></body>"""


def probed(page: str, probe: str, folder: Path) -> dict:
    """Return what a script finds in a page that a browser shows."""
    path = folder / "probe.html"
    path.write_text(page.replace("</body>", probe), encoding="utf-8")
    command = [
        CHROME, "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader", f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=3000",
        "--window-size=900,700", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    (text,) = re.findall(r"<body[^>]*>(\{.*\})\s*</body>", done.stdout, re.DOTALL)
    return json.loads(html.unescape(text))


@pytest.mark.skipif(CHROME is None, reason="no Chromium on this machine")
def test_page_in_a_browser(tmp_path, swing):
    page = html_page(swing)
    found = probed(page, PROBE, tmp_path)
    content = data_of(page)
    numbers = array(content["nodes"]["number"])
    scene = Scene(swing, swing.steps[0])
    scene.magnify(content["steps"][0]["scale"])
    position, _ = scene.state(2)
    got = np.reshape(found["positions"], (-1, 3)) + content["origin"]
    np.testing.assert_allclose(got, position[numbers], atol=1e-5)
    wheel = next(k for k, body in enumerate(scene.bodies) if body["name"] == "wheel")
    np.testing.assert_allclose(
        np.array(found["point"]) + content["origin"], scene.body_lines(2)[wheel][1][0], atol=1e-5
    )
    assert found["strut"].startswith("strut: spring")
    assert "stiffness = 10" in found["strut"]
    assert found["drawn"] > 1000
    assert found["legend"] == "von Mises stress [Pa]"
    assert found["time"] == "Time 1 s"
    assert found["hidden"] is False


LINES = """<script>
const F = window.femMbs;
F.chooseStep(0); F.frame(0); F.phase(0); F.draw();
document.body.textContent = JSON.stringify({ points: [0, 1, 2, 3].map((e) => F.line(0, e)) });
</script></body>"""


@pytest.mark.skipif(CHROME is None, reason="no Chromium on this machine")
def test_twisted_shapes_have_the_lines_of_figures_in_a_browser(tmp_path):
    m = Model(3)
    m.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.section("flat", "rectangle", width=0.02, height=0.01)
    m.line("bar", (0, 0, 0), (1, 0, 0), 4)
    m.beams("bar", "bar", "flat", "steel")
    m.fix("bar:start")
    m.point_mass("tip", "bar:end", 1.0, offset=(0.0, 0.4, 0.0))  # twists the bar
    m.modes_step(1)
    results = solve(m)
    turns = np.linalg.norm(np.asarray(results.steps[0].frames["rotation"][0]), axis=1)
    assert turns.max() > 0.15  # else the lines would not differ from those by finite rotations
    page = html_page(results)
    content = data_of(page)
    scene = Scene(results, results.steps[0])
    scene.magnify(content["steps"][0]["scale"])
    ((_, points, _),) = scene.curves(0)
    got = np.array(probed(page, LINES, tmp_path)["points"]) + content["origin"]
    np.testing.assert_allclose(got[:, [0, -1]], points[:, [0, -1]], atol=1e-6)
    middle = got.shape[1] // 2, points.shape[1] // 2
    np.testing.assert_allclose(got[:, middle[0]], points[:, middle[1]], atol=1e-6)
