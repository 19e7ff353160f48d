"""Stresses and strains of solid and plane parts for results: true stresses at nodes, averaged part by part.

    sigma = F S F^T / det F  at the integration points (S itself where kinematics are linear, or a step is)
    node: mean over the cells of one part that meet there of the polynomial through the integration points
          (Hinton & Campbell 1974, doi:10.1002/nme.1620080303; `fem_mbs.elements.solids.recovery`)
    von Mises: of the mean tensor at the node

Shells have stresses on their faces and in their middle surface, by the membrane forces and moments at the nodes and the
stiffness of the layer there; they turn with the element.  "stress [Pa]" is that on top, the side of the normal.
Stresses of layers are in the axes of these.

Averages do not extend over two parts, since stresses jump where the material does.  Frames keep single precision (7
digits), which exceeds the accuracy of averaged stresses.  Tensors have the components xx, yy, zz, xy, yz, zx in global
axes; those of strains are halved shear angles; in the plane yz and zx are zero.  In a transient they belong to the
middle of the step that ends at the frame, rotated with the part to its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.elements.shells.surface import CELLS as SHELL_CELLS
from fem_mbs.elements.shells.surface import triads, turned_tensors
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.recovery import cauchy_stresses, extrapolation, outputs, von_mises
from fem_mbs.late import dataclass
from fem_mbs.properties.shell_recovery import ShellRecovery
from fem_mbs.properties.shells import ShellGroup
from fem_mbs.properties.solids import SolidGroup
from fem_mbs.results.fields import field_key, regions

__all__ = ["BOTTOM", "COMPONENTS", "MISES", "STRAIN", "STRESS", "Fields", "SolidPart", "fields_of", "solid_parts"]

COMPONENTS = solid.COMPONENTS
_STEP = 1e-3  # of differences, over the size of the model
STRESS, MISES, STRAIN = "stress [Pa]", "von Mises stress [Pa]", "strain [-]"
#: faces of shells: height over the thickness, and the word in the names of fields
FACES = {"top": (0.5, ""), "middle": (0.0, " middle"), "bottom": (-0.5, " bottom")}


@dataclass
class SolidPart:
    """Cells of one kind of one part: ``nodes`` (e, n), and where their outputs and energies begin among all."""

    name: str
    group: str
    type_name: str
    cell: str
    integration: str
    axisymmetric: bool
    nonlinear: bool
    nodes: np.ndarray
    first_output: int
    first_element: int
    width: int
    region: int = 0
    dim: int = 3
    _sum: csr_matrix | None = field(default=None, repr=False)

    @property
    def components(self) -> int:
        return 6 if self.dim == 3 else 4

    def has(self, face: str) -> bool:
        """Return whether the part has stresses on a face; solids have one kind, "top"."""
        return face == "top"

    def table(self, out: np.ndarray, face: str = "top") -> tuple[np.ndarray, np.ndarray]:
        """Return second Piola-Kirchhoff stresses and strains (e, q, 6 or 4) of all outputs (n_out,); shear as gamma."""
        own = out[self.first_output : self.first_output + len(self.nodes) * self.width]
        return outputs(own.reshape(len(self.nodes), self.width), self.components)

    def true_stresses(self, stress: np.ndarray, X: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return Cauchy stresses (e, q, k) where kinematics are nonlinear, X and x (n, dim) being the nodes'
        positions."""
        if not self.nonlinear:
            return stress
        X, x = X[self.nodes], x[self.nodes]
        return cauchy_stresses(self.cell, X, x, stress, self.integration, self.axisymmetric)

    def small_stresses(
        self, base: np.ndarray, change: np.ndarray, X: np.ndarray, x: np.ndarray, u: np.ndarray, increments: bool
    ) -> np.ndarray:  # fmt: skip
        """Return Cauchy stresses (e, q, k) linear in small displacements u (n, dim) from x, that change the second
        Piola-Kirchhoff stresses ``base`` by ``change``; ``increments``: what they add alone."""
        if not self.nonlinear:
            return change if increments else base + change
        found = self.true_stresses(change, X, x)
        size = float(np.abs(u).max()) / float(np.ptp(X, axis=0).max())
        if np.any(base) and size > 0.0:  # stresses at the state turn and stretch with the material
            e = _STEP / size
            p1, m1, p2, m2 = (self.true_stresses(base, X, x + k * e * u) for k in (1.0, -1.0, 2.0, -2.0))
            found = found + (8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * e)
        return found if increments else found + self.true_stresses(base, X, x)

    def at_nodes(self, values: np.ndarray) -> np.ndarray:
        """Return values (e, n, k) at the nodes from those (e, q, k) at the integration points."""
        return extrapolation(self.cell, self.integration) @ values

    def add_at_nodes(self, values: np.ndarray, total: np.ndarray, count: np.ndarray) -> None:
        """Add values (e, q, k) of the integration points, extrapolated, to ``total`` (n, k), and the cells to ``count``
        (n,)."""
        if self._sum is None:
            flat = self.nodes.ravel()
            entries = (np.ones(flat.size), (flat, np.arange(flat.size)))
            self._sum = csr_matrix(entries, shape=(len(total), flat.size))
        local = self.at_nodes(values)
        total += self._sum @ local.reshape(-1, values.shape[2])
        count += np.bincount(self.nodes.ravel(), minlength=len(count))


@dataclass
class ShellPart(SolidPart):
    """Cells of one kind of a shell: its group, and the positions X (e, n, 3) of their nodes at the reference."""

    shell: ShellGroup | None = None
    X: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def has(self, face: str) -> bool:
        return face in FACES

    @cached_property
    def _recovery(self) -> ShellRecovery:
        return ShellRecovery(self._group, self.X)

    @property
    def _group(self) -> ShellGroup:
        assert self.shell is not None
        return self.shell

    def strains_of(self, out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return strains and curvatures (e, n, 6) at the nodes, of membranes (e, n, 3), by all outputs (n_out,), and
        the factors (e,) on the temperatures."""
        own = out[self.first_output : self.first_output + len(self.nodes) * self.width].reshape(-1, self.width)
        return self._recovery.strains_of(own)

    def table(self, out: np.ndarray, face: str = "top") -> tuple[np.ndarray, np.ndarray]:
        """Return stresses and strains (e, n, 6) on a face at the nodes, turned back to the reference; shear as
        gamma."""
        group, height = self._group, FACES[face][0]
        strain, heat = self.strains_of(out)
        stress = group.stresses_at(strain, heat, height, group.section.layer_number(height))
        return self._recovery.tensor(stress), self._recovery.tensor(group.strains_at(strain, height), 2.0)

    def layer_stresses(self, out: np.ndarray) -> np.ndarray:
        """Return stresses (e, n, layers, 3, 3) of `ShellGroup.layer_stresses` at the nodes."""
        return self._group.layer_stresses(*self.strains_of(out))

    def true_stresses(self, stress: np.ndarray, X: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return stresses (e, n, 6) that have turned with the elements from X to x (n, 3)."""
        turn = np.swapaxes(triads(x[self.nodes]), 2, 3) @ triads(X[self.nodes])
        return turned_tensors(stress, turn)

    def at_nodes(self, values: np.ndarray) -> np.ndarray:
        """Return the values as they are: they are those of the nodes."""
        return values


def _shell_parts(system, groups: Mapping[str, ShellGroup]) -> list[SolidPart]:
    """Return the cells of shells, one part per group."""
    found: list[SolidPart] = []
    kinds = {f"{family}_{cell}": cell for family in ("shell", "membrane") for cell in SHELL_CELLS}
    for block in system.blocks:
        if block.type.name not in kinds:
            continue
        width = len(block.type.outputs)
        for label, first, last in block.groups:
            found.append(
                ShellPart(
                    label, groups[label].part, block.type.name, kinds[block.type.name], "full", False, True,
                    block.all_nodes[first:last], block.first_output + first * width, block.first_element + first, width,
                    shell=groups[label], X=system.nodes.x[block.all_nodes[first:last]],
                )
            )  # fmt: skip
    return found


def solid_parts(
    system, solids: Mapping[str, SolidGroup] | None = None, shells: Mapping[str, ShellGroup] | None = None
) -> list[SolidPart]:
    """Return the cells of a compiled system that have stresses, a group of cells of one kind each, with their regions.

    Args:
        solids: groups of solid and plane parts by their labels; None: each is a part, and its elements tell the rest.
        shells: groups of shells by their labels; None: without shells.
    """
    parts = [] if shells is None else _shell_parts(system, shells)
    for block in system.blocks:
        spatial = block.type.name in solid.KINDS
        if not spatial and block.type.name not in solid_plane.KINDS:
            continue
        cell, integration, third = (solid if spatial else solid_plane).KINDS[block.type.name]
        width = len(block.type.outputs)
        parts += [
            SolidPart(
                label,
                solids[label].part if solids else label,
                block.type.name,
                cell,
                integration,
                not spatial and third,
                solids[label].nonlinear if solids else bool(np.any(block.par[first:last, solid.NONLINEAR])),
                block.all_nodes[first:last],
                block.first_output + first * width,
                block.first_element + first,
                width,
                dim=3 if spatial else 2,
            )
            for label, first, last in block.groups
        ]
    groups = list(dict.fromkeys(part.group for part in parts))
    members = [np.concatenate([part.nodes.ravel() for part in parts if part.group == group]) for group in groups]
    number = dict(zip(groups, regions(members, len(system.nodes.x)), strict=True))
    for part in parts:
        part.region = number[part.group]
    return parts


def _of_face(face: str) -> tuple[str, str]:
    """Return the names of the stress and the von Mises stress on a face."""
    word = FACES[face][1]
    return STRESS.replace(" [", f"{word} ["), MISES.replace(" [", f"{word} [")


#: Stress on the bottom of shells, the side away from the normal.
BOTTOM = _of_face("bottom")[0]


class Fields:
    """Columns of the frames that solid and plane parts have.

    Args:
        parts: of `solid_parts`.
        X: (n, dim) [m] positions of the nodes in the reference.
        wanted: names among `fem_mbs.model.fields.FIELDS`.
        system: compiled; only for `of_shapes`.
    """

    def __init__(self, parts: Sequence[SolidPart], X: np.ndarray, wanted: Sequence[str], system: Any = None) -> None:
        self.parts, self.X, self.wanted, self._system = list(parts), X, tuple(wanted), system

    @property
    def header(self) -> list[dict[str, Any]]:
        """Return the entries of the results header on the fields at the nodes."""
        names = [_of_face(face) for face in self._faces] if "stress" in self.wanted else []
        tensor = []
        for stress, mises in names:
            tensor += [{"name": stress, "components": list(COMPONENTS)}, {"name": mises, "components": [""]}]
        tensor += [{"name": STRAIN, "components": list(COMPONENTS)} for _ in ("strain",) if "strain" in self.wanted]
        return tensor if self.parts else []

    @property
    def _faces(self) -> list[str]:
        """Return the faces whose stresses the frames hold: the only one of solids, three where there are shells."""
        return list(FACES) if any(isinstance(part, ShellPart) for part in self.parts) else ["top"]

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Return the blocks of the results header."""
        keys = ("name", "group", "cell", "region")
        return [
            {**{k: getattr(p, k) for k in keys}, "type": p.type_name, "connectivity": p.nodes, "outputs": []}
            for p in self.parts
        ]

    def columns(self, x: np.ndarray, out: np.ndarray, moved: Mapping | None = None) -> dict[str, np.ndarray]:
        """Return columns of m frames.

        Args:
            x: (m, n, dim) [m] positions of the nodes with which stresses turn, or one for all (1, n, dim).
            out: (m, n_out) all outputs.
            moved: of one frame that is linear about ``x``: see `frames`.
        """
        columns: dict[str, np.ndarray] = {}
        if not self.parts or not self.wanted:
            return columns
        for region in sorted({part.region for part in self.parts}):
            for face in self._faces:
                own = [part for part in self.parts if part.region == region and part.has(face)]
                if own:
                    columns |= self._region(own, face, x, out, moved)
        return columns

    def _region(
        self, own: Sequence[SolidPart], face: str, x: np.ndarray, out: np.ndarray, moved: Mapping | None
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return columns of the parts of one region on a face; `columns` has the other arguments."""
        columns: dict[str, np.ndarray] = {}
        m, n, first = len(out), x.shape[1], face == "top"
        at_nodes = {name: 6 for name in ("stress", "strain") if name in self.wanted and (first or name == "stress")}
        at_rest = len(x) == 1 and np.array_equal(x[0], self.X)
        tensors = {name: np.empty((m, n, width), np.float32) for name, width in at_nodes.items()}
        mises = np.empty((m, n), np.float32)
        for frame in range(m):
            totals = {name: np.zeros((n, width)) for name, width in at_nodes.items()}
            count = np.zeros(n)
            for part in own:
                stress, strain = part.table(out[frame], face)
                if moved is not None:
                    base, change = (part.table(moved[key], face)[0] for key in ("out", "change"))
                    u = moved["u"][moved["dofs"]]
                    stress = part.small_stresses(base, change, self.X, x[0], u, moved["increments"])
                elif not at_rest:
                    stress = part.true_stresses(stress, self.X, x[frame if len(x) > 1 else 0])
                strain = np.concatenate((strain[..., :3], 0.5 * strain[..., 3:]), axis=2)
                if "points" in self.wanted:
                    for label, values in ((_of_face(face)[0], stress), *([(STRAIN, strain)] if first else ())):
                        key = f"{part.name}/points {label}"
                        columns.setdefault(key, np.empty((m, *values.shape)))[frame] = values
                if "layers" in self.wanted and first and isinstance(part, ShellPart):
                    plies = part.layer_stresses(out[frame])
                    key = f"{part.name}/layers {STRESS}"
                    columns.setdefault(key, np.empty((m, *plies.shape), np.float32))[frame] = plies
                cells = np.zeros(n)
                for name, values in (("stress", stress), ("strain", strain)):
                    if name in totals:
                        cells[:] = 0.0
                        part.add_at_nodes(values, totals[name][:, : values.shape[2]], cells)
                count += cells
            count[count == 0.0] = np.nan
            for name, total in totals.items():
                mean = total / count[:, None]
                tensors[name][frame] = mean
                if name == "stress":
                    mises[frame] = von_mises(mean)
        region = own[0].region
        if "stress" in tensors:
            for name, values in zip(_of_face(face), (tensors["stress"], mises), strict=True):
                columns[field_key(name, region)] = values
        if "strain" in tensors:
            columns[field_key(STRAIN, region)] = tensors["strain"]
        return columns

    def frames(
        self, Q: np.ndarray, chunk: Mapping[str, np.ndarray], offset: np.ndarray, moved: Mapping | None = None
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return columns of m frames of a run: coordinates ``Q`` (m or 1, n_dof), "out" and "energy" (m, ...) in
        ``chunk``.

        ``moved``: of one frame of a linear step, the ``place`` (n_dof,) that it is about with the outputs ``out``,
        small displacements ``u`` (n_dof,), the ``change`` of outputs that they bring, and whether ``increments`` are
        wanted alone."""
        n, dim = self.X.shape
        if not self.parts:
            return {}
        dofs = offset[:n, None] + np.arange(dim)
        if moved is not None:
            moved, Q = {**moved, "dofs": dofs}, moved["place"][None]
        columns = self.columns(Q[:, dofs], chunk["out"], moved)
        for part in self.parts:
            energy = chunk["energy"][:, part.first_element : part.first_element + len(part.nodes)]
            columns[f"{part.name}/energy [J]"] = np.array(energy)
        return columns

    def of_shapes(self, linear: Any, U: np.ndarray) -> dict[str, np.ndarray]:
        """Return columns of stresses that small displacements ``U`` (m, N) about the state of ``linear`` add."""
        system = self._system
        if not self.parts:
            return {}
        offset, (n, dim) = system.offset, self.X.shape
        x = linear.state.Q[:1, offset[:n, None] + np.arange(dim)]
        found: dict[str, list[np.ndarray]] = {}
        for u in U:
            out = np.zeros((1, linear.state.out.size))
            for i, table in linear.output_changes(u).items():
                first, whole = system.blocks[i].first_output, linear.whole_table(i, table)
                out[0, first : first + whole.size] = whole.ravel()
            for key, values in self.columns(x, out).items():
                found.setdefault(key, []).append(values)
        return {key: np.concatenate(values) for key, values in found.items()}


def fields_of(compiled) -> Fields:
    """Return the fields of a compiled model."""
    model = compiled.model
    solids, shells = getattr(model, "solid_groups", {}), getattr(model, "shell_groups", {})
    return Fields(
        solid_parts(compiled.system, solids, shells), compiled.system.nodes.x, model.field_names, compiled.system
    )
