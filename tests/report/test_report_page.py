"""The report of a run: one file that needs no other, with all numbers, figures and reservations."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pytest

from fem_mbs import Model, run, solve
from fem_mbs.errors import ResultsError
from fem_mbs.plot import figures
from fem_mbs.plot.marks import mark_text, marks_of
from fem_mbs.results.reader import Results

VOID = ("meta", "img", "br", "link")


class Tags(HTMLParser):
    """Collects tags and texts; checks that tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.images: list[str] = []
        self.links: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.images += [given["src"]] if tag == "img" else []
        self.links += [given[key] for key in ("href", "src") if key in given and tag != "img"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def spring(departs: bool = False):
    m = Model(2, title="A <spring> & more")
    m.units(length="mm", force="kN")
    m.node("wall", (0.0, 0.0))
    m.node("mass", (1.0, 0.0))
    m.point_mass("mass", "mass", 2.0)
    m.fix("wall")
    m.fix("mass", ["y"])
    m.spring("spring", "wall", "mass", stiffness=8e5)
    m.force("push", "mass", (1.0, 0.0), 4000.0)
    m.sensor("place", "displacement", on="mass")
    m.static_step(increments=4, name="pull")
    if departs:
        m.departures.append("*FILM is left out")
    return m


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return run(spring(departs=True), tmp_path_factory.mktemp("report") / "out").folder()


def test_one_file_with_numbers_in_units_of_display(folder):
    path = Results.open(folder).write_report()
    text = path.read_text(encoding="utf-8")
    page = Tags(text)
    assert "A &lt;spring&gt; &amp; more" in text and "<script" not in text
    assert all(link.startswith("#") for link in page.links)
    assert len(page.images) >= 3  # model, sensors, deformed shape
    for image in page.images:
        kind, data = re.fullmatch(r"data:image/(svg\+xml|png);base64,(.+)", image).groups()
        head = base64.b64decode(data)[:200]
        assert head.startswith(b"\x89PNG") if kind == "png" else b"<?xml" in head
    at = next(k for k, cell in enumerate(page.cells) if cell.startswith("place"))
    assert page.cells[at + 1 : at + 3] == ["displacement", "mm"]
    assert [float(v) for v in page.cells[at + 3 : at + 7]] == pytest.approx([0.0, 0.0, 5.0, 5.0], abs=1e-9)


def test_reservations_stand_first_and_in_every_figure(folder, monkeypatch, tmp_path):
    results = Results.open(folder)
    assert results.header["departures"] == ["*FILM is left out"]  # of results.h5
    assert marks_of(results) == ["not the deck's results: *FILM is left out"]
    text = results.write_report().read_text(encoding="utf-8")
    assert text.index("*FILM is left out") < text.index('id="model"')
    told = []
    for room in ("series", "model"):
        monkeypatch.setattr(f"fem_mbs.plot.{room}.save_figure", lambda figure, path: told.append(figure) or path)
    assert len(figures.plot_all(results, tmp_path)) == len(told) >= 2
    for figure in told:
        assert [word.get_text() for word in figure.texts if "*FILM" in word.get_text()]
    clean = solve(spring())
    assert marks_of(clean) == [] and mark_text(clean) == ""


def test_results_in_memory_have_reports_and_files_of_others_stay(tmp_path):
    results = solve(spring())
    text = results.write_report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "in memory" in text and "*FILM" not in text
    results.write_report(tmp_path / "a.html")
    (tmp_path / "b.html").write_text("mine")
    with pytest.raises(ResultsError, match="another file of this name"):
        results.write_report(tmp_path / "b.html")
    assert (tmp_path / "b.html").read_text() == "mine"
    with pytest.raises(ResultsError, match="in memory"):
        results.write_report()


@pytest.mark.everyday
def test_commands(folder, tmp_path, fem_mbs):
    code, out, err = fem_mbs("report", folder, "-o", tmp_path / "r.html")
    assert (code, err) == (0, "") and out.split() == [str(tmp_path / "r.html")]
    assert (tmp_path / "r.html").stat().st_size > 10_000
    code, out, err = fem_mbs("plot", folder, "-o", tmp_path, "--format", "svg")
    assert (code, err) == (0, "") and "sensors-1-pull.svg" in out
    code, _, err = fem_mbs("plot", folder, "--format", "gif")
    assert code == 2 and "give one of png, svg, pdf" in err


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_figures_in_other_formats(folder, tmp_path, form):
    paths = figures.plot_all(Results.open(folder), tmp_path, form)
    assert {path.suffix for path in paths} == {f".{form}"}
    assert all(path.read_bytes()[:5] in (b"<?xml", b"%PDF-") for path in paths)
    with pytest.raises(ResultsError, match="give one of png, svg, pdf"):
        figures.plot_all(Results.open(folder), tmp_path, "bmp")
