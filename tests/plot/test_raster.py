"""Pictures of surfaces with a depth buffer, and what they say of the largest value."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.plot.raster import Canvas

WHITE, BLACK = np.ones(3), np.zeros(3)
GREYS = np.repeat(np.linspace(0.0, 1.0, 256)[:, None], 3, axis=1)


def square(z: float, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    return np.array([[low, low, z], [high, low, z], [high, high, z], [low, high, z], [low, high, z]])


def canvas(width: int = 40) -> Canvas:
    return Canvas(np.zeros(2), np.ones(2), width)


def test_values_are_linear_between_corners():
    c = canvas()
    c.fill(square(0.0)[None], np.array([[0.0, 1.0, 1.0, 0.0, 0.0]]), np.ones(1))
    picture = c.image(GREYS, 0.0, 1.0, WHITE, BLACK)
    x = (np.arange(40) + 0.5) / 40
    assert picture.shape == (40, 40, 4) and (picture[..., 3] == 255).all()
    np.testing.assert_allclose(picture[..., 0] / 255.0, np.broadcast_to(x, (40, 40)), atol=0.01)


def test_what_is_nearer_to_the_eye_hides_the_rest_in_any_order():
    near, far = square(1.0, 0.25, 0.75), square(0.0)
    for order in ([near, far], [far, near]):
        c = canvas()
        values = np.array([[1.0 if points is near else 0.0] * 5 for points in order])
        c.fill(np.array(order), values, np.ones(2))
        c.stroke(np.array([[[0.0, 0.5, 0.0], [1.0, 0.5, 0.0]]]), np.ones(1), np.full(1, 3.0), 0.1)
        picture = c.image(GREYS, 0.0, 1.0, WHITE, np.array([1.0, 0.0, 0.0]))
        assert picture[20, 20, :3].tolist() == [255, 255, 255]  # the line lies behind
        assert picture[20, 4, 0] > 200 and picture[20, 4, 1] < 60  # and is seen beside it
        assert picture[4, 4, :3].tolist() == [0, 0, 0]
        assert c.seen(np.array([[0.5, 0.5, 0.0], [0.1, 0.1, 0.0], [0.5, 0.5, 1.0]]), 0.1).tolist() == [
            False,
            True,
            True,
        ]


def test_light_missing_values_and_the_paper():
    c = canvas()
    c.fill(square(0.0, 0.0, 0.5)[None], np.full((1, 5), np.nan), np.array([0.5]))
    picture = c.image(GREYS, 0.0, 1.0, np.array([0.8, 0.4, 0.0]), BLACK)
    assert picture[5, 5, :3] == pytest.approx([102, 51, 0], abs=1) and picture[30, 30, 3] == 0
    assert (picture[..., 3] == 255).sum() == 20 * 20
