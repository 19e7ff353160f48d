"""Put a picture into a figure pixel by pixel, without sampling it anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist, allow_rasterization

__all__ = ["Pixels"]


class Pixels(Artist):
    """A picture (rows, columns, 4) of numbers from 0 to 255, the lowest row first, whose lower left corner is at a whole
    pixel of a canvas in memory."""

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
