"""Stresses and strains of solid and plane parts for results: true stresses at nodes, averaged part by part.

    sigma = F S F^T / det F  at the integration points (S itself where kinematics are linear, or a step is)
    node: mean over the cells of one part that meet there of the polynomial through the integration points
          (Hinton & Campbell 1974, doi:10.1002/nme.1620080303; `fem_mbs.elements.solids.recovery`)
    von Mises: of the mean tensor at the node

Averages do not extend over two parts, since stresses jump where the material does.  Frames keep single precision (7
digits), which exceeds the accuracy of averaged stresses.  Tensors have the components xx, yy, zz, xy, yz, zx in global
axes; those of strains are halved shear angles; in the plane yz and zx are zero.  In a transient they belong to the
middle of the step that ends at the frame, rotated with the part to its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.recovery import cauchy_stresses, extrapolation, outputs, von_mises
from fem_mbs.results.fields import field_key, regions

__all__ = ["COMPONENTS", "MISES", "STRAIN", "STRESS", "Fields", "SolidPart", "fields_of", "solid_parts"]

COMPONENTS = solid.COMPONENTS
_STEP = 1e-3  # of differences, over the size of the model
STRESS, MISES, STRAIN = "stress [Pa]", "von Mises stress [Pa]", "strain [-]"


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

    def table(self, out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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

    def add_at_nodes(self, values: np.ndarray, total: np.ndarray, count: np.ndarray) -> None:
        """Add values (e, q, k) of the integration points, extrapolated, to ``total`` (n, k), and the cells to ``count``
        (n,)."""
        if self._sum is None:
            flat = self.nodes.ravel()
            entries = (np.ones(flat.size), (flat, np.arange(flat.size)))
            self._sum = csr_matrix(entries, shape=(len(total), flat.size))
        local = extrapolation(self.cell, self.integration) @ values
        total += self._sum @ local.reshape(-1, values.shape[2])
        count += np.bincount(self.nodes.ravel(), minlength=len(count))


def solid_parts(system, part_of: Mapping[str, str] | None = None) -> list[SolidPart]:
    """Return the cells of a compiled system that have stresses, a group of cells of one kind each, with their regions.

    Args:
        part_of: label of a group -> name of the part, where these differ (parts of several kinds of cells).
    """
    parts = []
    for block in system.blocks:
        spatial = block.type.name in solid.KINDS
        if not spatial and block.type.name not in solid_plane.KINDS:
            continue
        cell, integration, third = (solid if spatial else solid_plane).KINDS[block.type.name]
        width = len(block.type.outputs)
        parts += [
            SolidPart(
                label,
                (part_of or {}).get(label, label),
                block.type.name,
                cell,
                integration,
                not spatial and third,
                bool(np.any(block.par[first:last, solid.NONLINEAR])),
                block.nodes[first:last],
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
        tensor = [{"name": n, "components": list(COMPONENTS)} for n in (STRESS,) if "stress" in self.wanted]
        tensor += [{"name": MISES, "components": [""]} for _ in tensor]
        tensor += [{"name": STRAIN, "components": list(COMPONENTS)} for _ in ("strain",) if "strain" in self.wanted]
        return tensor if self.parts else []

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
        m, n = len(out), x.shape[1]
        at_nodes = {name: width for name, width in (("stress", 6), ("strain", 6)) if name in self.wanted}
        if not self.parts or not self.wanted:
            return columns
        at_rest = len(x) == 1 and np.array_equal(x[0], self.X)
        for region in sorted({part.region for part in self.parts}):
            own = [part for part in self.parts if part.region == region]
            tensors = {name: np.empty((m, n, width), np.float32) for name, width in at_nodes.items()}
            mises = np.empty((m, n), np.float32)
            for frame in range(m):
                totals = {name: np.zeros((n, width)) for name, width in at_nodes.items()}
                count = np.zeros(n)
                for part in own:
                    stress, strain = part.table(out[frame])
                    if moved is not None:
                        base, change = (part.table(moved[key])[0] for key in ("out", "change"))
                        u = moved["u"][moved["dofs"]]
                        stress = part.small_stresses(base, change, self.X, x[0], u, moved["increments"])
                    elif not at_rest:
                        stress = part.true_stresses(stress, self.X, x[frame if len(x) > 1 else 0])
                    strain = np.concatenate((strain[..., :3], 0.5 * strain[..., 3:]), axis=2)
                    if "points" in self.wanted:
                        for label, values in ((STRESS, stress), (STRAIN, strain)):
                            key = f"{part.name}/points {label}"
                            columns.setdefault(key, np.empty((m, *values.shape)))[frame] = values
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
            if "stress" in tensors:
                columns[field_key(STRESS, region)] = tensors["stress"]
                columns[field_key(MISES, region)] = mises
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
                first = system.blocks[i].first_output
                out[0, first : first + table.size] = table.ravel()
            for key, values in self.columns(x, out).items():
                found.setdefault(key, []).append(values)
        return {key: np.concatenate(values) for key, values in found.items()}


def fields_of(compiled) -> Fields:
    """Return the fields of a compiled model."""
    model = compiled.model
    part_of = {label: group.part for label, group in getattr(model, "solid_groups", {}).items()}
    return Fields(solid_parts(compiled.system, part_of), compiled.system.nodes.x, model.field_names, compiled.system)
