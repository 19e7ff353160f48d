"""The note on shells that are thick against the radius of their curvature."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.cli.doubts.thick_shells import doubts_of_thick_shells
from fem_mbs.validation.shell_grids import shell, square


def pipe(cell, h, n=12, **options):
    """A quarter of a pipe of radius 1 with the thickness h."""

    def place(u, v):
        return np.cos(0.5 * np.pi * u), np.sin(0.5 * np.pi * u), 1.5 * v

    return shell(square(place, n, n, cell), 2e11, 0.3, h, **options)


@pytest.mark.parametrize("cell", ["quad", "triangle"])
@pytest.mark.parametrize("n", [6, 24])
def test_thick_pipes_are_told_with_their_ratio(cell, n):
    (note,) = doubts_of_thick_shells(pipe(cell, 0.2, n))
    assert 'shell "shell": its thickness is up to 0.2 of the radius' in note
    assert "may miss 6 % of the strain energy" in note


def test_thin_ones_those_of_more_nodes_membranes_and_boxes_are_not():
    assert not list(doubts_of_thick_shells(pipe("quad", 0.08)))
    assert not list(doubts_of_thick_shells(pipe("quad8", 0.2)))
    assert not list(doubts_of_thick_shells(pipe("quad", 0.2, element="membrane")))
    box = shell(square(lambda u, v: (np.minimum(2.0 * u, 1.0), np.maximum(2.0 * u - 1.0, 0.0), v), 8, 8, "quad"),
                2e11, 0.3, 0.2)  # fmt: skip
    assert not list(doubts_of_thick_shells(box))
