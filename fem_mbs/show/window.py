"""A window of pyvista that shows models and results in space: the same scenes as the page, drawn by VTK.

    Window(results).open()                     # returns when the window is closed
    Window(results).picture("bolt.png")        # without a screen

It needs the extra, pip install 'fem-mbs[window]'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.analysis.symbols.symbol import LAYERS
from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.model.model import Model
from fem_mbs.plot.glyphs import COLOURS, lines_of
from fem_mbs.plot.marks import marks_of
from fem_mbs.plot.scene import NodalQuantity, Scene, find_quantity, quantity_names
from fem_mbs.plot.style import MAP, SIGNED_MAP
from fem_mbs.results.modes.shapes import has_shapes
from fem_mbs.results.reader import Results
from fem_mbs.show.content import frame_title, scenes_of
from fem_mbs.show.page import has_screen, results_of

__all__ = ["Window", "open_window"]

_AXES = ("#D55E00", "#009E73", "#0072B2")  # of bodies, x, y and z
_SET = "#E69F00"
_PLAIN, _BODY, _INK = "#9fb3c8", "#5b6b7b", "#33373d"
_SYMBOL = 0.02  # of the size of the model: a mark of size one
_MOST_NAMES = 60
_OWN = {"nodes": "nodes", "names": "names", "axes": "axes of bodies"}  # layers beside those of symbols
_PHASES = 24  # pictures of one swing of a shape
_HIDDEN = {"sensors", "couplings", "names", "nodes", "axes"}  # until they are asked for


@dataclass
class _Part:
    """Something that is drawn: its points, lines, triangles and values at a frame, as data of VTK."""

    make: Callable[[], Any]
    data: Any
    actor: Any


class Window:
    """A window in which a model or results turn, zoom and move.

    A slider chooses the frame, another one the scale of displacements. The keys n and b choose the next step and the
    one before, f the next field, a marks the next set of nodes, space plays a step or swings a shape. Buttons hide and
    show layers. A click with the right button tells of the nearest node or symbol.

    Args:
        thing: a model, shown at its start, or results.
        step: number of the only step of results that is shown, from 0; None: all with frames.
        off_screen: draw without a screen.

    Raises:
        ModelError: the model is not complete.
        ResultsError: no frames with displacements, no such step, or pyvista is not installed.
    """

    def __init__(self, thing: Model | Results, step: int | None = None, off_screen: bool = False) -> None:
        self._vista = _pyvista()
        self.results = results_of(thing)
        self.scenes = scenes_of(self.results, step)
        #: numbers of the scene and of its frame, the name of the field (None: no colours) and of the set that is marked
        self.number, self.frame = 0, 0
        self.field: str | None = None
        self.set = ""
        self._slider: Any = None
        self.plotter = self._vista.Plotter(off_screen=off_screen, window_size=(1200, 800))
        self.plotter.set_background("white")
        self._parts: dict[str, list[_Part]] = {}
        self._shown = {layer: layer not in _HIDDEN for layer in (*_OWN, *LAYERS)}
        self._names: Any = None
        self._playing = False
        self._time = 0
        moving = [k for k, item in enumerate(self.scenes) if recorded_kind(item.step.type).passes_time]
        self._begin(moving[-1] if moving else 0)
        self._add_controls()
        if self.scene.flat:
            self.plotter.view_xy()
            self.plotter.enable_parallel_projection()
        else:
            self.plotter.view_isometric()
            self.plotter.add_axes()

    def __repr__(self) -> str:
        return f"<Window of {self.results.header['title'] or 'a model'!r}: {self.title}>"

    @property
    def scene(self) -> Scene:
        """Return the drawn content of the step that is shown."""
        return self.scenes[self.number]

    @property
    def title(self) -> str:
        """Return the title of the frame that is shown: its time or load factor, or the number of a shape."""
        if not self.fields:
            return self.scene.step.name
        return f"{self.scene.step.name}: {frame_title(self.scene, self.frame)}".rstrip(": ")

    @property
    def fields(self) -> list[str]:
        """Return the names of the fields that can colour the step."""
        if not any(len(self.scene.times) and np.any(self.scene.moved(k)[0]) for k in (0, self.scene.frames - 1)):
            return []  # a model at its start
        return list(dict.fromkeys(quantity_names(self.results, self.scene.step)))

    # --- what a user does --------------------------------------------------------------------------------------------
    def open(self) -> None:
        """Open the window, and return when it is closed."""
        self.plotter.show(title=f"fem-mbs: {self.results.header['title'] or 'model'}")

    def picture(self, path: str | Path) -> Path:
        """Write what the window shows as a PNG file, and return its path."""
        target = Path(path)
        self.plotter.screenshot(str(target))
        return target

    def go_to(self, frame: int) -> None:
        """Show a frame of the step, from 0; -1: the last.

        Raises:
            ResultsError: there is none of this number.
        """
        count = self.scene.frames
        if not -count <= frame < count:
            raise ResultsError(f'Window: step "{self.scene.step.name}" has {count} frames, no number {frame}')
        self.frame = frame % count
        if self._slider is not None:
            self._slider.GetRepresentation().SetValue(self.frame)
        self._update()

    def go_to_step(self, number: int) -> None:
        """Show a step, by its number among those with frames, from 0; numbers beyond the last begin anew."""
        self._begin(number % len(self.scenes))
        self._add_sliders()

    def colour_by(self, field: str | None) -> None:
        """Colour the step by a field, one of `fields`; None: by none.

        Raises:
            ResultsError: the step has no such field.
        """
        quantity = None if field is None else find_quantity(self.results, self.scene.step, field)
        self.field = field
        self._draw(quantity)

    def mark_set(self, name: str) -> None:
        """Mark the nodes of a named set; "": of none.

        Raises:
            ResultsError: there is no such set.
        """
        known = [item["name"] for item in self.results.header.get("sets", [])]
        if name and name not in known:
            raise ResultsError(f'Window: no set "{name}": there are {", ".join(known) or "none"}')
        self.set = name
        for part in self._parts.pop("set", []):
            self.plotter.remove_actor(part.actor, render=False)
        self._add("set", self._nodes_of_set, _SET, point_size=12, render_points_as_spheres=True)
        self._tell()
        self._render()

    def enlarge(self, scale: float) -> None:
        """Show displacements and rotations this many times as large."""
        self.scene.magnify(scale)
        self._update()

    def switch(self, layer: str, on: bool) -> None:
        """Show or hide a layer: "nodes", "names", "axes" (of bodies), or a layer of symbols
        (`fem_mbs.analysis.symbols.symbol.LAYERS`).

        Raises:
            ResultsError: there is no such layer.
        """
        if layer not in self._shown:
            raise ResultsError(f'Window: no layer "{layer}": there are {", ".join(self._shown)}')
        self._shown[layer] = on
        for part in self._parts.get(layer, []):
            part.actor.SetVisibility(on)
        if layer == "names":
            self._label()
        self._render()

    def swing(self, phase: float) -> None:
        """Show a shape at a phase [rad]: real ones by the cosine of it, complex ones as they go round."""
        scene, scale = self.scene, self.scene.scale
        scene.magnify(*((scale, phase) if scene.complex else (scale * np.cos(phase), 0.0)))
        self._update()
        scene.magnify(scale)

    def told_at(self, point: Sequence[float]) -> str:
        """Return a text on the node (number, name, place, value) or symbol that is nearest to a point.

        Args:
            point: (3,) in the drawing [m].
        """
        here = np.asarray(point, float)
        position, _ = self.scene.state(self.frame)
        distance = np.linalg.norm(position - here, axis=1)
        node = int(np.nanargmin(distance))
        found = [
            (float(np.linalg.norm(self.scene.places(symbol, self.frame)[0] - here, axis=1).min()), symbol)
            for symbol in self.scene.symbols
            if self._shown.get(symbol.layer) and symbol.name
        ]
        nearest = min(found, key=lambda item: item[0], default=None)
        if nearest is not None and nearest[0] < 0.99 * distance[node]:
            symbol = nearest[1]
            return " ".join(part for part in (f'{symbol.kind} "{symbol.name}":', symbol.text) if part).rstrip(": ")
        names = [name for name, number in self.results.header["node_names"].items() if int(number) == node]
        length = self.results.units.of("m")
        places = ", ".join(f"{v:.6g}" for v in np.asarray(length(position[node])))
        text = f"node {node}{f' ({names[0]})' if names else ''} at ({places}) {length.unit}"
        value = self._value_at(node)
        return f"{text}; {value}" if value else text

    # --- drawing -----------------------------------------------------------------------------------------------------
    def _begin(self, number: int) -> None:
        """Show a step from its first telling frame, coloured by its first field."""
        self.number, self._playing = number, False
        scene = self.scene
        self.frame = scene.frames - 1 if recorded_kind(scene.step.type).path else 0
        shapes = has_shapes(scene.step) or recorded_kind(scene.step.type).shapes == "vibration"
        scene.magnify(1.0 if shapes or scene.skin is None else scene.visible_scale(list(range(scene.frames))))
        self.field = None
        quantity = find_quantity(self.results, scene.step, None) if self.fields else None
        if quantity is not None:
            self.field = quantity.label
        self._draw(quantity)

    def _draw(self, quantity: Any) -> None:
        """Draw everything of the step anew."""
        for parts in self._parts.values():
            for part in parts:
                self.plotter.remove_actor(part.actor, render=False)
        self._parts = {}
        self._quantity = quantity
        if self.plotter.scalar_bars:
            self.plotter.remove_scalar_bar()
        low, high = self.scene.extent([self.frame])
        self._size = float(np.max(high - low)) or 1.0
        self._add("model", self._surface, _PLAIN, coloured=isinstance(quantity, NodalQuantity), smooth_shading=False)
        self._add("model", self._edges, _INK, line_width=1)
        for k, block in enumerate(self.scene.blocks):
            coloured = quantity is not None and block["name"] in quantity.blocks
            self._add("model", partial(self._line, k), _BODY, coloured=coloured, line_width=5)
        self._add("model", self._bodies, _BODY, line_width=4)
        self._add("model", self._points, _BODY, point_size=11, render_points_as_spheres=True)
        self._add("model", self._discs, _BODY, line_width=2)
        for k, (colour, _) in enumerate(self.scene.visuals(self.frame)):
            self._add("model", partial(self._visual, k), colour)
        for layer in LAYERS:
            self._add(layer, partial(self._symbols, layer), COLOURS[layer], line_width=2)
        for k, colour in enumerate(_AXES):
            self._add("axes", partial(self._body_axes, k), colour, line_width=3)
        self._add("nodes", self._nodes, _INK, point_size=6, render_points_as_spheres=True)
        self._add("set", self._nodes_of_set, _SET, point_size=12, render_points_as_spheres=True)
        self._label()
        self._tell()

    def _add(self, layer: str, make: Callable[[], Any], colour: str, coloured: bool = False, **style: Any) -> None:
        data = make()
        if data is None or not data.n_points:
            return
        if coloured and "value" in data.point_data:
            label, factor = self.results.units.column(self._quantity.label)
            low, high = (factor * float(v) for v in self._quantity.range)
            style |= {
                "scalars": "value", "cmap": SIGNED_MAP if self._quantity.signed else MAP, "clim": (low, high),
                "scalar_bar_args": {
                    "title": label, "color": "black", "n_labels": 5, "vertical": True, "position_x": 0.9,
                    "position_y": 0.2, "height": 0.55, "width": 0.06, "title_font_size": 13, "label_font_size": 13,
                }, "nan_color": _PLAIN, "ambient": 0.5, "diffuse": 0.5,
            }  # fmt: skip
        else:
            style["color"] = colour
        actor = self.plotter.add_mesh(data, pickable=True, reset_camera=False, render=False, **style)
        actor.SetVisibility(self._shown.get(layer, True))
        self._parts.setdefault(layer, []).append(_Part(make, data, actor))

    def _update(self) -> None:
        """Move everything to the frame that is shown."""
        for parts in self._parts.values():
            for part in parts:
                data = part.make()
                if data is not None:
                    part.data.copy_from(data)
        self._label()
        self._tell()
        self._render()

    def _tell(self) -> None:
        scale = self.scene.scale
        text = self.title + (f"\ndisplacements x {scale:g}" if scale != 1.0 else "")
        text += f'\nset "{self.set}"' if self.set else ""
        marks = "\n".join(marks_of(self.results))
        self.plotter.add_text(text, position="upper_left", font_size=11, color="black", name="title", render=False)
        if marks:
            self.plotter.add_text(
                marks, position="lower_left", font_size=9, color="#B22222", name="marks", render=False
            )

    def _render(self) -> None:
        if self.plotter.render_window is not None:
            self.plotter.render()

    def _poly(self, lines: Iterable[np.ndarray], values: np.ndarray | None = None) -> Any:
        """Return polylines (k, 3) as data of VTK, with values at all points."""
        found = [np.asarray(line, float) for line in lines]
        if not found:
            return None
        counts = np.array([len(line) for line in found])
        starts = np.concatenate(([0], np.cumsum(counts)))
        cells = np.concatenate([np.r_[n, np.arange(a, a + n)] for n, a in zip(counts, starts, strict=False)])
        data = self._vista.PolyData(np.concatenate(found), lines=cells)
        if values is not None:
            data.point_data["value"] = values
        return data

    def _faces(self, points: np.ndarray, triangles: np.ndarray) -> Any:
        return self._vista.PolyData(points, faces=np.insert(triangles, 0, 3, axis=1).ravel())

    def _surface(self) -> Any:
        """Return the surface of solid and plane parts and of shells, with the values of the field."""
        skin = self.scene.skin
        if skin is None:
            return None
        nodes, regions, triangles = skin.vertices()
        data = self._faces(self.scene.state(self.frame)[0][nodes], triangles)
        if isinstance(self._quantity, NodalQuantity):
            factor = self.results.units.column(self._quantity.label)[1]
            values = np.full(len(nodes), np.nan)
            for region, found in self._quantity.by_region(skin, self.frame).items():
                values[regions == region] = found[nodes[regions == region]]
            data.point_data["value"] = factor * values
        return data

    def _edges(self) -> Any:
        skin = self.scene.skin
        if skin is None or not len(skin.edges):
            return None
        edges = np.where(skin.edges[:, 2:] < 0, skin.edges[:, [0, 1, 1]], skin.edges[:, [0, 2, 1]])
        return self._poly(self.scene.state(self.frame)[0][edges])

    def _line(self, number: int) -> Any:
        """Return the elements of a block of lines, with the values of the field."""
        name, points, s = self.scene.curves(self.frame)[number]
        values = None
        if self._quantity is not None and name in self._quantity.blocks:
            factor = self.results.units.column(self._quantity.label)[1]
            ends = self._quantity.ends(name, self.frame, len(points))
            values = factor * (ends[:, :1] * (1.0 - s) + ends[:, 1:] * s).ravel()
        return self._poly(points, values)

    def _bodies(self) -> Any:
        """Return lines from the mass centres of rigid bodies to the points fixed to them."""
        bodies = zip(self.scene.bodies, self.scene.body_lines(self.frame), strict=True)
        return self._poly(
            np.array([centre, point]) for body, (centre, points) in bodies for point in points if not body.get("visual")
        )

    def _points(self) -> Any:
        """Return mass centres of rigid bodies and the places of other masses."""
        position, _ = self.scene.state(self.frame)
        centres = [centre for centre, _ in self.scene.body_lines(self.frame)]
        centres += [self.scene.places(mass, self.frame)[0][0] for mass in self.scene.masses]
        found = [np.array(centres).reshape(-1, 3), *(position[b["connectivity"][:, 0]] for b in self.scene.points)]
        return self._vista.PolyData(np.concatenate(found))

    def _body_axes(self, number: int) -> Any:
        """Return one axis of each rigid body, a line from its mass centre."""
        position, rotation = self.scene.state(self.frame)
        lines = []
        for body in self.scene.bodies:
            node = int(body["node"])
            turn = np.eye(3) if rotation is None else rotation[node]
            axis = turn @ np.asarray(body.get("rotation", np.eye(3)), float)[:, number]
            lines.append(position[node] + np.outer((0.0, 5.0 * _SYMBOL * self._size), axis))
        return self._poly(lines)

    def _nodes_of_set(self) -> Any:
        """Return the nodes of the set that is marked."""
        sets = {item["name"]: np.asarray(item["nodes"], int) for item in self.results.header.get("sets", [])}
        nodes = sets.get(self.set, np.empty(0, int))
        return self._vista.PolyData(np.asarray(self.scene.state(self.frame)[0], float)[nodes])

    def _discs(self) -> Any:
        return self._poly(self.scene.rings(self.frame))

    def _visual(self, number: int) -> Any:
        triangles = self.scene.visuals(self.frame)[number][1]
        return self._faces(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))

    def _symbols(self, layer: str) -> Any:
        """Return the polylines of the symbols of a layer."""
        eye = np.array([0.0, 0.0, 1.0]) if self.scene.flat else np.array([1.0, 1.0, 1.0])
        lines: list[np.ndarray] = []
        for symbol in self.scene.symbols:
            if symbol.layer == layer:
                lines += lines_of(symbol, *self.scene.places(symbol, self.frame), _SYMBOL * self._size, eye)
        return self._poly(lines)

    def _nodes(self) -> Any:
        return self._vista.PolyData(np.asarray(self.scene.state(self.frame)[0], float))

    def _label(self) -> None:
        """Write the names of bodies and symbols, where they are shown."""
        if self._names is not None:
            self.plotter.remove_actor(self._names, render=False)
            self._names = None
        if not self._shown["names"]:
            return
        bodies = zip(self.scene.bodies, self.scene.body_lines(self.frame), strict=True)
        found = {body["name"]: centre for body, (centre, _) in bodies}
        for symbol in self.scene.symbols:
            if symbol.name and self._shown.get(symbol.layer):
                found.setdefault(symbol.name, self.scene.places(symbol, self.frame)[0].mean(axis=0))
        names = list(found)[:_MOST_NAMES]
        if names:
            self._names = self.plotter.add_point_labels(
                np.array([found[name] for name in names]), names, font_size=12, text_color="black", shape=None,
                show_points=False, always_visible=True, reset_camera=False, render=False,
            )  # fmt: skip

    def _value_at(self, node: int) -> str:
        """Return the value of the field at a node, "" where it has none."""
        if not isinstance(self._quantity, NodalQuantity):
            return ""
        label, factor = self.results.units.column(self._quantity.label)
        values = [float(v[node]) for v in self._quantity.at_nodes(self.frame).values() if np.isfinite(v[node])]
        return f"{label}: {', '.join(f'{factor * v:.5g}' for v in dict.fromkeys(values))}" if values else ""

    # --- controls ----------------------------------------------------------------------------------------------------
    def _add_controls(self) -> None:
        plotter = self.plotter
        self._add_sliders()
        keys: dict[str, Callable[[], None]] = {
            "n": lambda: self.go_to_step(self.number + 1),
            "b": lambda: self.go_to_step(self.number - 1),
            "f": self._next_field,
            "a": self._next_set,
            "space": self._play,
        }
        for name, act in keys.items():
            plotter.add_key_event(name, act)
        layers = [layer for layer in self._shown if layer in ("nodes", "names") or self._parts.get(layer)]
        for k, layer in enumerate(layers):
            plotter.add_checkbox_button_widget(
                lambda on, layer=layer: self.switch(layer, bool(on)), value=self._shown[layer], size=16, border_size=1,
                position=(10.0, 120.0 + 24.0 * k), color_on=COLOURS.get(layer, _INK), color_off="#e4e7ea",
            )  # fmt: skip
            text = (_OWN | LAYERS)[layer]
            plotter.add_text(text, position=(32.0, 118.0 + 24.0 * k), font_size=8, color="black", render=False)
        plotter.enable_point_picking(
            callback=self._pick, show_message=False, show_point=False, left_clicking=False, use_picker=False
        )
        plotter.add_timer_event(max_steps=1_000_000_000, duration=40, callback=self._tick)

    def _add_sliders(self) -> None:
        self.plotter.clear_slider_widgets()
        self._slider = None
        style: dict[str, Any] = {"color": "black", "title_height": 0.018, "fmt": "%.0f", "slider_width": 0.02}
        last = self.scene.frames - 1
        if last > 0:
            self._slider = self.plotter.add_slider_widget(
                lambda value: self.go_to(round(value)), (0, last), value=self.frame, title="frame",
                pointa=(0.3, 0.06), pointb=(0.7, 0.06), **style,
            )  # fmt: skip
        if self.fields:
            self.plotter.add_slider_widget(
                lambda power: self.enlarge(10.0**power), (-1.0, 4.0), value=float(np.log10(self.scene.scale)),
                title="scale of displacements, power of 10", pointa=(0.75, 0.06), pointb=(0.95, 0.06),
                **style | {"fmt": "%.1f"},
            )  # fmt: skip

    def _next_field(self) -> None:
        names: list[str | None] = [*self.fields, None]
        if len(names) > 1:
            held = [k for k, name in enumerate(names) if name is not None and self.field is not None
                    and self.field.lower().startswith(name.lower())]  # fmt: skip
            self.colour_by(names[(held[0] + 1 if held else 0) % len(names)])
            self._render()

    def _next_set(self) -> None:
        names = ["", *(item["name"] for item in self.results.header.get("sets", []))]
        self.mark_set(names[(names.index(self.set) + 1) % len(names)])

    def _play(self) -> None:
        self._playing = not self._playing
        self._time = self.frame

    def _tick(self, step: int) -> None:
        """Show the next picture while a step plays."""
        if not self._playing:
            return
        self._time += 1
        if has_shapes(self.scene.step) or recorded_kind(self.scene.step.type).shapes == "vibration":
            self.swing(2.0 * np.pi * self._time / _PHASES)
        else:
            self.go_to(self._time % self.scene.frames)

    def _pick(self, point: Sequence[float]) -> None:
        self.plotter.add_text(
            self.told_at(point), position="upper_right", font_size=10, color="black", name="picked", render=False
        )
        self._render()


def open_window(thing: Model | Results, step: int | None = None) -> Window:
    """Open a window, and return it when it is closed; arguments and errors as `Window`.

    Raises:
        ResultsError: also where there is no screen.
    """
    window = Window(thing, step)
    if not has_screen() and not window.plotter.off_screen:
        raise ResultsError(
            "Window: there is no screen: write a page (fem-mbs show -o page.html) or a picture "
            "(fem_mbs.show.window.Window(thing, off_screen=True).picture)"
        )
    window.open()
    return window


def _pyvista() -> Any:
    """Return the module pyvista.

    Raises:
        ResultsError: it is not installed.
    """
    try:
        import pyvista
    except ImportError:
        raise ResultsError(
            "Window: pyvista is not installed: it comes with the extra, pip install 'fem-mbs[window]'; without it "
            "`fem-mbs show` and `show()` make a page for the browser"
        ) from None
    return pyvista
