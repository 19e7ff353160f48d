"""Sensors of what is largest over a part: displacements of a set of nodes, stresses of parts, with the place."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NAME, PLACE, PLACES, TEXT
from fem_mbs.elements.shells.surface import triads, turned_tensors
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.recovery import cauchy_stresses, nodal_average, outputs, principal, von_mises
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.sensors.motion import ObservedPoint
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.properties.shell_recovery import ShellRecovery
from fem_mbs.properties.shells import ShellGroup
from fem_mbs.solvers.stepping.layout import REC_OUT, REC_Q

__all__ = ["LargestDisplacement", "LargestStress"]

_STRESSES = {
    "von Mises": "the von Mises stress",
    "principal": "the largest principal stress",
    "compression": "the smallest principal stress, of the largest pressure",
}


class _Largest(Sensor):
    """A value at one of several nodes, and which one it is."""

    nonlinear = True
    nodes: np.ndarray

    def name_columns(self, unit: str) -> None:
        words = ("value", "value node", *(f"value {c}" for c in "xyz"[: self.model.dimension]))
        self.columns = [f"{self.name}.{word}" for word in words]
        self.unit = [unit, "-", *["m"] * self.model.dimension]
        self.places = tuple(range(1, len(words)))

    def picked(self, values: np.ndarray, signed: np.ndarray) -> np.ndarray:
        """Return columns of values (n, m) over the nodes where ``signed`` (n, m) is largest."""
        at = np.argmax(signed, axis=1)
        nodes = self.nodes[at]
        place = self.model.positions[nodes]
        return np.column_stack((values[np.arange(len(values)), at], nodes, place))


class _LargestDisplacement(_Largest):
    def prepare(self, on, component, relative_to):
        self.nodes = np.unique(self._nodes(on))
        if not self.nodes.size:
            raise ModelError(f"on = {on} has no nodes", owner=self.owner, key="on", value=on, remedy="name a set")
        dim = self.model.dimension
        if component == "z" and dim == 2:
            raise ModelError('component = "z" in a plane model', owner=self.owner, key="component", remedy="x or y")
        self.index = None if component == "size" else "xyz".index(component)
        self.start = self.model.positions[self.nodes]
        self.observer = None
        if relative_to not in (None, "ground"):
            self.observer = ObservedPoint(self.model, relative_to, None, self.owner, turns=True)
            body = self.observer
            self.start = (self.start - body.start) @ body.start_directions
        self.name_columns("m")

    def _nodes(self, on: Any) -> np.ndarray:
        model = self.model
        cells = [group.nodes for group in model.cell_groups if on in (group.name, group.part)]
        if isinstance(on, str) and on in model.groups and on not in model.meshes:
            cells.append(model.groups[on])
        return np.concatenate([c.ravel() for c in cells]) if cells else model.nodes_of(on, self.owner, frames=False)

    def bind(self, compiled):
        records = [(REC_Q, int(k)) for node in self.nodes for k in compiled.system.position_dofs(node)]
        return records + ([] if self.observer is None else self.observer.bind(compiled.system))

    def evaluate(self, values, ledger):
        count = self.nodes.size * self.model.dimension
        x = values[:, :count].reshape(len(values), self.nodes.size, -1)
        if self.observer is not None:
            body = values[:, count:]
            x = (x - self.observer.position(body)[:, None]) @ self.observer.directions(body)
        u = x - self.start
        found = np.linalg.norm(u, axis=2) if self.index is None else u[..., self.index]
        return self.picked(found, np.abs(found))


@dataclass
class _Cells:
    """Cells of one kind whose stresses are sought: ``nodes`` (e, n) among those of the sensor, and where their outputs
    begin in its record, ``width`` for each."""

    nodes: np.ndarray
    first: int
    width: int

    def table(self, own: np.ndarray) -> np.ndarray:
        """Return the outputs (e, width) among the values of a record."""
        return own[self.first : self.first + len(self.nodes) * self.width].reshape(-1, self.width)


@dataclass
class _SolidCells(_Cells):
    cell: str
    integration: str
    about: bool
    nonlinear: bool
    layers = 1  # places over the thickness

    def at_nodes(self, own: np.ndarray, X: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the stresses (1, m, c) at the m nodes of the sensor, NaN where none of the cells is."""
        dim = X.shape[1]
        stress = outputs(self.table(own), 6 if dim == 3 else 4)[0]
        if self.nonlinear:
            stress = cauchy_stresses(self.cell, X[self.nodes], x[self.nodes], stress, self.integration, self.about)
        return nodal_average(self.cell, self.nodes, stress, len(X), self.integration)[None]


@dataclass
class _ShellCells(_Cells):
    recovery: ShellRecovery

    @property
    def layers(self) -> int:
        return 3 * self.recovery.group.section.layers

    @property
    def heights(self) -> list[tuple[int, float]]:
        """Return layers, from 0 at the bottom, and heights -1/2 to 1/2: bottom, middle and top of each."""
        bounds = self.recovery.group.section.bounds
        pairs = zip(bounds[:-1], bounds[1:], strict=True)
        return [(k, h) for k, (low, high) in enumerate(pairs) for h in (low, 0.5 * (low + high), high)]

    def at_nodes(self, own: np.ndarray, X: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the stresses (layers, m, 6) at the m nodes of the sensor, those of the frames with each element turned
        as it is; NaN where none of the cells is."""
        strain, level = self.recovery.strains_of(self.table(own))
        meet = np.bincount(self.nodes.ravel(), minlength=len(X)).astype(float)
        meet[meet == 0.0] = np.nan
        found = []
        turn = np.swapaxes(triads(x[self.nodes]), 2, 3) @ triads(X[self.nodes])
        for layer, height in self.heights:
            plane = self.recovery.group.stresses_at(strain, level, float(height), layer)
            tensor = turned_tensors(self.recovery.tensor(plane), turn).reshape(-1, 6)
            total = np.column_stack([np.bincount(self.nodes.ravel(), c, len(X)) for c in tensor.T])
            found.append(total / meet[:, None])
        return np.array(found)


class _LargestStress(_Largest):
    mid_step = at_state = True

    def prepare(self, on, component):
        solids = [g for g in self.model.solid_groups.values() if on in (g.name, g.part)]
        shells = [g for g in self.model.shell_groups.values() if on in (g.name, g.part)]
        self.groups: list[Any] = solids or shells
        if not self.groups:
            table = {g.part: g for g in (*self.model.solid_groups.values(), *self.model.shell_groups.values())}
            self.model.find("solid, plane part or shell", on, table, self.owner)
        self.what = component
        self.nodes = np.unique(np.concatenate([g.nodes.ravel() for g in self.groups]))
        self.name_columns("Pa")
        self.heights: list[tuple[int, float]] = []
        if shells:
            sections = [_ShellCells(np.zeros((0, 3), int), 0, 0, ShellRecovery(g, np.zeros((0, 3, 3)))) for g in shells]
            self.heights = max((s.heights for s in sections), key=len)
            self.columns += [f"{self.name}.value {word}" for word in ("layer", "height")]
            self.unit = [*self.unit, "-", "-"]
            self.places = tuple(range(1, len(self.columns)))

    def bind(self, compiled):
        system, dim = compiled.system, self.model.dimension
        records = [(REC_Q, int(k)) for node in self.nodes for k in system.position_dofs(node)]
        self.cells: list[_SolidCells | _ShellCells] = []
        wanted = {g.name: g for g in self.groups}
        for block in system.blocks:
            kinds = next((m.KINDS for m in (solid, solid_plane) if block.type.name in m.KINDS), None)
            for name, first, last in block.groups:
                group = wanted.get(name)
                width, nodes = len(block.type.outputs), block.all_nodes[first:last]
                own = np.searchsorted(self.nodes, nodes) if group is not None else nodes
                if group is not None and kinds is not None:
                    cell, integration, third = kinds[block.type.name]
                    about = dim == 2 and bool(third)
                    flat = len(records), width, cell, integration, about, group.nonlinear
                    self.cells.append(_SolidCells(own, *flat))
                elif isinstance(group, ShellGroup) and block.type.name == group.type:
                    X = system.nodes.x[nodes]
                    self.cells.append(_ShellCells(own, len(records), width, ShellRecovery(group, X)))
                else:
                    continue
                compiled.system.watch(block)
                start = block.first_output + first * width
                records += [(REC_OUT, k) for k in range(start, start + (last - first) * width)]
        return records

    def evaluate(self, values, ledger):
        n, dim = self.nodes.size, self.model.dimension
        X = self.model.positions[self.nodes]
        heights = max(cells.layers for cells in self.cells)
        found = np.full((len(values), heights, n), np.nan)
        for row, own in enumerate(values):
            if not np.isfinite(own).all():
                continue
            x = own[: n * dim].reshape(n, dim)
            total, count = np.zeros((heights, n, 6 if dim == 3 else 4)), np.zeros((heights, n, 1))
            for cells in self.cells:
                meet = np.bincount(cells.nodes.ravel(), minlength=n)
                some = np.flatnonzero(meet)
                mean = cells.at_nodes(own, X, x)
                total[: len(mean), some] += mean[:, some] * meet[some, None]
                count[: len(mean), some] += meet[some, None]
            mean = (total / np.where(count > 0.0, count, np.nan)).reshape(heights * n, -1)
            known = np.isfinite(mean).all(axis=1)
            value = np.full(len(mean), np.nan)
            value[known] = von_mises(mean[known]) if self.what == "von Mises" else principal(mean[known])[
                :, 0 if self.what == "principal" else -1
            ]  # fmt: skip
            found[row] = value.reshape(heights, n)
        return self._columns(found)

    def _columns(self, found: np.ndarray) -> np.ndarray:
        """Return the columns of stresses (rows, heights, nodes)."""
        signed = -found if self.what == "compression" else found
        known = np.isfinite(found).any(axis=(1, 2))
        out = np.full((len(found), len(self.columns)), np.nan)
        some, own = signed[known], found[known]
        some = np.where(np.isfinite(some), some, -np.inf)
        level = some.max(axis=2).argmax(axis=1)
        rows = np.arange(len(level))
        picked = self.picked(own[rows, level], some[rows, level])
        out[known, : picked.shape[1]] = picked
        if self.heights:
            out[known, picked.shape[1] :] = np.array([(k + 1, h) for k, h in self.heights])[level]
        return out


@dataclass(frozen=True, eq=False)
class LargestDisplacement(SensorRequest):
    """Largest displacement of the nodes of a set or part since the start [m], and where: number of the node and its
    place at the start; relative to a body: from where the body alone would have carried the nodes, in its axes."""

    sensor = _LargestDisplacement

    kind: str = kind_key("largest displacement")
    on: Any = key(PLACES, "set of nodes, or name of a part", kw_only=True)
    component: str = key(
        TEXT, '"size", or "x", "y" or "z" with its sign', "size", choices=("size", "x", "y", "z"), kw_only=True
    )
    relative_to: Any = key(PLACE, "node or body with which the observer moves and turns; else the ground", None,
                           kw_only=True)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LargestStress(SensorRequest):
    """Largest stress at the nodes of a solid, plane part or shell [Pa], as the frames have it (means of the cells at a
    node), and where: number and place of the node at the start; of a shell over the bottom, middle and top of all
    layers, with the number of the layer from 1 at the bottom and the height over the thickness, -1/2 to 1/2."""

    sensor = _LargestStress

    kind: str = kind_key("largest stress")
    on: Any = key(NAME, "solid, plane part or shell", kw_only=True)
    component: str = key(
        TEXT, "; ".join(f'"{k}": {v}' for k, v in _STRESSES.items()), "von Mises", choices=_STRESSES, kw_only=True
    )
