"""Compute the prints that a deck requests from the states of a run: tables ``prints`` of the steps of summary.json.

A table has the deck's numbers in the order of its set: {"quantity": "U", "set": "NALL", "time": 1.0, "ids": [...],
"values": [[ux, uy, uz], ...]}; those at integration points have "points" beside the ids, those of modes "mode", sums
over the set "total": true and no ids.

    U V         displacements, velocities (of modes: shapes with unit modal mass), in local axes where a node has some
    NT          temperatures that the deck gives
    RF          external forces: reactions and loads; at dofs that depend on others the force of the constraint
    S E         stresses (true ones after large displacements), strains of Green: xx, yy, zz, xy, xz, yz of the tensor
    ENER ELSE   energy density at integration points, energy of elements
    ELKE        kinetic energy of solids in motions
    CENT        square of the speed of the turning frame (as CENTRIF)
    EVOL EMAS   volumes and masses of elements at the start; with sums of EMAS also the second moments of the mass about
                the axes of coordinates, the centre of gravity, and the second moments about that
    SOF SOM     forces and moments through surfaces (`fem_mbs.decks.abaqus.results.section_forces`)

Trusses print one point, in their middle; beams and shells those of the solid elements that CalculiX makes of them
(`fem_mbs.decks.abaqus.results.section_stresses`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.fields import BOTTOM, STRAIN, STRESS
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.decks.abaqus.beams import Beyond, beam_section, beyond
from fem_mbs.decks.abaqus.constraints.free import check_balance
from fem_mbs.decks.abaqus.loads import node_temperatures
from fem_mbs.decks.abaqus.materials import density_of, material_of, stiffness_matrix
from fem_mbs.decks.abaqus.model import Conversion, Group
from fem_mbs.decks.abaqus.results.section_forces import SECTION_COLUMNS, surface_tables
from fem_mbs.decks.abaqus.results.section_stresses import beam_stresses, shell_stresses, tensors
from fem_mbs.decks.abaqus.shells import shell_areas, shell_mass_per_area, shell_thickness
from fem_mbs.decks.abaqus.solids import kinetic_energies, volumes
from fem_mbs.decks.abaqus.steps.sequence import StepPlan
from fem_mbs.decks.abaqus.substructures import SUBSTRUCTURE, retained_matrices
from fem_mbs.elements.solids import shapes
from fem_mbs.meshes.abaqus.deck import DeckStep, OutputRequest
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.results.recorder import Recorder, Relay
from fem_mbs.results.report import PrintTable, StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["Printer"]

_ORDER = [0, 1, 2, 3, 5, 4]  # xx, yy, zz, xy, xz, yz of xx, yy, zz, xy, yz, zx
_SILENT = {"NOE", ""}
#: Part by which displacements of CalculiX's beams may differ without a note.
_BEYOND = 0.01


class Printer(Relay):
    """Computes the prints of a deck from the rows of its run, as they pass on to another recorder."""

    def __init__(self, conv: Conversion, plan: list[StepPlan], job: RunContext, recorder: Recorder) -> None:
        super().__init__(recorder)
        self.conv, self.plan, self.job = conv, plan, job
        self.number = -1
        self.tables: list[PrintTable] = []
        self.count = 0
        self.last: Callable[[], None] | None = None
        self.beyond: Beyond | None = None

    def begin_step(self, name: str, type: str, info: dict[str, Any] | None = None) -> None:
        """Begin the tables of a step."""
        self.number += 1
        self.tables, self.count, self.last, self.beyond = [], 0, None, None
        super().begin_step(name, type, info)

    def append(
        self,
        series: Mapping[str, np.ndarray] | None = None,
        frames: Mapping[str, np.ndarray] | None = None,
        restart: dict[str, Any] | None = None,
        *,
        keep: bool = True,
    ) -> None:
        """Compute the tables that are due at these frames."""
        step = self.plan[self.number]
        if frames is not None and not step.kind.linear and not step.kind.shapes:
            self._beyond(frames)
        if frames is not None and step.prints:
            self._take(step, series, frames)
        super().append(series, frames, restart, keep=keep)

    def end_step(self, report: StepReport | None = None) -> StepReport | None:
        """Enter the number of the deck's step and the tables in the report."""
        if self.last is not None:
            self.last()
        step = self.plan[self.number]
        self._tell_beyond(step)
        deck_step = self.conv.deck.steps[step.index]
        if deck_step.procedure == SUBSTRUCTURE:
            self._retained(step, deck_step)
        if any(name in self.conv.free for name in self.conv.step_supports.get(step.index, [])):
            response, system = self.job.linear.responses[step.name], self.job.system
            moved = float(np.abs(system.nodal(response.u)[:, :3]).max())
            energy = float(response.totals["energy"].sum())
            check_balance(self.conv, step.index, system.nodal(response.forces), moved, energy)
        if report is not None:
            report = replace(report, deck_step=deck_step.number, prints=self.tables or None)
        return super().end_step(report)

    @property
    def _linear(self) -> Linearised:
        """The matrices of the linear step that is being printed."""
        found = self.job.linear.linear
        assert found is not None
        return found

    # --- which states ----------------------------------------------------------------------------------------------
    def _take(self, step: StepPlan, series, frames) -> None:
        if step.kind.shapes == "vibration":
            self._vibrations(step, frames)
            return
        if step.kind.shapes:
            self._modes(step)
            return
        deck_step = self.conv.deck.steps[step.index]
        times = np.atleast_1d(frames["time"])
        for f, t in enumerate(times):
            if step.kind.path and self.count == 0 and "load factor" in series and series["time"].size == 1:
                self.count += 1  # the start of the step
                continue
            frame = {k: v[f] for k, v in frames.items() if k != "time"}
            if step.kind.motion:
                increment = round((float(t) - step.start) / deck_step.increment)
                now = float(t)
                if increment == 0:
                    continue
            else:
                increment = self.count if step.kind.path else 1
                self.count += 1
                now = float(series["time"][-1]) if step.kind.path else step.time
            due = [o for o in step.prints if o.frequency > 0 and increment % o.frequency == 0]
            late = [o for o in step.prints if o.frequency > 0 and increment % o.frequency]
            self.last = None
            for request in due:
                self._print(step, request, frame, now)
            if late:  # the last increment is printed in any case
                self.last = lambda s=step, r=late, fr=frame, at=now: [self._print(s, o, fr, at) for o in r]

    def _vibrations(self, step: StepPlan, frames) -> None:
        """Print real (U) and imaginary (UI) parts of steady vibrations; the time is the frequency."""
        for request in step.prints:
            if request.frequency <= 0 or not request.variables:
                continue
            for v in request.variables:
                if v != "U" or request.kind != "node print":
                    self._unknown(request, v, "of steady vibrations")
                    continue
                for f, frequency in enumerate(np.atleast_1d(frames["time"])):
                    for name, part in (("U", ""), ("UI", " imaginary")):
                        u = self._displacements(frames[f"displacement{part}"][f], frames[f"rotation{part}"][f])
                        self._node_table(request, name, u, float(frequency))

    def _modes(self, step: StepPlan) -> None:
        """Print shapes of modes with unit modal mass, and buckling shapes unscaled."""
        for request in step.prints:
            if request.frequency <= 0 or not request.variables:
                continue
            for v in request.variables:
                if v != "U" or "basis" not in step.kind.carries or request.kind != "node print":
                    self._unknown(request, v, "of complex modes and buckling shapes")
                    continue
                linear = self._linear
                vectors = self.job.linear.vectors
                assert vectors is not None
                for k in range(vectors.shape[1]):
                    u = linear.system.nodal(vectors[:, k])
                    number = self.job.linear.below + k + 1
                    self._node_table(request, "U", self._displacements(u[:, :3], u[:, 3:]), step.time, mode=number)

    def _unknown(self, request: OutputRequest, name: str, what: str = "") -> None:
        if name not in _SILENT:
            self.conv.note(
                f"{request.where}: {name} {what or 'is not known'}: it is not printed".replace("  ", " "), Effect.NONE
            )

    # --- tables ----------------------------------------------------------------------------------------------------
    def _add(self, request, quantity, time, ids, values, points=None, mode=0, total=False, columns=None) -> None:
        deck = self.conv.deck
        name = deck.node_name if request.kind == "node print" else deck.element_name
        labels = [name(int(i)) for i in ids] if deck.assembled and len(ids) else None
        table = PrintTable(
            quantity=quantity, set=request.set_name, time=time, mode=mode or None, total=total or None,
            ids=np.asarray(ids).tolist(), labels=labels,
            points=None if points is None else np.asarray(points).tolist(),
            columns=columns, values=np.asarray(values, float).tolist(),
        )  # fmt: skip
        self.tables.append(table)

    def _print(self, step: StepPlan, request: OutputRequest, frame, time: float) -> None:
        if request.kind == "section print":
            self._section(step, request, frame, time)
            return
        for name in request.variables:
            if request.kind == "node print":
                if name == "U":
                    self._node_table(request, name, self._displacements(frame["displacement"], frame["rotation"]), time)
                elif name == "V":
                    self._node_table(request, name, frame["velocity"], time)
                elif name == "NT":
                    self._node_table(request, name, node_temperatures(self.conv, time)[:, None], time)
                elif name == "RF":
                    forces = self._external(step, frame)
                    if forces is None:
                        self._unknown(request, name, "of steps in time")
                    else:
                        self._node_table(request, name, forces, time)
                else:
                    self._unknown(request, name)
            else:
                self._element_tables(step, request, name, frame, time)

    def _displacements(self, u: np.ndarray, turn: np.ndarray) -> np.ndarray:
        u = u.copy()
        for own, ref in self.conv.turning.items():
            u[own] = turn[ref]
        return u

    def _node_table(self, request, name, values, time, mode=0) -> None:
        nodes = self.conv.nodes(request.ids)
        picked = values[nodes]
        if not request.global_axes and picked.shape[1] == 3:
            axes, has = self.conv.transform_of(nodes)
            if has.any():
                picked = np.einsum("nij,nj->ni", axes, picked)
        if request.totals != "only":
            self._add(request, name, time, request.ids, picked, mode=mode)
        if request.totals != "no" and name == "RF":
            self._add(request, name, time, [], picked.sum(axis=0)[None], total=True, mode=mode)

    def _section(self, step: StepPlan, request: OutputRequest, frame, time: float) -> None:
        """Print what stresses carry through a surface, if forces or moments are asked for."""
        for name in request.variables:
            if name not in ("SOF", "SOM"):
                self._unknown(request, name, "of a surface")
        if {"SOF", "SOM"}.isdisjoint(request.variables):
            return
        found = surface_tables(self.conv, request, frame, self._moves(step))
        if found is None:
            self._unknown(request, "SOF", "of surfaces in models that are not of solids alone")
            return
        for name, values in found.items():
            self._add(request, name, time, [], values[None], total=True, columns=list(SECTION_COLUMNS[name]))

    def _retained(self, step: StepPlan, deck_step: DeckStep) -> None:
        """Print the matrices of the displacements that a substructure retains; ``points`` are their directions."""
        linear = self.job.linear.linearisation
        assert linear is not None
        nodes, dofs, matrices = retained_matrices(self.conv, deck_step, linear)
        deck = self.conv.deck
        labels = [deck.node_name(int(i)) for i in nodes] if deck.assembled else None
        for name, A in matrices.items():
            table = PrintTable(quantity=name, set=None, time=step.time, ids=nodes.tolist(), labels=labels,
                               points=dofs.tolist(), values=A.tolist())  # fmt: skip
            self.tables.append(table)

    def _moves(self, step: StepPlan) -> bool:
        """Return whether displacements of a step change the geometry."""
        return self.conv.is_nonlinear(self.conv.deck.steps[step.index]) and not step.kind.linear

    # --- large strains ----------------------------------------------------------------------------------------------
    def _beyond(self, frames) -> None:
        """Keep the largest strains of beams in a nonlinear step."""
        last = {k: v[-1] for k, v in frames.items() if k != "time"}
        for group in self.conv.groups:
            if group.kind == "beam":
                table = self._table(group, last)
                moments = np.column_stack((np.abs(table[:, 4:6]).max(axis=1), np.abs(table[:, 6:8]).max(axis=1)))
                found = beyond(self.conv, group, table[:, 0], moments)
                if self.beyond is None or found.stiffer > self.beyond.stiffer:
                    self.beyond = found

    def _tell_beyond(self, step: StepPlan) -> None:
        """Note beams whose strains are so large that CalculiX's differ."""
        deck_step, found = self.conv.deck.steps[step.index], self.beyond
        if found is None or found.stiffer < _BEYOND:
            return
        self.conv.beyond[deck_step.number] = (found.stiffer, found.why)
        self.conv.note(
            f"{deck_step.where}: beams strain by up to {found.strain:.2g} and an element bends by up to "
            f"{found.bent:.2g} rad; CalculiX is stiffer there by a part of about {found.stiffer:.1g}, for {found.why}",
            Effect.DIFFERS,
        )

    # --- forces ----------------------------------------------------------------------------------------------------
    def _external(self, step: StepPlan, frame) -> np.ndarray | None:
        """Return reactions and loads on nodes (n, 3)."""
        from fem_mbs.system.tangent import Level, Tangent

        job, system = self.job, self.job.system
        if not (step.kind.path or "preload" in step.kind.carries):
            return None
        loads = np.asarray(job.compiled.loads, bool)
        if "preload" in step.kind.carries:
            response, linear = job.linear.responses[step.name], self._linear
            state = linear.state
            if self.conv.deck.steps[step.index].perturbation:  # increments
                values, on, reaction = response.values, response.mask & loads, response.forces
            else:
                values = linear.values_now() + np.where(response.mask, response.values, 0.0)
                on, reaction = loads, response.totals["reaction"]
        else:
            values = function_jets(job.compiled, job.time)[:, 0] * job.loading.factors
            on = loads
            state = system.initial_state()
            state.Q[:], state.D[:] = job.state.Q[0], job.state.D[0]
            reaction = job.state.reaction[0] if job.state.reaction.ndim > 1 else job.state.reaction
        silent = Tangent(system, state, Level(0.0 * values))
        # temperatures strain elements, they are no forces from outside
        pushing = [b for b in system.blocks if "function" in b.type.par and b.type.prestress is None]
        none = silent.force(pushing)
        whole = np.zeros(system.n_dof)
        whole[: len(reaction)] = reaction[: system.n_dof]
        whole += none - silent.under(Level(np.where(on, values, 0.0))).force(pushing)
        whole[system.first_multiplier :] = 0.0
        nodal = system.nodal(whole)
        forces = nodal[:, :3].copy()
        bound = self._bound
        if len(bound[0]):  # forces of equations on them, as CalculiX prints them
            blocks = [b for b in system.blocks if not b.type.multipliers and not b.type.inertia]
            if "preload" in step.kind.carries:
                r, tangent = silent.assemble(silent.control(2.0), blocks)
                inner = tangent @ job.linear.responses[step.name].u
                if not self.conv.deck.steps[step.index].perturbation:
                    inner += r
            else:
                inner = silent.force(blocks)
            forces[bound] = system.nodal(inner)[bound]
        for own, ref in self.conv.turning.items():
            forces[own] = nodal[ref, 3:] + self._drive_moment(step, ref)
        return forces

    @cached_property
    def _bound(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes (m,) and directions (m,) on which equations act: dependent ones, and others of nodes with elements."""
        conv = self.conv
        bound = np.zeros((len(conv.deck.node_ids), 6), bool)
        for nodes, components in conv.equated:
            bound[nodes, components] = True
        meshed = np.zeros(len(bound), bool)
        for group in conv.groups:
            meshed[group.nodes] = True
        bound[~meshed] = False
        for node, k in conv.dependent:
            bound[node, k] = True
        bound[list(conv.inclined), : self.job.system.dimension] = True
        nodes, directions = np.nonzero(bound[:, :3])
        return nodes, directions

    def _drive_moment(self, step: StepPlan, ref: int) -> np.ndarray:
        """Return moments (3,) of the drivers of a node's rotation."""
        total = np.zeros(3)
        for name, node, axis in self.conv.turned:
            if node == ref:
                total[axis] += self._joint_output(step, name, "drive moment")
        return total

    def _joint_output(self, step: StepPlan, name: str, label: str) -> float:
        """Return an output of the element of a joint, at the state of the step."""
        job, system = self.job, self.job.system
        for block in system.blocks:
            for group, first, last in block.groups:
                if group != name:
                    continue
                if "preload" in step.kind.carries:
                    linear, response = self._linear, job.linear.responses[step.name]
                    at = block.dof[first:last, block.type.node_dofs :].ravel() - system.first_multiplier
                    rows = linear.constraints[at]
                    force = -(rows.T @ response.y[at])
                    dofs = block.dof[first:last, : block.type.node_dofs].ravel()
                    turn = np.abs(force[dofs[dofs < len(force)]])
                    return float(force[dofs[dofs < len(force)]][turn.argmax()]) if len(turn) else 0.0
                column = [i for i, o in enumerate(block.type.outputs) if o.startswith(label)]
                out = job.state.out
                width = len(block.type.outputs)
                return float(np.ravel(out)[block.first_output + first * width + column[0]]) if column else 0.0
        return 0.0

    # --- elements --------------------------------------------------------------------------------------------------
    def _element_tables(self, step: StepPlan, request, name, frame, time) -> None:
        nonlinear = self._moves(step)
        if name in ("S", "E", "ENER"):
            make: Callable = self._points
        elif name in ("ELSE", "ELKE", "EVOL", "EMAS"):
            make = self._whole
        elif name == "CENT":
            self._speed(step, request, time)
            return
        else:
            self._unknown(request, name)
            return
        parts = []
        for group, rows in self.conv.element_groups(request.ids):
            found = make(request, group, rows, name, frame, nonlinear)
            if found is not None:
                points, values = found
                ids = np.repeat(group.ids[rows], len(points)) if points is not None else group.ids[rows]
                parts.append((ids, None if points is None else np.tile(points, len(rows)), values))
        if not parts:
            return
        ids = np.concatenate([p[0] for p in parts])
        values = np.concatenate([p[2] for p in parts])
        points = None if parts[0][1] is None else np.concatenate([p[1] for p in parts])
        if len(parts) > 1:  # in the order of the set
            order = {int(e): i for i, e in enumerate(request.ids)}
            at = np.argsort([order[int(e)] for e in ids], kind="stable")
            ids, values, points = ids[at], values[at], None if points is None else points[at]
        if request.totals != "only" or points is not None:  # there are no sums over points
            self._add(request, name, time, ids, values, points)
        if request.totals != "no" and points is None:
            self._add(request, name, time, [], values.sum(axis=0)[None], total=True)
            if name == "EMAS":
                self._moments(request, time)

    def _table(self, group: Group, frame) -> np.ndarray:
        """Return outputs (m, k) of the elements of a group, as they come."""
        block = self._block(group)
        return np.column_stack([frame[f"{group.name}/{label}"] for label in block.type.outputs])

    def _block(self, group: Group):
        for block in self.job.system.blocks:
            if not block.type.inertia and any(name == group.name for name, _, _ in block.groups):
                return block
        raise KeyError(group.name)

    def _points(self, request, group: Group, rows, name, frame, nonlinear):
        if group.kind in ("beam", "shell"):
            return self._section_points(request, group, rows, name, frame)
        if group.kind == "truss":
            per = len(group.lines) // len(group.ids)  # the middle of a T3D3 is between its halves
            table = self._table(group, frame).reshape(len(group.ids), per, -1).mean(axis=1)
            x, ends = self.conv.deck.x, group.nodes[:, [0, -1]]
            axis = x[ends[:, 1]] - x[ends[:, 0]]
            if nonlinear:
                u = frame["displacement"]
                axis = axis + u[ends[:, 1]] - u[ends[:, 0]]
            axis = axis / np.linalg.norm(axis, axis=1)[:, None]
            stress, strain = table[:, 0] / group.section.value, table[:, 1]
            if name == "ENER":
                return np.array([1]), (0.5 * stress * strain)[rows][:, None]
            value = stress if name == "S" else strain
            tensor = value[:, None, None] * axis[:, :, None] * axis[:, None, :]
            return np.array([1]), _six(tensor)[rows]
        strain = _full(frame[f"{group.name}/points {STRAIN}"][rows])
        if self._heated(group) and (name == "ENER" or (name == "E" and group.state == "stress")):
            self._unknown(request, name, f"of {group.type} with temperatures")
            return None
        points = np.arange(1, strain.shape[1] + 1)
        one = group.type.startswith("C3D8R")  # the deck's element has one point
        if name == "ENER":
            energy = self._energy_density(group, rows, strain)
            return points[: 1 if one else None], (energy.mean(axis=1) if one else energy).reshape(-1, 1)
        values = _full(frame[f"{group.name}/points {STRESS}"][rows]) if name == "S" else strain
        if name == "E" and group.state == "stress":
            values = self._across(group, rows, strain)
        if group.axes is not None and not request.global_axes:
            A = group.axes[rows][:, None]
            T = tensors(values)
            values = _six(A @ T @ np.swapaxes(A, -1, -2), sort=False)
        if one:
            points, values = points[:1], values.mean(axis=1, keepdims=True)
        return points, values[..., _ORDER].reshape(-1, 6)

    def _heated(self, group: Group) -> bool:
        """Return whether temperatures strain the elements, so that strains are more than what the stresses make."""
        material = self.conv.deck.materials.get(group.section.material or "")
        expands = material is not None and material.expansion is not None and np.any(material.expansion.coefficients)
        return bool(expands) and any(step.temperatures for step in self.conv.deck.steps)

    def _stiffness(self, group: Group) -> np.ndarray:
        return stiffness_matrix(self.conv, material_of(self.conv, group.section.material, group.section.where))

    def _across(self, group: Group, rows, strain: np.ndarray) -> np.ndarray:
        """Return strains (e, q, 6) of plane stress, with the one across the plane that leaves no stress there."""
        A = np.eye(3) if group.axes is None else group.axes[rows][:, None]
        turned = _six(A @ tensors(strain) @ np.swapaxes(A, -1, -2), sort=False)
        C, known = self._stiffness(group), [0, 1, 3, 4, 5]
        gamma = turned[..., known] * np.array([1.0, 1.0, 2.0, 2.0, 2.0])
        out = strain.copy()  # axes of materials in the plane are turned about z
        out[..., 2] = -(gamma @ C[2, known]) / C[2, 2]
        return out

    def _energy_density(self, group: Group, rows, strain: np.ndarray) -> np.ndarray:
        """Return E.C E/2 (e, q) of strains (e, q, 6), components of the tensor in global axes."""
        if group.state == "stress":
            strain = self._across(group, rows, strain)
        if group.axes is not None:
            A = group.axes[rows][:, None]
            strain = _six(A @ tensors(strain) @ np.swapaxes(A, -1, -2), sort=False)
        gamma = strain * np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
        C = self._stiffness(group)
        return 0.5 * np.einsum("eqi,ij,eqj->eq", gamma, C, gamma)

    def _section_points(self, request, group: Group, rows, name, frame):
        """Return stresses of beams and shells at the points of the solids that CalculiX makes of them."""
        found, what = None, f"of {group.type}"
        if group.kind == "beam":
            what = f"of beams {group.type} with a section {group.section.shape}"
            if name == "S":
                found = beam_stresses(self.conv, group, self._table(group, frame), request.global_axes is not False)
        elif group.section.layers or group.section.stiffness is not None:
            what = "of shells of layers"
        elif name == "S":
            top, bottom = (frame[f"{group.name}/points {field}"] for field in (STRESS, BOTTOM))
            found = shell_stresses(self.conv, group, top, bottom, bool(request.global_axes))
        if found is None:
            self._unknown(request, name, what)
            return None
        return np.arange(1, found.shape[1] + 1), _six(found)[rows].reshape(-1, 6)

    def _whole(self, request, group: Group, rows, name, frame, nonlinear):
        if name == "ELSE":
            energy = frame[f"{group.name}/energy [J]"]
            per = len(group.lines) // len(group.ids) if group.is_line else 1
            return None, energy.reshape(-1, per).sum(axis=1)[rows][:, None]
        if name == "ELKE":
            found = None
            if group.kind == "solid" and "velocity" in frame:
                found = kinetic_energies(self.conv, group, frame["velocity"], self._density(group))
            if found is None:
                self._unknown(request, name, f"of {group.type} with these masses, or of steps without motion")
                return None
            return None, found[rows][:, None]
        volume = self._volumes(group)
        if name == "EVOL":
            return None, volume[rows][:, None]
        return None, (volume * self._density(group))[rows][:, None]

    def _speed(self, step: StepPlan, request, time) -> None:
        """Print the square of the speed of the turning frame in which elements are."""
        frame = self.conv.model.building.rotating
        if all(load.kind != "centrifugal" for s in self.conv.deck.steps for load in s.dloads):
            self._add(request, "CENTRIF", time, request.ids, np.zeros((len(request.ids), 1)))
            return
        if frame is None or "preload" not in step.kind.carries:
            self._unknown(request, "CENT", "of elements that do not turn with the whole model in linear statics")
            return
        response = self.job.linear.responses[step.name]
        values = self._linear.values_now() + np.where(response.mask, response.values, 0.0)
        square = float(values[frame.function])
        self._add(request, "CENTRIF", time, request.ids, np.full((len(request.ids), 1), square))

    def _density(self, group: Group) -> float:
        if group.kind == "shell":
            if not group.section.layers:
                return density_of(self.conv, material_of(self.conv, group.section.material, group.section.where))
            return shell_mass_per_area(self.conv, group) / group.section.thickness
        return density_of(self.conv, material_of(self.conv, group.section.material, group.section.where))

    def _volumes(self, group: Group) -> np.ndarray:
        x = self.conv.deck.x
        if group.kind == "solid":
            return volumes(group, x[group.nodes])
        if group.kind == "shell":
            return (shell_areas(group, np.arange(len(group.ids)), x) * shell_thickness(self.conv, group)).sum(axis=1)
        ends = x[group.lines]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).reshape(len(group.ids), -1).sum(axis=1)
        if group.kind == "truss":
            return length * group.section.value
        from fem_mbs.properties.sections import make_section

        shape, values, _ = beam_section(group.section)
        return length * make_section(group.name, shape, **values).A

    def _moments(self, request, time) -> None:
        """Print sums of EMAS: second moments of the mass about the origin and about its centre, and that centre."""
        mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
        for group, rows in self.conv.element_groups(request.ids):
            if group.kind != "solid" or group.state:
                self._unknown(request, "EMAS", f"of {group.type} has no moments of inertia")
                return
            X = self.conv.deck.x[group.nodes[rows]]
            points, weights = shapes.rule(group.cell, group.rule)
            dm = self._density(group) * np.linalg.det(shapes.jacobians(group.cell, X, points)) * weights
            place = np.einsum("qn,eni->eqi", shapes.shape_functions(group.cell, points), X)
            mass += dm.sum()
            first += np.einsum("eq,eqi->i", dm, place)
            second += np.einsum("eq,eqi,eqj->ij", dm, place, place)
        if not mass > 0.0:
            return
        centre = first / mass
        inner = second - mass * np.outer(centre, centre)
        for name, values in (("EMASI", _six(second)), ("COG", centre), ("EMASIC", _six(inner))):
            self._add(request, name, time, [], values[None], total=True)


def _full(values: np.ndarray) -> np.ndarray:
    """Return six components of tensors, of those in the plane (xx, yy, zz, xy) too."""
    return np.pad(values, ((0, 0), (0, 0), (0, 6 - values.shape[-1])))


def _six(T: np.ndarray, sort: bool = True) -> np.ndarray:
    """Return components (..., 6) xx, yy, zz, xy, xz, yz (or, not sorted, yz before zx) of tensors (..., 3, 3)."""
    six = np.stack([T[..., 0, 0], T[..., 1, 1], T[..., 2, 2], T[..., 0, 1], T[..., 1, 2], T[..., 2, 0]], axis=-1)
    return six[..., _ORDER] if sort else six
