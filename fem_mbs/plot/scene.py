"""Convert a frame of a result to curves and points as arrays.

Beams are drawn as the cubic curves that their nodal positions and rotations define, so that four elements look as
smooth as they compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.symbols.symbol import Symbol, face_frame, symbols_of
from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.errors import ResultsError
from fem_mbs.late import late
from fem_mbs.plot.surface import Skin
from fem_mbs.results.columns import Column
from fem_mbs.results.fields import field_key, is_continuum, owner_of, split_key
from fem_mbs.results.modes.shapes import amplitudes, has_shapes, is_complex, state_of_shapes
from fem_mbs.results.reader import Results, Step
from fem_mbs.results.writer import check_header
from fem_mbs.rotations import rotation_matrices, rotation_vectors
from fem_mbs.units import split_unit

if TYPE_CHECKING:
    from fem_mbs.model.model import Model

__all__ = [
    "NodalQuantity",
    "Quantity",
    "Scene",
    "at_start",
    "find_quantity",
    "quantity_names",
    "start_of",
    "time_label",
]

# What draws a model, not results, loads what makes models.
_make_header = late("fem_mbs.analysis.header:make_header")
_step_result = late("fem_mbs.analysis.solution:StepResult")
_series_table = late("fem_mbs.analysis.solution:SeriesTable")

_CURVE_PIECES = 8  # straight pieces per beam element ...
_MOST_KEPT = 1.2e7  # numbers of a column of frames that is read as a whole
_CURVE_LIMIT = 500  # ... in models of at most so many elements


def time_label(step: Step) -> str:
    """Return the axis label of the "time" of a step."""
    kind = recorded_kind(step.type)
    if "path length" in step.series:
        return "Path length [m]"
    if kind.path and np.ptp(step.series.get("time", 0.0)) > 0.0:
        return "Time [s]"  # it passes over the increments
    return kind.axis


# What the short names of section quantities mean.
_BENDING = "Bending moment"
_LONG = {"N": "Normal force", "Q": "Shear force", "M": _BENDING, "T": "Torque"}


class _Frames:
    """Columns of the frames of a step, read once where they are small: a file is opened for every read."""

    def __init__(self, step: Step) -> None:
        self._frames = step.frames
        self._kept: dict[str, Any] = {}

    def __call__(self, name: str) -> Any:
        """Return a column, indexed by frames: an array, or what reads one frame at a time."""
        if name not in self._kept:
            column = self._frames[name]
            small = float(np.prod(column.shape)) <= _MOST_KEPT
            self._kept[name] = np.asarray(column) if small else column
        return self._kept[name]


class NodalQuantity:
    """A quantity of the nodes, for surfaces and lines: the size of displacements, or a field of solid and plane parts.

    `relative`: each frame is divided by its largest value, as for shapes of no definite size.
    """

    def __init__(
        self, results: Results, step: Step, name: str, component: int | None, label: str, relative=False
    ) -> None:
        self.label, self._step, self._name, self._component = label, step, name, component
        self.relative = relative
        self._results, self._frames = results, _Frames(step)
        self.regions = [0]
        if name != "displacement":
            self.regions = sorted(split_key(key)[1] for key in step.frames if split_key(key)[0] == name)
        lines = [block for block in results.header["blocks"] if not is_continuum(block)]
        self._ends = {b["name"]: b["connectivity"][:, :2] for b in lines if b["connectivity"].shape[1] > 1}
        self.blocks = set(self._ends) if name == "displacement" else set()
        self.range, self.signed = (0.0, 1.0), False
        self._latest: tuple[int, dict[int, np.ndarray]] = (-1, {})

    def at_nodes(self, frame: int) -> dict[int, np.ndarray]:
        """Return the values (n_nodes,) of each region at a frame; those of the latest are at hand, as films of shapes
        want them for every picture."""
        if frame != self._latest[0]:
            self._latest = frame, self._read(frame)
        return self._latest[1]

    def _read(self, frame: int) -> dict[int, np.ndarray]:
        if self._name == "displacement":
            if self.relative:
                values = amplitudes(self._results, self._step, frame)
                return {0: values / (values.max() or 1.0)}
            return {0: np.linalg.norm(self._frames("displacement")[frame], axis=1)}
        found = {}
        for region in self.regions:
            values = np.asarray(self._frames(field_key(self._name, region))[frame], float)
            found[region] = values if self._component is None else values[:, self._component]
        return found

    def by_region(self, skin: Skin, frame: int) -> dict[int, np.ndarray]:
        """Return the values (n_nodes,) for each region of a surface."""
        values = self.at_nodes(frame)
        return dict.fromkeys(range(skin.regions), values[0]) if self._name == "displacement" else values

    def on_pieces(self, skin: Skin, frame: int) -> np.ndarray:
        """Return the values (m, v) at the corners of the pieces of a surface."""
        return skin.at_corners(self.by_region(skin, frame))

    def largest(self, skin: Skin, frame: int) -> tuple[int, float] | None:
        """Return the node of a surface with the value of the largest size, and this value; None where there is none."""
        best: tuple[int, float] | None = None
        for region, values in self.by_region(skin, frame).items():
            nodes = skin.drawn_nodes(region)
            own = values[nodes]
            if not np.isfinite(own).any():
                continue
            k = int(np.nanargmax(np.abs(own)))
            if best is None or abs(own[k]) > abs(best[1]):
                best = int(nodes[k]), float(own[k])
        return best

    def ends(self, block: str, frame: int, cells: int) -> np.ndarray:
        """Return the values at the two ends of each element of a block of lines (n_el, 2)."""
        return self.at_nodes(frame)[0][self._ends[block]]

    def fit(self, frames: list[int]) -> NodalQuantity:
        """Set the range to that of some frames."""
        low, high = np.inf, -np.inf
        for frame in frames:
            for values in self.at_nodes(frame).values():
                finite = values[np.isfinite(values)]
                if finite.size:
                    low, high = min(low, float(finite.min())), max(high, float(finite.max()))
        if self._component is None:
            low = 0.0
        if not low <= high:
            low, high = 0.0, 0.0
        self.signed = low < 0 < high
        if self.signed:
            high = max(-low, high)
            low = -high
        self.range = (low, high) if high > low else (low, low + (abs(low) or 1.0))
        return self


class Quantity:
    """An element quantity: the blocks that have it, its range over all frames, and its values at a frame.

    `keys` gives per block one frames column, or two for the two ends of the elements: each by its name, or by those of
    components whose size (the root of the sum of squares) is shown.
    """

    def __init__(self, step: Step, label: str, keys: dict[str, list[str | tuple[str, ...]]]) -> None:
        text, unit = split_unit(label)
        self.label = f"{_LONG.get(text, text[:1].upper() + text[1:])}" + (f" [{unit}]" if unit else "")
        self.blocks = set(keys)
        frames = _Frames(step)
        self._columns = {
            block: [[frames(key) for key in ((own,) if isinstance(own, str) else own)] for own in names]
            for block, names in keys.items()
        }
        low, high = np.inf, -np.inf
        for columns in self._columns.values():
            for values in (_size(parts, frame) for parts in columns for frame in range(len(parts[0]))):
                finite = values[np.isfinite(values)]
                if finite.size:
                    low, high = min(low, float(finite.min())), max(high, float(finite.max()))
        if low > high:
            low, high = 0.0, 0.0
        self.signed = low < 0 < high
        if self.signed:
            high = max(-low, high)
            low = -high
        self.range = (low, high) if high > low else (low, low + (abs(low) or 1.0))

    def ends(self, block: str, frame: int, cells: int) -> np.ndarray:
        """Return the values at the two ends of each element of a block (n_el, 2); NaN where there are none."""
        if block not in self.blocks:
            return np.full((cells, 2), np.nan)
        values = [_size(parts, frame).reshape(cells, -1) for parts in self._columns[block]]
        if len(values) == 1 and values[0].shape[1] == 2:
            return values[0]
        return np.column_stack([values[0][:, 0], values[-1][:, 0]])


def _size(parts: list[Column], frame: int) -> np.ndarray:
    """Return the values of a column at a frame, of several the root of the sum of their squares."""
    values = [np.asarray(part[frame], float) for part in parts]
    return values[0] if len(values) == 1 else np.sqrt(sum(value**2 for value in values))


def _element_quantities(results: Results, step: Step) -> dict[str, dict[str, list[str | tuple[str, ...]]]]:
    """Return label -> block -> frames columns.

    "M_p" and "M_q" of the ends of an element become one "M", forces of both ends take the place of their mean, and the
    moments about both axes of a beam in space are one bending moment.
    """
    cells = {block["name"]: len(block["connectivity"]) for block in results.header["blocks"]}
    found: dict[str, dict[str, list[str | tuple[str, ...]]]] = {}
    for key in step.frames:
        owner = owner_of(key, cells)
        if owner is not None and step.frames[key].shape[1:2] == (cells[owner],):
            found.setdefault(key[len(owner) + 1 :], {})[owner] = [key]
    for label in list(found):
        text, unit = split_unit(label)
        unit = f" [{unit}]" if unit else ""
        mean, second = text[:-2] + unit, {"_p": "_q", " 1": " 2"}.get(text[-2:])
        other = f"{text[:-2]}{second}{unit}"
        if second is None or label not in found or (second == " 2" and mean not in found):
            continue
        if found.get(other, {}).keys() != found[label].keys():
            continue
        ends = {block: found[label][block] + found[other][block] for block in found[label]}
        found.setdefault(mean, {}).update(ends)
        if second == "_q":
            del found[label], found[other]
    ends = [[found.get(f"M{axis} {end} [N m]", {}) for axis in "yz"] for end in (1, 2)]
    bent = [block for block in ends[0][0] if all(block in column for end in ends for column in end)]
    if bent:
        found[f"{_BENDING} [N m]"] = {
            block: [tuple(column[block][0] for column in end) for end in ends] for block in bent
        }
    return found


def _nodal_quantities(results: Results, step: Step) -> dict[str, NodalQuantity]:
    """Return the nodal quantities for the colour of a surface, by lower-case name: "displacement", "von mises stress",
    "stress xx"."""
    if not any(is_continuum(block) for block in results.header["blocks"]):
        return {}
    shapes = has_shapes(step)
    label = "Displacement, largest = 1" if shapes else "Displacement [m]"
    found = {"displacement": NodalQuantity(results, step, "displacement", None, label, shapes)}
    for item in results.header["fields"]:
        if any(split_key(key)[0] == item["name"] for key in step.frames):
            text, unit = split_unit(item["name"])
            for number, component in enumerate(item["components"]):
                name = f"{text} {component}".strip()
                column = number if len(item["components"]) > 1 else None
                label = f"{name[:1].upper() + name[1:] if component else text} [{unit}]"
                found[name.lower()] = NodalQuantity(results, step, item["name"], column, label)
    return found


def find_quantity(results: Results, step: Step, name: str | None) -> Quantity | NodalQuantity | None:
    """Return the quantity called `name`, with or without its unit, short ("M") or long ("bending moment").

    Without a name: the von Mises stress of solid parts, or the displacement where there is none; a bending moment,
    another moment or an energy of elements, whatever there is first; "none" gives None.
    Raises ResultsError for a name that no block has.
    """
    if name == "none":
        return None
    nodal = _nodal_quantities(results, step)
    frames = list(range(len(step.frame_times)))
    if name is None and nodal:
        first = [item.fit(frames) for key, item in nodal.items() if "mises" in key]
        stressed = [item for item in first if any(np.nanmax(v) > 0.0 for v in item.at_nodes(frames[-1]).values())]
        return (stressed or [nodal["displacement"].fit(frames)])[0]
    wanted = "" if name is None else split_unit(name)[0].lower()
    wanted = {"von mises": "von mises stress"}.get(wanted, wanted)
    if wanted in nodal:
        return nodal[wanted].fit(frames)
    found = _element_quantities(results, step)
    names = {label: {label.lower(), split_unit(label)[0].lower()} for label in found}
    for label in found:
        names[label].add(_LONG.get(split_unit(label)[0], label).lower())
    if name is None:
        for word in ("bending", "moment", "energy"):
            for label, keys in found.items():
                if any(word in known for known in names[label]):
                    return Quantity(step, label, keys)
        return None
    for label, keys in found.items():
        if name.lower() in names[label]:
            return Quantity(step, label, keys)
    known = ", ".join(f'"{text}"' for text in [*nodal, *(split_unit(label)[0] for label in found)]) or "none"
    raise ResultsError(f'Figure: no element quantity "{name}" in step "{step.name}": there are {known}')


class _Start(Results):
    """The model at its start, as results with one frame."""

    directory = None
    status = "done"

    def __init__(self, header: dict[str, Any]) -> None:
        self.header, self.summary, self.restart_points = header, {}, []
        frames = {"time": np.zeros(1), "displacement": np.zeros((1, len(header["nodes"]), 3))}
        self.steps = [_step_result("start", "static", frames=_series_table(frames))]


def at_start(model: Model) -> Results:
    """Return a model at its start as results with one frame, to be drawn; no kernel is compiled.

    Raises:
        ModelError: the model is not complete.
    """
    return _Start(check_header(_make_header(model.compile(stepping=False))))


def start_of(results: Results) -> Results:
    """Return the model of results at its start, to be drawn."""
    return _Start(results.header)


def quantity_names(results: Results, step: Step) -> list[str]:
    """Return the names that `find_quantity` knows of a step, those of nodes first."""
    return [*_nodal_quantities(results, step), *(split_unit(key)[0] for key in _element_quantities(results, step))]


def _cayley_vectors(turn: np.ndarray) -> np.ndarray:
    """Return the Cayley vectors 2 tan(phi/2) e of rotation vectors phi e (n, 3), the linear increments of rotations in
    a shape (`fem_mbs.system.states.moved`)."""
    angle = np.linalg.norm(turn, axis=1, keepdims=True)
    safe = np.where(angle > 0.0, angle, 1.0)
    return np.where(angle > 0.0, 2.0 * np.tan(0.5 * angle) / safe, 1.0) * turn


class Scene:
    """Positions and curves of a model at the frames of one step.

    Shapes are shown about the state that they belong to, `scale` times as large; complex ones as Re(u exp(i `phase`)).
    The view moves along with the node `followed`, which stays at its start place in the picture; None: the view is
    fixed.
    """

    def __init__(self, results: Results, step: Step) -> None:
        if "displacement" not in step.frames or not len(step.frame_times):
            raise ResultsError(
                f'Figure: step "{step.name}" has no frames with displacements: store some during the run'
            )
        self.results, self.step = results, step
        self.flat = results.header["dimension"] == 2
        self.nodes: np.ndarray = results.header["nodes"]
        self.times = step.frame_times
        lines = [block for block in results.header["blocks"] if not is_continuum(block)]
        self.blocks = [block for block in lines if block["connectivity"].shape[1] >= 2]
        self.skin = Skin(results.header) if len(lines) < len(results.header["blocks"]) else None
        self.scale, self.phase = 1.0, 0.0
        self.followed: int | None = None
        self.swings = False  # whether shapes are shown in all their phases
        self.complex = is_complex(step)
        self._shapes = has_shapes(step)
        self._about = state_of_shapes(results, step) if self._shapes else None
        self.points = [block for block in results.header["blocks"] if block["connectivity"].shape[1] == 1]
        self.bodies: list[dict[str, Any]] = results.header["bodies"]
        self.discs: list[dict[str, Any]] = results.header.get("discs", [])
        self.symbols = symbols_of(results.header)
        self.masses = [symbol for symbol in self.symbols if symbol.layer == "masses"]
        count = sum(len(block["connectivity"]) for block in self.blocks)
        self._curved = count <= _CURVE_LIMIT and "rotation" in step.frames
        self.frames = len(self.times)
        self._read = _Frames(step)
        self._rotation = step.frames.get("rotation")
        self._last: tuple[int, np.ndarray, np.ndarray | None] | None = None
        self._increments: np.ndarray | None = None  # of rotations in the shape of `_last` (n_nodes, 3)
        self._unit = np.ones(self.frames)
        if recorded_kind(step.type).shapes == "vibration":  # vibrations are too small to be seen as they are
            size = float(np.ptp(self.nodes, axis=0).max(initial=0.0)) or 1.0
            most = [amplitudes(results, step, frame).max(initial=0.0) for frame in range(self.frames)]
            self._unit = np.array([0.1 * size / a if a > 0.0 else 1.0 for a in most])

    def magnify(self, scale: float, phase: float = 0.0) -> None:
        """Enlarge displacements and rotations, and choose the phase [rad] of complex ones."""
        self.scale, self.phase, self._last = float(scale), float(phase), None

    def _rest(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and rotations that displacements count from: the start, or the state of shapes."""
        if self._about is None:
            return self.nodes, np.broadcast_to(np.eye(3), (len(self.nodes), 3, 3))
        return self.nodes + self._about[0], rotation_matrices(self._about[1])

    def _part(self, name: str, frame: int) -> np.ndarray:
        """Return a column of the frames at the phase: displacements or rotation vectors (n_nodes, 3)."""
        values = np.asarray(self._read(name)[frame], float)
        if self.complex and f"{name} imaginary" in self.step.frames:
            imaginary = np.asarray(self._read(f"{name} imaginary")[frame], float)
            values = np.cos(self.phase) * values - np.sin(self.phase) * imaginary
        return self._unit[frame] * values

    def state(self, frame: int | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Return positions (n_nodes, 3) [m] and rotations (n_nodes, 3, 3) at a frame; None is the reference: the start,
        or the state that shapes are about."""
        if frame is None:
            return self._rest()
        if self._last is None or self._last[0] != frame:  # it is asked for several times while a frame is drawn
            u = self._part("displacement", frame)
            turn = self._part("rotation", frame) if self._rotation is not None else None
            if not self._shapes:
                position, rotation = self.nodes + self.scale * u - self._way(frame), None
                if turn is not None:
                    rotation = rotation_matrices(self.scale * turn)
            else:
                position, rotation = self._beside(u, turn)
            self._last = frame, position, rotation
        return self._last[1], self._last[2]

    def _way(self, frame: int | None) -> np.ndarray:
        """Return the displacement (3,) of the view at a frame: that of the node that it follows."""
        if self.followed is None or frame is None:
            return np.zeros(3)
        return self.scale * self._part("displacement", frame)[self.followed]

    def _beside(self, u: np.ndarray, turn: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Return positions and rotations of a shape about a state."""
        rest, R = self._rest()
        u, turn = self._less_rest(u, turn)
        position = rest + self.scale * u
        if turn is None:
            return position, None
        self._increments = self.scale * (turn if self.complex else _cayley_vectors(turn))
        return position, rotation_matrices(self.scale * turn) @ R

    def _less_rest(self, u: np.ndarray, turn: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Return displacements and rotation vectors of a shape from the state that it is about: those of complex modes
        are so, those of others hold it."""
        if self.complex or self._about is None:
            return u, turn
        rest, R = self._rest()
        if turn is not None:
            turn = rotation_vectors(rotation_matrices(turn) @ R.transpose(0, 2, 1))
        return self.nodes + u - rest, turn

    @property
    def about(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return displacements and rotation vectors (n_nodes, 3) of the state that shapes are about, None of others."""
        return self._about

    def moved(self, frame: int, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray | None]:
        """Return displacements (n_nodes, 3) [m] and rotation vectors (n_nodes, 3) [rad] of a frame at a phase [rad],
        from the start or, of shapes, from the state that they are about; no rotations where there are none."""
        kept, self.phase = self.phase, phase
        u = self._part("displacement", frame)
        turn = self._part("rotation", frame) if self._rotation is not None else None
        self.phase = kept
        return self._less_rest(u, turn)

    def visible_scale(self, frames: list[int]) -> float:
        """Return the factor that makes displacements visible: 1 if they are, else a round number."""
        size = float(np.max(np.ptp(self.nodes, axis=0)))
        largest = max(float(np.abs(self.state(frame)[0] - self.nodes).max()) for frame in frames)
        if largest == 0.0 or largest > 0.02 * size:
            return 1.0
        wanted = 0.06 * size / largest
        power = 10.0 ** np.floor(np.log10(wanted))
        return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= wanted))

    def path(self, node: int, frame: int) -> np.ndarray:
        """Return the position (3,) of one node at a frame."""
        if self._about is not None or self.complex:
            return self.state(frame)[0][node]
        return self.nodes[node] + self.scale * self._read("displacement")[frame][node] - self._way(frame)

    def orbits(self, frame: int, nodes: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """Return the orbits (len(nodes), len(turns), 3) of nodes in a complex shape over the phases `turns` [rad]."""
        real, imaginary = (
            np.asarray(self.step.frames[name][frame], float)[nodes][:, None]
            for name in ("displacement", "displacement imaginary")
        )
        phase = turns[None, :, None]
        size = self.scale * self._unit[frame]
        return self._rest()[0][nodes][:, None] + size * (np.cos(phase) * real - np.sin(phase) * imaginary)

    def curves(self, frame: int | None) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Return per block: name, points (n_el, pieces + 1, 3) along each element, and their parameter in 0 .. 1."""
        position, rotation = self.state(frame)
        curves = []
        for block in self.blocks:
            cells = block["connectivity"]
            if cells.shape[1] == 3 and block.get("cell", "line3") == "line3":
                cells = cells[:, [0, 2, 1]]  # both ends come first in a file, the middle last
            beam = self._curved and cells.shape[1] == 2 and "beam" in str(block["type"]).lower()
            if not beam or rotation is None:
                points = position[cells]
                curves.append((block["name"], points, np.linspace(0, 1, points.shape[1])))
                continue
            s = np.linspace(0, 1, _CURVE_PIECES + 1)
            shape = np.stack([1 - 3 * s**2 + 2 * s**3, s - 2 * s**2 + s**3, 3 * s**2 - 2 * s**3, s**3 - s**2])
            first, last = self._tangents(frame, cells, rotation)
            corners = np.stack([position[cells[:, 0]], first, position[cells[:, 1]], last])
            curves.append((block["name"], np.einsum("ks,knj->nsj", shape, corners), s))
        return curves

    def _tangents(self, frame: int | None, cells: np.ndarray, rotation: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the tangents (n_el, 3) of line elements at their first and their last nodes.

        Those of shapes are linear in the rotations, as the displacements are: turned by large rotations, for example of
        twist, they would not fit the displaced nodes, and the lines would have waves.
        """
        axis = self.nodes[cells[:, 1]] - self.nodes[cells[:, 0]]
        for end in cells.T[:2]:
            if frame is None or self._increments is None:
                yield np.einsum("nij,nj->ni", rotation[end], axis)
                continue
            rest = np.einsum("nij,nj->ni", self._rest()[1][end], axis)
            yield rest + np.cross(self._increments[end], rest)

    def body_lines(self, frame: int | None) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return per body its mass centre (3,) and the points (n, 3) fixed to it."""
        position, rotation = self.state(frame)
        lines = []
        for body in self.bodies:
            node = int(body["node"])
            points = np.asarray(body.get("points") or np.empty((0, 3)), float).reshape(-1, 3)
            turn = np.eye(3) if rotation is None else rotation[node]
            lines.append(
                (position[node], position[node] + points @ np.asarray(body.get("rotation", np.eye(3))).T @ turn.T)
            )
        return lines

    def visuals(self, frame: int | None) -> list[tuple[str, np.ndarray]]:
        """Return the surfaces of bodies: colours, and triangles (t, 3, 3)."""
        position, rotation = self.state(frame)
        found = []
        for body in self.bodies:
            for shape in body.get("visual") or []:
                node = int(body["node"])
                turn = np.eye(3) if rotation is None else rotation[node]
                points = position[node] + shape["points"] @ np.asarray(body["rotation"], float).T @ turn.T
                found.append((shape["colour"], points[shape["triangles"]]))
        return found

    def rings(self, frame: int | None) -> np.ndarray:
        """Return the edges of discs (n, 41, 3), closed circles."""
        position, rotation = self.state(frame)
        found = np.empty((len(self.discs), 41, 3))
        turn = np.linspace(0.0, 2.0 * np.pi, 41)
        for k, disc in enumerate(self.discs):
            node, normal = int(disc["node"]), np.asarray(disc["normal"], float)
            across = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
            across /= np.linalg.norm(across)
            edge = np.outer(np.cos(turn), across) + np.outer(np.sin(turn), np.cross(normal, across))
            R = np.eye(3) if rotation is None else rotation[node]
            found[k] = position[node] + disc["radius"] * edge @ R.T
        return found

    def places(self, symbol: Symbol, frame: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return where the ends (k, 3) of a symbol are, and the rotation (3, 3) of its first node since the start."""
        position, rotation = self.state(frame)
        if symbol.face:
            now, start = position[list(symbol.face)], self.nodes[list(symbol.face)]
            turn = face_frame(now) @ face_frame(start).T
            at = self.nodes[symbol.ends[0][0]] + np.asarray(symbol.ends[0][1])
            return (now.mean(axis=0) + turn @ (at - start.mean(axis=0)))[None], turn
        found, turns = np.empty((len(symbol.ends), 3)), []
        for k, (node, offset) in enumerate(symbol.ends):
            still = node < 0 or rotation is None
            turns.append(np.eye(3) if still else rotation[node])
            found[k] = (-self._way(frame) if node < 0 else position[node]) + turns[-1] @ np.asarray(offset)
        return found, turns[0]

    def extent(self, frames: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return lowest and highest corner (3,) of everything drawn at the given frames."""
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for frame, scale, phase in self._poses(frames):
            kept = self.scale, self.phase
            self.magnify(scale, phase)
            clouds = [self.state(frame)[0], *(points for _, points in self.body_lines(frame))]
            clouds += [points.reshape(-1, 3) for _, points, _ in self.curves(frame)]
            clouds.append(self.rings(frame).reshape(-1, 3))
            clouds += [triangles.reshape(-1, 3) for _, triangles in self.visuals(frame)]
            fixed = [symbol for symbol in self.symbols if symbol.layer in ("masses", "springs")]
            clouds += [self.places(symbol, frame)[0] for symbol in fixed]
            self.magnify(*kept)
            for cloud in clouds:
                if len(cloud):
                    low, high = np.fmin(low, np.nanmin(cloud, axis=0)), np.fmax(high, np.nanmax(cloud, axis=0))
        return low, high

    def _poses(self, frames: list[int]) -> Iterator[tuple[int, float, float]]:
        """Yield frames with the scales and phases in which they are shown."""
        for frame in frames:
            if not self.swings or frame is None:
                yield frame, self.scale, self.phase
            elif self.complex:
                yield from ((frame, self.scale, phase) for phase in np.arange(8) * np.pi / 4.0)
            else:
                yield from ((frame, scale, 0.0) for scale in (self.scale, -self.scale))
