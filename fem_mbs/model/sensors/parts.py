"""Sensors of what is largest over a part: displacements of a set of nodes, stresses of solids, with the place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NAME, PLACE, PLACES, TEXT
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.recovery import cauchy_stresses, nodal_average, outputs, principal, von_mises
from fem_mbs.errors import ModelError
from fem_mbs.model.sensors.motion import ObservedPoint
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
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


class _LargestStress(_Largest):
    mid_step = at_state = True

    def prepare(self, on, component):
        self.groups = [g for g in self.model.solid_groups.values() if on in (g.name, g.part)]
        if not self.groups:
            if any(on in (g.name, g.part) for g in self.model.shell_groups.values()):
                raise ModelError(
                    f'"{on}" is a shell', owner=self.owner, key="on", value=on,
                    remedy='take sensors "layer stress", or the field "von Mises stress" of the frames',
                )  # fmt: skip
            table = {g.part: g for g in self.model.solid_groups.values()}
            self.model.find("solid or plane part", on, table, self.owner)
        self.what = component
        self.nodes = np.unique(np.concatenate([g.nodes.ravel() for g in self.groups]))
        self.name_columns("Pa")

    def bind(self, compiled):
        system, dim = compiled.system, self.model.dimension
        records = [(REC_Q, int(k)) for node in self.nodes for k in system.position_dofs(node)]
        self.cells = []
        wanted = {g.name for g in self.groups}
        for block in system.blocks:
            kinds = next((m.KINDS for m in (solid, solid_plane) if block.type.name in m.KINDS), None)
            for name, first, last in block.groups if kinds is not None else ():
                if name not in wanted:
                    continue
                cell, integration, third = kinds[block.type.name]
                width, nodes = len(block.type.outputs), np.searchsorted(self.nodes, block.nodes[first:last])
                nonlinear = bool(np.any(block.par[first:last, solid.NONLINEAR]))
                about = dim == 2 and bool(third)
                self.cells.append((cell, integration, about, nonlinear, nodes, len(records), width))
                compiled.system.watch(block)
                start = block.first_output + first * width
                records += [(REC_OUT, k) for k in range(start, start + (last - first) * width)]
        return records

    def evaluate(self, values, ledger):
        n, dim = self.nodes.size, self.model.dimension
        X = self.model.positions[self.nodes]
        found = np.full((len(values), n), np.nan)
        components = 6 if dim == 3 else 4
        for row, own in enumerate(values):
            if not np.isfinite(own).all():
                continue
            x, total, count = own[: n * dim].reshape(n, dim), np.zeros((n, components)), np.zeros(n)
            for cell, integration, about, nonlinear, nodes, first, width in self.cells:
                table = own[first : first + len(nodes) * width].reshape(len(nodes), width)
                stress = outputs(table, components)[0]
                if nonlinear:
                    stress = cauchy_stresses(cell, X[nodes], x[nodes], stress, integration, about)
                meet = np.bincount(nodes.ravel(), minlength=n)
                mean = nodal_average(cell, nodes, stress, n, integration)
                total[meet > 0] += mean[meet > 0] * meet[meet > 0, None]
                count += meet
            mean = total / count[:, None]
            found[row] = von_mises(mean) if self.what == "von Mises" else principal(mean)[
                :, 0 if self.what == "principal" else -1
            ]  # fmt: skip
        known = np.isfinite(found).any(axis=1)
        out = np.full((len(values), len(self.columns)), np.nan)
        out[known] = self.picked(found[known], -found[known] if self.what == "compression" else found[known])
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
    """Largest stress at the nodes of a solid or plane part [Pa], as the frames have it (means of the cells at a node),
    and where: number and place of the node at the start."""

    sensor = _LargestStress

    kind: str = kind_key("largest stress")
    on: Any = key(NAME, "solid or plane part", kw_only=True)
    component: str = key(
        TEXT, "; ".join(f'"{k}": {v}' for k, v in _STRESSES.items()), "von Mises", choices=_STRESSES, kw_only=True
    )
