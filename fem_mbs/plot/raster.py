"""Pictures of surfaces: facets with values at their corners, hidden parts left out by a depth buffer.

Values are interpolated from pixel to pixel before they become colours, so that contours are smooth however coarse the
mesh is.  A picture is drawn with twice the wanted resolution, and averaged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist, allow_rasterization

from fem_mbs.contract import inner, kernel

__all__ = ["Canvas", "Pixels"]

_FINE = 2  # samples per pixel and direction


class Canvas:
    """A picture in the making: depth, value, light and ink at each sample.

    Args:
        low, high: corners (2,) of the window, in the units of the points.
        width: of the picture [pixels].
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, width: int) -> None:
        span = np.maximum(high - low, 1e-300)
        self._low, self._scale = np.asarray(low, float), _FINE * width / span[0]
        rows = max(2, round(width * span[1] / span[0]))
        self.shape = rows, width
        fine = (_FINE * rows, _FINE * width)
        self._depth = np.full(fine, -np.inf, np.float32)
        self._value = np.full(fine, np.nan, np.float32)
        self._light = np.ones(fine, np.float32)
        self._ink = np.zeros(fine, np.float32)

    def _placed(self, points: np.ndarray) -> np.ndarray:
        """Return points (..., 3) with the first two coordinates in samples."""
        placed = np.array(points, np.float64)
        placed[..., :2] = (placed[..., :2] - self._low) * self._scale
        return placed

    def fill(self, polygons: np.ndarray, values: np.ndarray, light: np.ndarray) -> None:
        """Draw polygons (m, v, 3) of places (x, y) and heights towards the eye, with values (m, v) at their corners and
        the light (m,) on each; polygons with fewer corners repeat their last one."""
        arrays = self._depth, self._value, self._light
        _fill(self._placed(polygons), np.asarray(values, np.float64), np.asarray(light, np.float64), *arrays)

    def stroke(self, pieces: np.ndarray, ink: np.ndarray, width: np.ndarray, lift: float) -> None:
        """Draw what is seen of straight lines (n, 2, 3), lifted towards the eye, with darkness (n,) from 0 to 1 and
        widths (n,) in pixels."""
        _stroke(self._placed(pieces), ink.astype(float), 0.5 * _FINE * width, lift, self._depth, self._ink)

    def seen(self, points: np.ndarray, lift: float) -> np.ndarray:
        """Return which of some points (n, 3) nothing hides that is nearer to the eye by more than ``lift``."""
        placed = self._placed(points)
        column, row = (np.clip(placed[:, k].astype(int), 0, self._depth.shape[1 - k] - 1) for k in (0, 1))
        return placed[:, 2] + lift >= self._depth[row, column]

    def image(self, colours: np.ndarray, low: float, high: float, plain: np.ndarray, dark: np.ndarray) -> np.ndarray:
        """Return the picture (rows, width, 4) as numbers from 0 to 255, the lowest row first.

        Args:
            colours: (n, 3) from 0 to 1, of values from ``low`` to ``high``.
            plain: colour (3,) where there is no value.
            dark: colour (3,) of lines.
        """
        out = np.zeros((*self.shape, 4), np.uint8)
        table = np.ascontiguousarray(colours, np.float32)
        plain, dark = np.asarray(plain, np.float32), np.asarray(dark, np.float32)
        _compose(self._depth, self._value, self._light, self._ink, table, low, high, plain, dark, out)
        return out


class Pixels(Artist):
    """A picture (rows, columns, 4) of numbers from 0 to 255, the lowest row first.

    Its lower left corner is at a whole pixel of a canvas in memory.
    """

    def __init__(self, picture: np.ndarray, left: float, bottom: float, zorder: float) -> None:
        super().__init__()
        self._picture, self._left, self._bottom = picture, left, bottom
        self.set_zorder(zorder)

    @allow_rasterization
    def draw(self, renderer: Any) -> None:
        """Draw the picture."""
        pen = renderer.new_gc()
        renderer.draw_image(pen, self._left, self._bottom, self._picture)
        pen.restore()


@inner
def _triangle(a, b, c, va, vb, vc, light, depth, value, lights):
    """Draw one triangle."""
    rows, columns = depth.shape
    area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    if area == 0.0:
        return
    left = max(0, int(np.ceil(min(a[0], b[0], c[0]) - 0.5)))
    right = min(columns - 1, int(np.floor(max(a[0], b[0], c[0]) - 0.5)))
    bottom = max(0, int(np.ceil(min(a[1], b[1], c[1]) - 0.5)))
    top = min(rows - 1, int(np.floor(max(a[1], b[1], c[1]) - 0.5)))
    slack = -1e-7
    # shares of a and b are linear: slopes along a row, and the values at its first sample
    slope_a, slope_b = (b[1] - c[1]) / area, (c[1] - a[1]) / area
    x = left + 0.5
    za, zb, zc = a[2] - c[2], b[2] - c[2], c[2]
    for row in range(bottom, top + 1):
        y = row + 0.5
        wa = ((b[0] - x) * (c[1] - y) - (c[0] - x) * (b[1] - y)) / area
        wb = ((c[0] - x) * (a[1] - y) - (a[0] - x) * (c[1] - y)) / area
        for column in range(left, right + 1):
            if wa >= slack and wb >= slack and wa + wb <= 1.0 - slack:
                z = wa * za + wb * zb + zc
                if z > depth[row, column]:
                    depth[row, column] = z
                    value[row, column] = wa * (va - vc) + wb * (vb - vc) + vc
                    lights[row, column] = light
            wa += slope_a
            wb += slope_b


@inner
def _same(a, b):
    return a[0] == b[0] and a[1] == b[1] and a[2] == b[2]


@kernel
def _fill(polygons, values, light, depth, value, lights):
    """Draw polygons: triangles as they are, others as triangles about their middle."""
    most = polygons.shape[1]
    middle = np.zeros(3)
    for m in range(len(polygons)):
        points, own = polygons[m], values[m]
        count = most
        while count > 3 and _same(points[count - 1], points[count - 2]):
            count -= 1
        if count == 3:
            _triangle(points[0], points[1], points[2], own[0], own[1], own[2], light[m], depth, value, lights)
            continue
        middle[:] = 0.0
        mean = 0.0
        for k in range(count):
            for i in range(3):
                middle[i] += points[k, i] / count
            mean += own[k] / count
        for k in range(count):
            j = (k + 1) % count
            _triangle(points[k], points[j], middle, own[k], own[j], mean, light[m], depth, value, lights)


@kernel
def _stroke(pieces, ink, half, lift, depth, inks):
    """Draw lines where they are not hidden."""
    rows, columns = depth.shape
    for n in range(len(pieces)):
        a, b = pieces[n, 0], pieces[n, 1]
        steps = int(np.ceil(max(abs(b[0] - a[0]), abs(b[1] - a[1])))) + 1
        if steps > 4 * (rows + columns):
            continue  # far outside of the window
        reach, most = int(np.ceil(half[n])), (half[n] + 0.3) ** 2
        for k in range(steps + 1):
            s = k / steps
            x, y, z = a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])
            row, column = int(np.floor(y)), int(np.floor(x))
            if 0 <= row < rows and 0 <= column < columns and z + lift < depth[row, column]:
                continue
            for i in range(max(0, row - reach), min(rows, row + reach + 1)):
                for j in range(max(0, column - reach), min(columns, column + reach + 1)):
                    near = (i + 0.5 - y) ** 2 + (j + 0.5 - x) ** 2 <= most
                    if near and ink[n] > inks[i, j] and z + lift >= depth[i, j]:
                        inks[i, j] = ink[n]


@kernel
def _compose(depth, value, lights, inks, table, low, high, plain, dark, out):
    """Colour the samples and average them."""
    rows, columns, _ = out.shape
    fine = depth.shape[0] // rows
    last = len(table) - 1
    scale = last / (high - low)
    for i in range(rows):
        for j in range(columns):
            red, green, blue, cover = 0.0, 0.0, 0.0, 0.0
            for p in range(i * fine, (i + 1) * fine):
                for q in range(j * fine, (j + 1) * fine):
                    ink = inks[p, q]
                    solid = depth[p, q] > -np.inf
                    if not solid and ink == 0.0:
                        continue
                    alpha = 1.0 if solid else ink
                    cover += alpha
                    if not solid:
                        red += ink * dark[0]
                        green += ink * dark[1]
                        blue += ink * dark[2]
                        continue
                    at = (value[p, q] - low) * scale
                    below, over = (1.0 - ink) * lights[p, q], ink
                    if np.isnan(at):
                        red += below * plain[0] + over * dark[0]
                        green += below * plain[1] + over * dark[1]
                        blue += below * plain[2] + over * dark[2]
                    else:
                        number = min(max(int(at + 0.5), 0), last)
                        red += below * table[number, 0] + over * dark[0]
                        green += below * table[number, 1] + over * dark[1]
                        blue += below * table[number, 2] + over * dark[2]
            if cover > 0.0:
                out[i, j, 0] = np.uint8(min(max(255.0 * red / cover + 0.5, 0.0), 255.0))
                out[i, j, 1] = np.uint8(min(max(255.0 * green / cover + 0.5, 0.0), 255.0))
                out[i, j, 2] = np.uint8(min(max(255.0 * blue / cover + 0.5, 0.0), 255.0))
                out[i, j, 3] = np.uint8(255.0 * cover / (fine * fine) + 0.5)
