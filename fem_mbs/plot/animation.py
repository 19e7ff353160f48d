"""Frames of a figure as a GIF or MP4 file."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.files import replacing
from fem_mbs.plot.axes import plain_numbers
from fem_mbs.progress import say, waiting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_movie"]


Draw = Callable[[int], list[Any]]
_FEW = 8  # pixels of a colour among those of some frames; colours of fewer take those of others


class _Camera:
    """Pictures of a figure of which only some artists change: the rest is drawn once."""

    def __init__(self, figure: Figure, draw: Draw, count: int) -> None:
        self._figure, self._draw = figure, draw
        self._canvas: Any = figure.canvas
        self.count = count
        for axes in figure.axes:
            plain_numbers(axes)
        self._canvas.draw()
        self._background = self._canvas.copy_from_bbox(figure.bbox)
        self.background = np.array(self._canvas.buffer_rgba())  # as `picture`

    def picture(self, number: int) -> np.ndarray:
        """Return frame `number` as values (height, width, 4) of red, green, blue and cover, until the next is drawn."""
        say(f"drawing frame {number + 1} of {self.count}")
        self._canvas.restore_region(self._background)
        for artist in self._draw(number):
            if hasattr(artist, "do_3d_projection"):
                artist.do_3d_projection()
            self._figure.draw_artist(artist)
        return np.asarray(self._canvas.buffer_rgba())


@waiting()
def write_movie(figure: Figure, draw: Draw, count: int, path: Path, fps: int, colours: np.ndarray) -> None:
    """Draw frames 0 .. count - 1 and write them; the file appears under its name when it is whole.

    `figure` holds what is the same in all frames; `draw` adds what belongs to one and returns its artists; `colours`
    (n, 3), from 0 to 255, are those that some frames may have.
    Raises ResultsError for an ending other than .gif and .mp4, or if the program that MP4 needs is missing or fails.
    """
    ending = path.suffix.lower()
    if ending not in (".gif", ".mp4"):
        raise ResultsError(f'Animation "{path}": unknown ending "{path.suffix}": give .gif or .mp4')
    if ending == ".mp4" and shutil.which("ffmpeg") is None:
        raise ResultsError(
            f'Animation "{path}": MP4 needs the program ffmpeg: install it, or give a path ending in .gif'
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ResultsError(f'Animation "{path}": cannot be written ({exc}): give another path') from exc
    with replacing(path, "Animation") as part:
        camera = _Camera(figure, draw, count)
        if ending == ".gif":
            _write_gif(camera, part, fps, colours)
        else:
            _write_mp4(camera, part, fps)


def _choose_colours(pixels: np.ndarray, sure: np.ndarray) -> np.ndarray:
    """Return up to 256 colours (k, 3) for pixels (n, 3) and colours (m, 3) that other frames may have.

    The commonest come as they are, then always the one that is farthest from all chosen ones, so that thin lines and
    both ends of a colour bar keep their colours.
    """
    # one number per pixel: sorting rows of three would take most of the time of a short film
    numbers = _numbered(pixels)
    found, counts = np.unique(numbers, return_counts=True)
    seen = counts >= np.minimum(_FEW, counts.max())
    found = np.concatenate([found[seen], _numbered(sure)])
    counts = np.concatenate([counts[seen], np.zeros(len(sure), int)])
    colours = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1).astype(np.uint8)
    common = np.argsort(-counts, kind="stable")[:32]
    chosen = list(common)
    points = colours.astype(np.float32)
    distance = np.full(len(points), np.inf, np.float32)
    for index in common:
        distance = np.minimum(distance, ((points - points[index]) ** 2).sum(axis=1))
    while len(chosen) < min(256, len(points)):
        index = int(np.argmax(distance))
        chosen.append(index)
        distance = np.minimum(distance, ((points - points[index]) ** 2).sum(axis=1))
    return colours[chosen]


def _numbered(colours: np.ndarray) -> np.ndarray:
    """Return one number for each colour (n, 3)."""
    red, green, blue = colours.astype(np.uint32).T
    return red << 16 | green << 8 | blue


class _Palette:
    """The numbers of the nearest of some colours (n, 3), found for each colour when it first occurs."""

    def __init__(self, colours: np.ndarray) -> None:
        self._colours = colours.astype(np.float32)
        self._found = np.full(1 << 16, -1, np.int16)  # by 5 bits of red, 6 of green and 5 of blue

    def numbers(self, colours: np.ndarray) -> np.ndarray:
        """Return the numbers in the palette (n,) of pixels (n,), whose lowest byte is red."""
        bits = (colours & 0xF8) << 8 | (colours >> 5) & 0x7E0 | (colours >> 19) & 0x1F
        numbers = self._found[bits]
        new = np.unique(bits[numbers < 0])
        if len(new):
            levels = np.stack((new >> 11, new >> 5 & 0x3F, new & 0x1F), axis=1)
            values = (levels * 255 / np.array((31, 63, 31))).astype(np.float32)
            distance = (self._colours**2).sum(axis=1) - 2 * values @ self._colours.T
            self._found[new] = distance.argmin(axis=1)
            numbers = self._found[bits]
        return numbers.astype(np.uint8)


def _write_gif(camera: _Camera, path: Path, fps: int, sure: np.ndarray) -> None:
    """Write a GIF with one palette and no dithering: no flicker, and unchanged areas cost no bytes."""
    from PIL import Image

    sample = np.unique(np.linspace(0, camera.count - 1, 8).astype(int))
    pixels = np.concatenate([camera.picture(int(number))[..., :3].reshape(-1, 3) for number in sample])
    colours = _choose_colours(pixels, sure)
    palette = _Palette(colours)
    still = camera.background.view("<u4")[..., 0]
    numbered = palette.numbers(still.ravel())

    def frames() -> Iterator[Any]:
        for number in range(camera.count):
            colour = camera.picture(number).view("<u4")[..., 0]
            moved = np.flatnonzero(colour != still)  # few: lines on paper
            numbers = numbered.copy()
            numbers[moved] = palette.numbers(colour.ravel()[moved])
            image = Image.fromarray(numbers.reshape(still.shape))
            image.putpalette(colours.ravel().tolist())
            yield image

    pictures = frames()
    duration = max(20, round(100 / fps) * 10)  # the format counts in hundredths of a second
    options = {"duration": duration, "loop": 0, "optimize": False, "disposal": 1}
    next(pictures).save(path, format="GIF", save_all=True, append_images=pictures, **options)


def _write_mp4(camera: _Camera, path: Path, fps: int) -> None:
    process = None
    try:
        for picture in map(camera.picture, range(camera.count)):
            height, width = picture.shape[0] // 2 * 2, picture.shape[1] // 2 * 2  # the codec wants even numbers
            if process is None:
                command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
                command += [
                    "-s",
                    f"{width}x{height}",
                    "-r",
                    str(fps),
                    "-i",
                    "-",
                    "-an",
                    "-c:v",
                    "libx264",
                    "-crf",
                    "18",
                ]
                command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", str(path)]
                process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            assert process.stdin is not None
            process.stdin.write(np.ascontiguousarray(picture[:height, :width, :3]).tobytes())
    except BrokenPipeError:
        pass  # ffmpeg has stopped; its message follows
    finally:
        said = process.communicate()[1].decode(errors="replace").strip() if process is not None else ""
    if process is not None and process.returncode != 0:
        raise OSError(f"ffmpeg: {said or 'failed'}")
