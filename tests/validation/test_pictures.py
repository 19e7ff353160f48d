"""Pictures of the validation report: what is left out of an SVG, and what must not be."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fem_mbs import draw_curves
from fem_mbs.validation.pictures import Picture, letters, picture

_SVG = """<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 40 30" xmlns="http://www.w3.org/2000/svg">
 <metadata>told by nobody</metadata>
 <defs><style type="text/css">*{{}}</style></defs>
 <g id="figure_1"><g id="text_1"><!-- 1 --><g style="fill: #333333" transform="translate(1.234567 2) scale(0.08 -0.08)">
  <defs><path id="DejaVuSans-14" d="M 794 531 \nL 1825 531 \nQ 1 -2 3 4 \nz\n" transform="scale(0.015625)"/></defs>
  <use xlink:href="#DejaVuSans-14"/><use xlink:href="#DejaVuSans-14" transform="translate(63.625 0)"/></g></g>
  <g id="line2d_1">{path}<defs><path id="m1" d="M 0 0 \nL 0 3.5 \n" style="stroke: #333333"/></defs>
  <g><use xlink:href="#m1" x="1.004" y="2" style="fill: none"/>
   <use xlink:href="#m1" x="3" y="2" style="fill: none"/></g>
  </g></g></svg>"""


def points(path: str) -> list[np.ndarray]:
    """Return the polylines of a path of absolute starts and relative lines."""
    found = []
    for part in filter(None, path.split("M")):
        start, _, rest = part.rstrip("z").partition("l")
        steps = np.array(re.findall(r"-?(?:\d+\.?\d*|\.\d+)", f"{start} {rest}"), float).reshape(-1, 2)
        found.append(np.cumsum(steps, axis=0))
    return found


def test_a_drawing_keeps_its_places_to_a_hundredth_of_a_point():
    """Also behind thousands of points: distances are those of rounded places, whose errors do not add up."""
    x = np.cumsum(np.random.default_rng(1).uniform(-3.0, 3.0, (5000, 2)), axis=0)
    data = "".join(f"{'L' if k % 2500 else 'M'} {a:.6f} {b:.6f} \n" for k, (a, b) in enumerate(x))
    made = picture(_SVG.format(path=f'<path d="{data}" style="fill: none"/>').encode(), "a & b", "k")
    path = next(item for item in re.findall(r' d="([^"]*)"', made.markup) if len(item) > 1000)
    lines = points(path)
    assert [len(line) for line in lines] == [2500, 2500]
    np.testing.assert_allclose(np.concatenate(lines), x, atol=0.0051, rtol=0.0)
    assert len(path) < 0.6 * len(data)


def test_what_nothing_refers_to_is_left_out():
    made = picture(_SVG.format(path="").encode(), 'a & "b"', "k")
    assert made.markup.startswith('<svg viewBox="0 0 40 30" role="img" aria-label="a &amp; &quot;b&quot;">')
    assert not any(word in made.markup for word in ("metadata", "figure_1", "xmlns", "<!--", "<style", "xlink"))
    assert made.markup.count('id="') == 1 and 'id="k-0"' in made.markup  # the mark alone
    assert '<g style="fill:none"><use href="#k-0" x="1" y="2"/><use href="#k-0" x="3" y="2"/></g>' in made.markup
    text = '<g style="fill:#333333" transform="translate(1.23 2) scale(0.08 -0.08)">'
    assert f'{text}<use href="#DVS-14"/><use href="#DVS-14" x="63.62"/></g>' in made.markup
    assert list(made.letters) == ["DVS-14"]
    page = letters([made, made])
    assert page.count('id="DVS-14"') == 1
    assert 'd="M794 531L1825 531Q1-2 3 4z" transform="scale(0.015625)"' in page
    with pytest.raises(ValueError, match="two outlines"):
        letters([made, Picture("", {"DVS-14": "<path/>"})])
    assert letters([]) == ""


def test_a_closed_line_goes_on_from_where_it_began():
    data = "M 1 1 \nL 5 1 \nL 5 4 \nz\nM 7 7 \nL 8 9 \nM 3 3 \nL 3 3 \n"
    made = picture(_SVG.format(path=f'<path d="{data}"/>').encode(), "", "k")
    assert 'd="M1 1l4 0 0 3zM7 7l1 2M3 3l0 0"' in made.markup
    nothing = picture(_SVG.format(path='<path d="M 3 3" style="stroke: #e4e4e4"/>').encode(), "", "k")
    assert "#e4e4e4" not in nothing.markup
    empty = picture(_SVG.format(path='<path style="stroke: #e4e4e4"/>').encode(), "", "k")  # a curve of no points
    assert "#e4e4e4" not in empty.markup


def test_a_figure_fills_its_paper():
    """The labels reach to the margins on all sides but the upper one of a figure without a title."""
    x = np.linspace(0.0, 1.0, 5000)
    svg = draw_curves("Title", [(x, 1e-3 * np.sin(40.0 * x), "one", "-"), (x, x, "", "--")], "x [m]", "y [m]")
    made = picture(svg, "Title", "k")
    assert 'viewBox="0 0 446.4 266.4"' in made.markup
    frame = points(re.findall(r' d="(M[^"]*z)"', made.markup)[1])[0]  # behind the curves
    assert frame[:, 0].max() == pytest.approx(446.4 - 3.0, abs=1.0)
    assert frame[:, 0].min() < 50.0 and frame[:, 1].min() < 25.0 and frame[:, 1].max() > 225.0
    assert len(made.markup) < 0.5 * len(svg)
