"""Sensors of what elements put out, and of the work that things give to a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NAME, TEXT, WHOLE, shown
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.solvers.stepping.layout import REC_OUT, REC_WORK

__all__ = ["HEIGHTS", "Element", "Force", "LayerStress", "Strain", "Tyre", "Work"]

#: Places over the thickness of a layer.
HEIGHTS = ("bottom", "middle", "top")


#: Outputs of tyres (`fem_mbs.elements.tyres.tyre`).
_TYRE_QUANTITIES = (
    "normal force", "longitudinal force", "lateral force", "aligning moment", "slip", "slip angle", "camber",
    "sliding speed x", "sliding speed y", "loaded radius", "penetration", "deflection x", "deflection y",
)  # fmt: skip


class _Element(Sensor):
    mid_step = True

    def prepare(self, on, element, quantity):
        counts = {name: len(cells) for name, cells in self.model.groups.items()}
        counts |= dict.fromkeys(self.model.single_elements, 1) | self.model.pair_counts
        count = self.model.find("group of elements", on, counts, self.owner)
        if isinstance(element, bool) or not isinstance(element, int) or not 0 <= element < count:
            raise ModelError(
                f"element = {shown(element)}",
                owner=self.owner,
                key="element",
                value=element,
                remedy=f'"{on}" has elements 0 to {count - 1}',
            )
        self.group, self.element, self.count = on, element, count
        self.quantity = quantity

    def bind(self, compiled):
        found = []
        for block in compiled.system.blocks:
            for name, first, last in block.groups:
                if name == self.group and block.type.outputs and last - first == self.count:
                    found.append((block, first))
        block, first = found[0]
        names = block.type.quantities
        known = self._known(names, block.reads[first + self.element] if block.reads else "")
        if self.quantity not in known:
            raise ModelError(
                f"quantity = {shown(self.quantity)}",
                owner=self.owner,
                key="quantity",
                value=self.quantity,
                remedy=f"its elements have {', '.join(known)}",
            )
        column = names.index(self.quantity)
        self.mid_step = self.quantity not in block.type.at_end
        self.unit = block.type.outputs[column].partition(" [")[2].rstrip("]") or "-"
        compiled.system.watch(block)
        return [(REC_OUT, block.first_output + (first + self.element) * len(names) + column)]

    def _known(self, names: Sequence[str], reads: str) -> list[str]:
        """Return the outputs that mean something: the friction of a gear, rack, rope or screw, whose joint ``reads``
        names, is pressed by the multiplier of a ratio, which is no normal force, and its speeds are scaled."""
        joint = self.model.joints.get(reads) if reads else None
        hidden = () if joint is None or joint.coupled is None else ("normal force", "sliding speed")
        return [name for name in names if name not in hidden]

    def evaluate(self, values, ledger):
        return values


class _Strain(_Element):
    unit = "-"

    def prepare(self, on, element):
        super().prepare(on, element, "strain")


class _Force(_Element):
    unit = "N"

    def prepare(self, on, element):
        super().prepare(on, element, "N")


class _Tyre(_Element):
    def prepare(self, on, quantity):
        known = {name: type_ for name, type_ in self.model.single_elements.items() if "tyre" in type_}
        self.model.find("tyre", on, known, self.owner)
        super().prepare(on, 0, quantity)


class _LayerStress(Sensor):
    unit, mid_step = "Pa", True

    def prepare(self, on, element, layer, at):
        groups = self.model.shell_groups
        if on not in groups:
            self.model.find("shell", on, groups, self.owner)
        self.group = groups[on]
        for word, value, first, last in (
            ("element", element, 0, len(self.group.nodes) - 1), ("layer", layer, 1, self.group.section.layers),
        ):  # fmt: skip
            if isinstance(value, bool) or not isinstance(value, int) or not first <= value <= last:
                raise ModelError(
                    f"{word} = {shown(value)}", owner=self.owner, key=word, value=value,
                    remedy=f'"{on}" has {word}s {first} to {last}',
                )  # fmt: skip
        self.element, self.layer, self.share = element, layer - 1, HEIGHTS.index(at)
        self.columns = [f"{self.name}.{component}" for component in ("11", "22", "12")]

    def bind(self, compiled):
        for block in compiled.system.blocks:
            for name, first, _ in block.groups:
                if name == self.group.name and block.type.name == self.group.type:
                    compiled.system.watch(block)
                    names = block.type.quantities
                    start = block.first_output + (first + self.element) * len(names)
                    self._find_ways()
                    columns = [k for k, quantity in enumerate(names) if quantity[0] in "NM" or quantity == "level"]
                    return [(REC_OUT, start + k) for k in columns]
        raise AssertionError(f"no block of {self.group.name}")

    def _find_ways(self):
        """Find the stresses per unit of every membrane force and moment, and of the factor on the temperatures."""
        one = self.group.element(self.element)
        matrix, _ = one.stiffness
        ways = [
            one.layer_stresses(np.linalg.inv(matrix), np.zeros(1)), one.layer_stresses(one.thermal_strains, np.ones(1)),
        ]  # fmt: skip
        self.ways = np.concatenate(ways, axis=1)[0, :, self.layer, self.share]

    def evaluate(self, values, ledger):
        return values @ self.ways


class _Work(Sensor):
    unit, nonlinear = "J", True

    def prepare(self, on):
        self.on = on
        if on not in self.model.labels:
            raise ModelError(f'"{on}" is no load, motor, spring, motion or joint', owner=self.owner, remedy="name one")

    def bind(self, compiled):
        system = compiled.system
        records = []
        for block in system.blocks:
            for name, first, last in block.groups:
                if name == self.on:
                    records += [(REC_WORK, block.first_element + e) for e in range(first, last)]
        elements = sum(block.count for block in system.blocks)
        records += [(REC_WORK, elements + i) for i, name in enumerate(system.driven.names) if name == self.on]
        return records

    def evaluate(self, values, ledger):
        return values.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Element(SensorRequest):
    """An output of one element of a group, by name: of plane beams `N`, `Q`, `M_p`, `M_q`, `N_p`, `N_q`, `Q_p`, `Q_q`
    (_p at the start, _q at the end, N, Q their means), `strain`; of beams in space `N`, `Vy`, `Vz`, `T`, `My 1`,
    `My 2`, `Mz 1`, `Mz 2`, `N 1` ..., `strain`, `twist` (N pulls, M = EI theta', theory, section 4); of a spring, motor
    or bushing: `force` or `moment`, of a bushing `force x`, `displacement x` ..., of a bearing `force u`, `force v`
    (along its two directions), `displacement u`, `displacement v`, `speed`."""

    sensor = _Element

    kind: str = kind_key("element")
    on: Any = key(NAME, "group of elements, or spring, motor or bushing", kw_only=True)
    element: int = key(WHOLE, "number of the element in its group, from 0", 0, kw_only=True)
    quantity: str | None = key(TEXT, "output of the element", None, kw_only=True)


@dataclass(frozen=True, eq=False)
class _Axial(SensorRequest):
    """Of one element."""

    on: Any = key(NAME, "group of elements", kw_only=True)
    element: int = key(WHOLE, "number of the element in its group, from 0", 0, kw_only=True)


@dataclass(frozen=True, eq=False)
class Strain(_Axial):
    """Axial strain of one element."""

    sensor = _Strain

    kind: str = kind_key("strain")


@dataclass(frozen=True, eq=False)
class Force(_Axial):
    """Axial force of one element [N]."""

    sensor = _Force

    kind: str = kind_key("force")


@dataclass(frozen=True, eq=False)
class LayerStress(SensorRequest):
    """Stresses 11, 22, 12 of a layer of a shell in the middle of an element, in the axes of the layer [Pa]."""

    sensor = _LayerStress

    kind: str = kind_key("layer stress")
    on: Any = key(NAME, "shell; of a part of two kinds of cells one of its groups", kw_only=True)
    element: int = key(WHOLE, "number of the element in its group, from 0", 0, kw_only=True)
    layer: int = key(WHOLE, "number of the layer, from 1 at the bottom", 1, kw_only=True)
    at: str = key(TEXT, '"bottom", "middle" or "top" of the layer', "middle", kw_only=True, choices=HEIGHTS)


@dataclass(frozen=True, eq=False)
class Work(SensorRequest):
    """What the load, motor, driven joint or motion called so has given to the model since the start of the step; a
    damper's is negative, an ideal joint's zero [J]."""

    sensor = _Work

    kind: str = kind_key("work")
    on: Any = key(NAME, "load, motor, spring, motion or joint", kw_only=True)


@dataclass(frozen=True, eq=False)
class Tyre(SensorRequest):
    """What a tyre does: forces on the wheel in the frame of the contact (x forward, y = normal x x), the aligning
    moment about the normal, the slips that forces follow (slip kappa, slip angle alpha), camber, the sliding speeds of
    the contact, the distance of the centre from the road within the plane of the wheel (loaded radius), penetration,
    and with relaxation the deflections of the carcass."""

    sensor = _Tyre

    kind: str = kind_key("tyre")
    on: Any = key(NAME, "tyre", kw_only=True)
    quantity: str = key(TEXT, "what is measured", "normal force", choices=_TYRE_QUANTITIES, kw_only=True)
