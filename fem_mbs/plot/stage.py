"""Drawing a mechanism in one pair (or triple) of axes: elements, bodies, supports, joints, colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.symbols.symbol import Symbol
from fem_mbs.plot.axes import VIEW, draw_triad, eye, hold_labels, name_axis, name_bar, pretty, straight
from fem_mbs.plot.glyphs import COLOURS, lines_of, pairs, spokes
from fem_mbs.plot.scene import NodalQuantity, Quantity, Scene, time_label
from fem_mbs.plot.style import MAP, SIGNED_MAP
from fem_mbs.plot.surface import normals
from fem_mbs.results.reader import Results, Step
from fem_mbs.units import split_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fem_mbs.plot.raster import Canvas

__all__ = ["Stage"]

_REFERENCE = "#c9ccd1"
_BODY = "#4a4f57"
_PLAIN = "#0072B2"
_SURFACE = "#8fb0cf"
_ORBIT = "#D55E00"
_SHADE = 0.72  # brightness of surfaces that face away from the light
_MOST_ORBITS = 40  # in one picture
_SYMBOL = 0.022  # size of symbols over that of the model
_MOST_NAMES = 60  # in one picture
_MOST_SYMBOLS = 12  # of supports at nodes of surfaces; more become dots


class Stage:
    """The axes in which one model is drawn, with limits that hold for all frames to be shown."""

    def __init__(self, results: Results, step: Step) -> None:
        self.scene = Scene(results, step)
        self.header = results.header
        self._units = results.units
        self._drawn: list[Any] = []
        self._quantity: Quantity | NodalQuantity | None = None
        self._trail: dict[int, np.ndarray] = {}
        self._kept: dict[tuple[int, float], np.ndarray] = {}  # pieces of symbols about their place
        self.axes: Any  # plane or spatial
        self._pixels: np.ndarray | None = None  # from axes to pixels (3, 3), once these are fixed
        self.fineness = 170.0  # pixels per inch of the pictures of surfaces
        self.marks_largest = False  # whether the largest value on surfaces is marked ...
        self.largest = ""  # ... and what the mark of the last frame says

    def set_up(
        self, figure: Figure, frames: list[int], *, title: str, quantity: Quantity | NodalQuantity | None, times: bool,
        fit: bool, place: tuple[int, int, int] = (1, 1, 1), bar: bool = True, together: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """Create the axes for the given frames, with a colour bar: of `quantity`, or of time with `times`.

        With `fit` the figure takes the height that a plane model needs; `place` is that of the axes among others (rows,
        columns, number); without `bar` the colours are those of another's bar. Axes of the frames `together` show
        one size, as long as these are not far apart.
        """
        import matplotlib as mpl
        from matplotlib.colors import Normalize

        scene = self.scene
        self._figure = figure
        self._quantity = quantity
        low, high = self._limits(frames)
        if len(together) > 1:
            all_low, all_high = self._limits(list(together))
            if np.max(all_high - all_low) < 2.5 * np.max(high - low):
                low, high = all_low, all_high
        size = float(np.max(high - low)) or 1.0
        self._size = size
        alone = place == (1, 1, 1)
        self._panel = figure.get_size_inches() / np.array(place[1::-1])
        middle, half = (low + high) / 2, np.maximum((high - low) / 2, 0.1 * size) + 0.07 * size
        if scene.flat:
            width, height = figure.get_size_inches() / np.array(place[1::-1])
            room = (width - 1.9 if alone else 0.8 * width), height - 0.9  # room beside labels and bar
            if fit:  # no empty paper beside a flat or a tall model
                figure.set_size_inches(width, float(np.clip(room[0] * half[1] / half[0] + 0.9, 2.4, 1.1 * width)))
            else:  # fill the given size
                scale = max(half[0] / room[0], half[1] / room[1])
                half[:2] = scale * np.array(room)
            axes = self.axes = figure.add_subplot(*place)
            axes.set_aspect("equal")
            axes.grid(color="#eeeeee")
        else:
            axes = self.axes = figure.add_subplot(*place, projection="3d")
            axes.computed_zorder = False  # symbols stay in front
            # matplotlib scales what it is given in place, and to the diagonal: a tall box would leave the axes
            tall = float(half[2] / np.linalg.norm(half))
            axes.set_box_aspect(half.copy(), zoom=1.2 * min(1.0, 0.6 / tall))
            axes.set_zlim(middle[2] - half[2], middle[2] + half[2])
            axes.view_init(*VIEW)
            if scene.skin is not None or not alone:
                axes.set_proj_type("ortho")  # so that hidden parts do not depend on the place
            for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
                axis.set_pane_color((1, 1, 1, 1))
                axis._axinfo["grid"].update(color="#e8e8e8", linewidth=0.6)
            if alone:
                name_axis(axes.zaxis, "z [m]", self._units)
        axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
        axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
        self._ticks(2 * half)
        self._bare = not scene.flat and (scene.skin is not None or not alone)  # small axes in space tell nothing
        if self._bare:
            beside = 1.4 if alone else 1.0  # inches of the bar, which the part must not reach
            self._fill(middle, (high - low) / 2, half, (figure.get_size_inches() - (beside, 0.0)) / place[1::-1])
            if place[2] == 1:
                draw_triad(figure)
        if scene.flat or alone:
            name_axis(axes.xaxis, "x [m]", self._units)
            name_axis(axes.yaxis, "y [m]", self._units)
        if scene.flat or not alone:
            axes.set_title(title)
        else:
            figure.suptitle(title, x=0.02, ha="left", fontsize=10.0, fontweight="bold")
        self._by_time = quantity is None and times
        self._scale = None
        if quantity is not None:
            norm = Normalize(*quantity.range)
            self._scale = mpl.cm.ScalarMappable(norm, mpl.colormaps[SIGNED_MAP if quantity.signed else MAP])
            text = quantity.label
        elif times:
            times_shown = scene.times[frames]
            norm = Normalize(times_shown[0], times_shown[-1])
            self._scale = mpl.cm.ScalarMappable(norm, mpl.colormaps[MAP])
            text = time_label(scene.step)
        if self._scale is not None and bar:
            if scene.flat:
                colours = figure.colorbar(self._scale, cax=axes.inset_axes((1.03, 0.0, 0.025, 1.0)))
            else:
                colours = figure.colorbar(self._scale, ax=axes, shrink=0.7, aspect=26, pad=0.12, panchor=False)
            name_bar(colours, text, self._units)
            colours.outline.set_visible(False)
        if not scene.flat and not self._bare:
            hold_labels(figure, axes, half, 1.2 * min(1.0, 0.6 / tall))

    def aspect(self, frames: list[int]) -> float:
        """Return height over width of what is seen at some frames."""
        low, high = self.scene.extent([None, *frames])  # type: ignore[list-item]
        if self.scene.flat:
            size = (high - low)[:2]
        else:
            to_eye, right = eye()
            corners = low + (high - low) * np.indices((2, 2, 2)).reshape(3, -1).T
            size = np.ptp(corners @ np.column_stack((right, np.cross(to_eye, right))), axis=0)
        return float(size[1] / size[0]) if size[0] > 0.0 else np.inf

    def shaded(self) -> np.ndarray:
        """Return colours (n, 3), from 0 to 255, of surfaces at their values under any light."""
        if self._scale is None or self.scene.skin is None:
            return np.empty((0, 3), np.uint8)
        light = np.array([1.0]) if self.scene.flat else np.linspace(_SHADE, 1.0, 5)
        table = self._scale.cmap(np.linspace(0.0, 1.0, 65))[:, :3]
        return np.unique((255.0 * light[:, None, None] * table).round().astype(np.uint8).reshape(-1, 3), axis=0)

    @property
    def scale(self) -> Any:
        """Return the map from values to colours, None where nothing is coloured."""
        return self._scale

    def _fill(self, middle: np.ndarray, extent: np.ndarray, half: np.ndarray, panel: np.ndarray) -> None:
        """Let a part fill its panel of ``panel`` inches: hide the axes and ignore their square limits."""
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        axes = self.axes
        axes.set_axis_off()
        axes.patch.set_visible(False)  # it would hide what reaches over from the axes before
        axes.set_box_aspect(half.copy(), zoom=1.0)
        corners = middle + extent * (2.0 * np.indices((2, 2, 2)).reshape(3, -1).T - 1.0)
        x, y, _ = proj_transform(*corners.T, axes.get_proj())
        share = np.ptp(axes.transLimits.transform(np.column_stack((x, y))), axis=0)
        side = np.min(panel - (0.1, 0.35))  # of the square; the title takes some height
        axes.set_box_aspect(half.copy(), zoom=float(np.min((panel - (0.6, 0.5)) / share) / side))

    def _limits(self, frames: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the corners (3,) of the model at some frames, the lowest first, with its reference shape if near."""
        low, high = self.scene.extent(frames)
        ref_low, ref_high = self.scene.extent([None])  # type: ignore[list-item]
        both = np.minimum(low, ref_low), np.maximum(high, ref_high)
        near = float(np.max(both[1] - both[0])) < 2.5 * (float(np.max(high - low)) or 1.0)
        return both if near else (low, high)

    def _ticks(self, span: np.ndarray) -> None:
        from matplotlib.ticker import MaxNLocator

        most = 6
        for axis, length in zip(
            (self.axes.xaxis, self.axes.yaxis, getattr(self.axes, "zaxis", None)), span, strict=True
        ):
            if axis is not None:
                axis.set_major_locator(MaxNLocator(max(2, round(most * length / float(np.max(span))))))

    # ------------------------------------------------------------------------------------------ drawing

    def _lines(self, segments: np.ndarray, *, keep: bool = False, **style: Any) -> None:
        """Draw polylines (n, k, 2 or 3); those of one colour as one line with gaps, which is drawn much sooner."""
        colours = style["colors"]
        if "alpha" not in style and (isinstance(colours, str) or len(colours) == 1):
            artist = self._gapped(segments, colours if isinstance(colours, str) else colours[0], style)
        else:
            artist = self._collected(segments, style)
        self._loosen(artist)
        if not keep:
            self._drawn.append(artist)

    def _gapped(self, segments: np.ndarray, colour: Any, style: dict[str, Any]) -> Any:
        from matplotlib.lines import Line2D
        from mpl_toolkits.mplot3d.art3d import Line3D

        gaps = np.full((len(segments), 1, segments.shape[2]), np.nan)
        points = np.concatenate([segments, gaps], axis=1).reshape(-1, segments.shape[2]).T
        own = {"color": colour, "lw": style["linewidths"], "zorder": style["zorder"]}
        own |= {"solid_capstyle": "round", "solid_joinstyle": "round"}
        return self.axes.add_artist(Line2D(*points[:2], **own) if self.scene.flat else Line3D(*points, **own))

    def _collected(self, segments: np.ndarray, style: dict[str, Any]) -> Any:
        style["capstyle"] = "round"
        if self.scene.flat:
            from matplotlib.collections import LineCollection

            return self.axes.add_collection(LineCollection(segments[..., :2], **style), autolim=False)
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        return self.axes.add_collection3d(Line3DCollection(segments, **style), autolim=False)

    def _loosen(self, artist: Any) -> None:
        """Let an artist reach beyond the square of its axes where the part fills its panel."""
        artist.set_clip_on(not self._bare)
        artist.set_in_layout(not self._bare)

    def _marks(self, points: np.ndarray, marker: Any, size: float, **style: Any) -> None:
        from matplotlib.lines import Line2D
        from mpl_toolkits.mplot3d.art3d import Line3D

        own = {"ls": "", "marker": marker, "ms": size, "zorder": 2, **style}
        artist = Line2D(*points.T[:2], **own) if self.scene.flat else Line3D(*points.T, **own)
        self.axes.add_artist(artist)
        self._loosen(artist)
        self._drawn.append(artist)

    def draw_reference(self) -> None:
        """Draw the reference shape lightly."""
        if self.scene.skin is not None:
            edges = self.scene.skin.lines(self.scene.state(None)[0], sharp_only=True)
            self._lines(pairs(edges), keep=True, colors=_REFERENCE, linewidths=0.8, zorder=1)
        for _, points, _ in self.scene.curves(None):
            self._lines(pairs(points), keep=True, colors=_REFERENCE, linewidths=1.2, zorder=1)
        for centre, points in self.scene.body_lines(None):
            if len(points):
                self._lines(spokes(centre, points), keep=True, colors=_REFERENCE, linewidths=1.2, zorder=1)

    def draw_orbits(self, frame: int) -> None:
        """Draw the orbits of nodes of lines and bodies in a complex shape: a dot at the beginning (phase 0), and a gap
        before the end, which shows the sense of rotation."""
        scene = self.scene
        nodes = [block["connectivity"].ravel() for block in (*scene.blocks, *scene.points)]
        nodes.append(np.array([int(body["node"]) for body in scene.bodies], int))
        chosen = np.unique(np.concatenate(nodes))
        if not scene.complex or not len(chosen):
            return
        chosen = chosen[np.unique(np.linspace(0, len(chosen) - 1, _MOST_ORBITS).round().astype(int))]
        orbits = scene.orbits(frame, chosen, np.linspace(0.0, 1.78 * np.pi, 49))
        size = np.ptp(orbits, axis=1).max(axis=1)
        orbits = orbits[size > 0.02 * size.max(initial=0.0)]
        if len(orbits):
            self._lines(pairs(orbits), colors=[_ORBIT], linewidths=0.9, zorder=2.5)
            self._marks(orbits[:, 0], "o", 3.0, color=_ORBIT, zorder=6)

    def explain_phases(self, later: str, columns: int) -> None:
        """Write a legend of the lines below a figure of complex shapes; `later` is the colour of the second phase."""
        from matplotlib.lines import Line2D

        orbits = Line2D(
            [], [], color=_ORBIT, lw=0.9, marker="o", ms=3.0, markevery=[0], label="orbits of nodes, from the dot"
        )
        handles = [
            Line2D([], [], color=_PLAIN, lw=2.4, label="shape"),
            Line2D([], [], color=later, lw=2.4, label="a quarter of a period later"),
            orbits,
        ]
        self._figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.6)

    def draw_frame(self, frame: int, tint: str | None = None) -> None:
        """Draw elements, bodies and masses at a frame; all lines in one colour, if one is given."""
        scene, scale = self.scene, self._scale
        colour = scale.to_rgba(scene.times[frame]) if self._by_time and scale is not None else tint
        if scene.skin is not None:
            self._surface(frame, colour)
        for name, points, s in scene.curves(frame):
            if self._quantity is not None and scale is not None and name in self._quantity.blocks:
                ends = self._quantity.ends(name, frame, len(points))
                centre = (s[1:] + s[:-1]) / 2
                values = ends[:, :1] * (1 - centre) + ends[:, 1:] * centre
                self._lines(pairs(points), colors=scale.to_rgba(values.ravel()), linewidths=3.2, zorder=4)
            else:
                plain = _BODY if self._quantity is not None else _PLAIN
                self._lines(points, colors=[plain if colour is None else colour], linewidths=2.4, zorder=4)
        self._visuals(frame)
        for body, (centre, points) in self._bodies_at(frame):
            tint = _BODY if colour is None else colour
            if len(points) and not body.get("visual"):
                self._lines(spokes(centre, points), colors=[tint], linewidths=3.6, zorder=3)
            self._marks(centre[None], "o", 4.5, mfc="white", mec=tint, mew=1.3, zorder=5)
        if scene.discs:
            self._discs(frame, _BODY if colour is None else colour)
        position, _ = scene.state(frame)
        tint = colour if colour is not None else _BODY
        for block in scene.points:
            self._marks(position[block["connectivity"][:, 0]], "o", 7.0, color=tint, zorder=5)
        if scene.masses:
            places = np.array([scene.places(mass, frame)[0][0] for mass in scene.masses])
            self._marks(places, "o", 7.0, color=tint, zorder=5)

    def _visuals(self, frame: int) -> None:
        """Draw the surfaces of bodies, lit from the upper left."""
        from matplotlib.colors import to_rgb

        to_eye, right = straight() if self.scene.flat else eye()
        light = to_eye - 0.5 * right + 0.6 * np.cross(to_eye, right)
        for colour, triangles in self.scene.visuals(frame):
            area = normals(triangles)
            bright = np.abs(area @ light) / np.maximum(np.linalg.norm(area, axis=1) * np.linalg.norm(light), 1e-300)
            tint = np.array(to_rgb(colour)) * (0.7 + 0.3 * np.clip(bright, 0.0, 1.0))[:, None]
            if self.scene.flat:
                from matplotlib.collections import PolyCollection

                order = np.argsort(triangles[..., 2].mean(axis=1))
                face: Any = PolyCollection(triangles[order][..., :2], facecolors=tint[order], edgecolors=tint[order],
                                           linewidths=0.3, zorder=1.8)  # fmt: skip
                self._drawn.append(self.axes.add_collection(face, autolim=False))
            else:
                from mpl_toolkits.mplot3d.art3d import Poly3DCollection

                face = Poly3DCollection(triangles, facecolors=tint, edgecolors=tint, linewidths=0.3, zorder=2.1)
                self._drawn.append(self.axes.add_collection3d(face, autolim=False))
            self._loosen(face)

    def _discs(self, frame: int, tint: Any) -> None:
        """Draw discs as transparent circles with a diameter, which shows their rotation."""
        from matplotlib.colors import to_rgba
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        rings = self.scene.rings(frame)
        face = Poly3DCollection(rings[:, :-1], facecolors=[to_rgba(tint, 0.16)], edgecolors="none", zorder=2.2)
        self._loosen(face)
        self._drawn.append(self.axes.add_collection3d(face, autolim=False))
        self._lines(rings, colors=[tint], linewidths=1.4, zorder=2.4)
        self._lines(rings[:, [0, 20]], colors=[tint], linewidths=0.7, alpha=0.6, zorder=2.3)

    def _surface(self, frame: int, colour: Any) -> None:
        """Draw the surfaces of solid parts and the areas of plane ones as a picture, with their edges and the nodes
        that supports hold; mark the largest value where ``marks_largest`` asks for it."""
        from matplotlib.colors import to_rgb

        from fem_mbs.plot.raster import Canvas

        scene, skin = self.scene, self.scene.skin
        assert skin is not None
        position, _ = scene.state(frame)
        pieces, lines = skin.polygons(position), pairs(skin.lines(position))
        to_eye, right = straight() if scene.flat else eye()
        light = to_eye - 0.5 * right + 0.6 * np.cross(to_eye, right)
        area = normals(pieces)
        size = np.maximum(np.linalg.norm(area, axis=1), 1e-300)
        bright = np.abs(area @ light) / size / np.linalg.norm(light)
        bright = np.ones(len(pieces)) if scene.flat else _SHADE + (1.0 - _SHADE) * np.clip(bright, 0.0, 1.0)
        keep = area @ to_eye > 1e-6 * size if skin.solid else np.ones(len(pieces), bool)
        quantity = self._quantity if isinstance(self._quantity, NodalQuantity) and self._scale is not None else None
        values = np.full(pieces.shape[:2], np.nan) if quantity is None else quantity.on_pieces(skin, frame)
        low, high = quantity.range if quantity is not None else (0.0, 1.0)
        plain = to_rgb(colour if quantity is None and colour is not None else _SURFACE)
        shown = [self._seen_at(points) for points in (pieces[keep], lines)]
        corners = self._window(np.concatenate([points.reshape(-1, 3)[:, :2] for points in shown]))
        canvas = Canvas(*corners, self._picture_width(corners))
        canvas.fill(shown[0], values[keep], bright[keep])
        sharp = np.repeat(skin.sharp, skin.cuts)
        lift = 0.004 * self._size
        canvas.stroke(shown[1], np.where(sharp, 0.95, 0.3), np.where(sharp, 1.3, 0.8), lift)
        table = np.ones((2, 3))
        if quantity is not None and self._scale is not None:
            table = self._scale.cmap(np.linspace(0.0, 1.0, 512))[:, :3]
        picture = canvas.image(table, low, high, np.array(plain), np.array(to_rgb("#20242a")))
        image = self._image(picture, corners)
        self.axes.add_artist(image)
        self._loosen(image)
        self._drawn.append(image)
        held = position[self._held()]
        if len(held):
            held = held[canvas.seen(self._seen_at(held), 2.0 * lift)]
            self._marks(held, "s", 2.2, color="#20242a", zorder=3)
        if quantity is not None and self.marks_largest:
            self._mark_largest(frame, position, canvas, lift)

    def _window(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the corners (2,) of a picture around points (n, 2) as the eye sees them, of pixels whole ones."""
        low, high = points.min(axis=0), points.max(axis=0)
        if self._pixels is None:
            margin = 0.01 * (high - low).max()
            return low - margin, high + margin
        size = np.array(self._figure.canvas.get_width_height(), float)
        first = np.clip(np.floor(low) - 2.0, 0.0, size - 2.0)
        return first, np.clip(np.ceil(high) + 2.0, first + 2.0, size)

    def _image(self, picture: np.ndarray, corners: tuple[np.ndarray, np.ndarray]) -> Any:
        """Return the artist of a picture between two corners."""
        from matplotlib.image import AxesImage

        from fem_mbs.plot.raster import Pixels

        (left, bottom), (end, top) = corners
        if self._pixels is not None:
            return Pixels(picture, left, bottom, zorder=2)
        image = AxesImage(
            self.axes, extent=(left, end, bottom, top), origin="lower", interpolation="bilinear", zorder=2
        )
        image.set_data(picture)
        return image

    def _picture_width(self, corners: tuple[np.ndarray, np.ndarray]) -> int:
        """Return the pixels across a picture: as many as its panel has at the resolution of files."""
        if self._pixels is not None:
            return int(corners[1][0] - corners[0][0])
        span = corners[1] - corners[0]
        filled = 0.75  # of the panel, about: bar, labels and margins take the rest
        return int(np.clip(filled * self.fineness * self._panel.max() * span[0] / max(span), 40, 4000))

    def _seen_at(self, points: np.ndarray) -> np.ndarray:
        """Return points (..., 3) as the eye sees them: coordinates in the plane of the axes, and heights towards the
        eye."""
        if self.scene.flat and self._pixels is None:
            return points
        flat = points.reshape(-1, 3)
        if self.scene.flat:
            x, y, height = flat.T
        else:
            seen = self.axes.get_proj() @ np.vstack((flat.T, np.ones(len(flat))))
            x, y, height = seen[0] / seen[3], seen[1] / seen[3], flat @ eye()[0]
        if self._pixels is not None:
            to_pixels = self._pixels
            x, y = to_pixels[:2, :2] @ np.stack((x, y)) + to_pixels[:2, 2:]
        return np.column_stack((x, y, height)).reshape(points.shape)

    def _mark_largest(self, frame: int, position: np.ndarray, canvas: Canvas, lift: float) -> None:
        """Mark the largest value on the surfaces, and tell it with its place at the start."""
        quantity, skin = self._quantity, self.scene.skin
        assert isinstance(quantity, NodalQuantity) and skin is not None
        found = quantity.largest(skin, frame)
        if found is None or found[1] == 0.0 or quantity.relative:
            return
        node, value = found
        place = position[node][None]
        hidden = not canvas.seen(self._seen_at(place), 2.0 * lift)[0]
        fill = "none" if hidden else "white"
        self._marks(place, "o", 8.0, mfc="none", mec="white", mew=3.0, zorder=8.4)
        self._marks(place, "o", 8.0, mfc=fill, mec="#C2185B", mew=1.6, zorder=8.5)
        shown, length = self._units.of(split_unit(quantity.label)[1]), self._units.of("m")
        where = ", ".join(f"{v:.4g}" for v in length(self.scene.nodes[node])[: 2 if self.scene.flat else 3])
        self.largest = (
            f"Largest: {shown(value):.4g} {pretty(shown.unit)} at ({where}) {length.unit}"
            f"{', on the far side' if hidden else ''}"
        )

    def tell_largest(self, wide: bool) -> None:
        """Write the largest value of the last frame and its place below the axes, in two lines of narrow ones."""
        if not self.largest:
            return
        note = self.largest if wide else self.largest.replace(" at (", "\nat (")
        if self.scene.flat:
            self.axes.set_xlabel(f"{self.axes.get_xlabel()}\n{note}")
        else:
            where = {"transform": self.axes.transAxes, "ha": "center", "va": "top"}
            self.axes.text2D(0.5, -0.02, note, fontsize=8.0, **where)

    def _held(self) -> np.ndarray:
        """Return the nodes of surfaces that supports hold, where these are too many for symbols."""
        supports = [symbol for symbol in self.scene.symbols if symbol.layer == "supports"]
        if self.scene.skin is None or len(supports) <= _MOST_SYMBOLS:
            return np.empty(0, int)
        nodes = np.unique([symbol.ends[0][0] for symbol in supports])
        return self.scene.skin.outside(nodes)

    def draw_symbols(self, frame: int, *, loads: bool = True, whole: bool = False) -> None:
        """Draw supports (triangles: pinned; bars: clamped; triangle on a line: sliding), joints (rings), and the lines
        of springs, dampers, mounts, distances and, with `loads`, loads; the `whole` has everything but sensors, and
        joints by their kind."""
        marked = set(self._held().tolist())
        rings: list[np.ndarray] = []
        lines: dict[str, list[np.ndarray]] = {}
        to_eye = (straight() if self.scene.flat else eye())[0]
        layers = {"supports", "joints", "springs"} | ({"loads"} if loads else set())
        for symbol in self.scene.symbols:
            if symbol.layer not in layers and (not whole or symbol.layer in ("masses", "sensors")):
                continue
            if symbol.layer == "supports" and symbol.ends[0][0] in marked:
                continue
            places, turn = self.scene.places(symbol, frame)
            if symbol.layer == "supports":
                self._support(places[0], set(symbol.held))
                continue
            if symbol.layer == "joints" and not whole:
                rings += list(places if symbol.glyph == "rod" else places[:1])
            if symbol.layer != "joints" or len(places) == 2 or whole:
                lines.setdefault(symbol.layer, []).append(self._pieces(symbol, places, turn, to_eye))
        for layer, found in lines.items():
            self._lines(np.concatenate(found), colors=[COLOURS[layer]], linewidths=1.1, zorder=6.5)
        if rings:
            self._marks(np.array(rings), "o", 6.5, mfc="white", mec="black", mew=1.3, zorder=7)

    def _pieces(self, symbol: Symbol, places: np.ndarray, turn: np.ndarray, to_eye: np.ndarray) -> np.ndarray:
        """Return the straight pieces (n, 2, 3) of a symbol; those of symbols at one place are kept and moved."""
        size = _SYMBOL * self._size
        if len(places) > 1:
            return np.concatenate([pairs(line[None]) for line in lines_of(symbol, places, turn, size, to_eye)])
        key = (id(symbol), size)
        if key not in self._kept:
            lines = lines_of(symbol, np.zeros((1, 3)), np.eye(3), size, to_eye)
            self._kept[key] = np.concatenate([pairs(line[None]) for line in lines])
        return places[0] + (self._kept[key] @ turn.T if symbol.turns else self._kept[key])

    def draw_names(self, frame: int) -> None:
        """Write the names of bodies, and of symbols but supports and sensors, beside them."""
        centres = [(body["name"], _BODY, centre) for body, (centre, _) in self._bodies_at(frame)]
        named = {symbol.name: symbol for symbol in self.scene.symbols if symbol.layer not in ("supports", "sensors")}
        found = [
            (name, COLOURS[symbol.layer], self.scene.places(symbol, frame)[0].mean(axis=0))
            for name, symbol in named.items()
            if name
        ]
        taken: list[np.ndarray] = []
        for name, colour, place in [*centres, *found][:_MOST_NAMES]:
            level = sum(float(np.linalg.norm(place - other)) < 0.05 * self._size for other in taken)
            taken.append(place)
            place = place[:2] if self.scene.flat else place
            artist = self.axes.text(*place, " " * 2 + name + "\n" * (1 + level), color=colour, fontsize=7.0, zorder=9)
            self._loosen(artist)

    def _bodies_at(self, frame: int) -> list[tuple[dict[str, Any], tuple[np.ndarray, np.ndarray]]]:
        return list(zip(self.scene.bodies, self.scene.body_lines(frame), strict=True))

    def _support(self, place: np.ndarray, held: set[str]) -> None:
        from matplotlib.path import Path as Outline

        hatch = [(-1.0, -1.0), (1.0, -1.0)] + [p for x in (-0.7, -0.1, 0.5) for p in ((x, -1.0), (x - 0.35, -1.45))]
        codes = [Outline.MOVETO, Outline.LINETO] * 4
        moves = held & {"x", "y"} if self.scene.flat else held & {"x", "y", "z"}
        axes_needed = 2 if self.scene.flat else 3
        if not moves:
            return
        if len(moves) == axes_needed and "rotation" in held:
            block = Outline([(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8), (-0.8, -0.8)])
            self._marks(place[None], block, 9.0, mfc="#8a8f98", mec="#222222", mew=1.1, zorder=6)
            return
        triangle = [(0.0, 0.0), (-0.75, -1.0), (0.75, -1.0), (0.0, 0.0)]
        outline = [Outline.MOVETO, Outline.LINETO, Outline.LINETO, Outline.CLOSEPOLY]
        if len(moves) == axes_needed:
            symbol = Outline(triangle + hatch, outline + codes)
        else:  # a gap between triangle and ground: it rolls along the line
            low = [(x, y - 0.35) for x, y in hatch]
            symbol = Outline(triangle + low, outline + codes)
            if moves == {"x"} and self.scene.flat:
                symbol = Outline([(y, -x) for x, y in np.asarray(symbol.vertices)], symbol.codes)
        # A marker is scaled by the largest coordinate of its outline.
        size = 13.0 * float(np.max(np.abs(np.asarray(symbol.vertices))))
        self._marks(place[None], symbol, size, mfc="white", mec="#222222", mew=1.1, zorder=6)

    def draw_trail(self, node: int, frames: list[int]) -> None:
        """Draw the path of a node through the given frames."""
        for frame in frames:
            if frame not in self._trail:
                self._trail[frame] = self.scene.path(node, frame)
        points = np.array([self._trail[frame] for frame in frames])
        if len(points) > 1:
            self._lines(
                np.stack([points[:-1], points[1:]], axis=1), colors="#D55E00", linewidths=1.0, alpha=0.8, zorder=2
            )
        self._marks(points[-1:], "o", 3.5, color="#D55E00", zorder=8)

    def show_time(self, frame: int) -> None:
        """Write the time of a frame into a corner."""
        name, unit = split_unit(time_label(self.scene.step))
        shown = self._units.of(unit)
        time, span = shown(float(self.scene.times[frame])), shown(float(np.ptp(self.scene.times)))
        digits = max(0, 2 - int(np.floor(np.log10(span)))) if span > 0 else 3
        text = f"{'t =' if name == 'Time' else name} {time:.{digits}f} {shown.unit.replace('-', '')}".rstrip()
        if self.scene.flat:
            where = {"x": 0.99, "y": 1.02, "va": "bottom", "transform": self.axes.transAxes}
            self._drawn.append(self.axes.text(s=text, ha="right", family="DejaVu Sans Mono", **where))
        else:
            self._drawn.append(self._figure.text(0.98, 0.97, text, ha="right", va="top", family="DejaVu Sans Mono"))

    def clear(self) -> None:
        """Remove what belongs to a frame; reference, axes and bar stay."""
        for artist in self._drawn:
            artist.remove()
        self._drawn.clear()

    def finish(self) -> None:
        """Fix the layout, so that later frames do not move the axes; surfaces are then drawn pixel by pixel."""
        self._figure.draw_without_rendering()
        self._figure.set_layout_engine("none")
        transform = self.axes.transData
        self._pixels = transform.get_matrix() if transform.is_affine else None

    def frame_artists(self) -> list[Any]:
        """Return the artists drawn since the last `clear`, the lowest first."""
        return sorted(self._drawn, key=lambda artist: artist.get_zorder())
