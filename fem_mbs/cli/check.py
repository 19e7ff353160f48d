"""Explain a model file in plain lines (`fem-mbs check`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.cli.doubts.held_sets import doubts_of_sets
from fem_mbs.cli.doubts.loose_nodes import doubts_of_loose_nodes
from fem_mbs.cli.doubts.plausibility import doubts_of_statics, doubts_of_units
from fem_mbs.cli.doubts.thick_shells import doubts_of_thick_shells
from fem_mbs.errors import InputError, ModelError
from fem_mbs.units import Units, in_units_of_model, unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.run import Beginning
    from fem_mbs.modelfile.read import Entry

__all__ = ["DESCRIBED", "count_tables", "counted", "explain"]

_COARSE_ANGLE = np.deg2rad(30.0)  # of one step; the mid-point rule shortens arcs by about angle^2/12
_COARSE_SHAPE = 0.01  # of a function's range: how far it leaves the straight line within a step
_SAMPLES = 100_000  # of time steps at which drives are looked at
#: Tables of a model file of which `explain` says more than number and names.
DESCRIBED = frozenset(
    {"mesh", "part", "beam", "truss", "solid", "plane", "shell", "component", "support", "step", "sensor", "event"}
    | {"check", "units", "parameters"}
)


def explain(path: str | Path, values: Sequence[str] = ()) -> list[str]:
    """Read a model file, with other ``values`` ("PATH=VALUE"), compile it, try its start and describe it.

    Raises:
        InputError: the first thing that would keep it from running.
    """
    from fem_mbs.analysis.run import inspect
    from fem_mbs.analysis.start.mobility import mobility
    from fem_mbs.modelfile.read import build_model, locate_error, read_model_file

    file = read_model_file(path, values)
    model = build_model(file)
    try:
        begun = inspect(model)
        moves = mobility(begun.compiled, begun.state)
    except InputError as error:
        raise locate_error(path, error) from None
    return _explained(model, path, file, begun, moves)


@in_units_of_model
def _explained(model: Any, path: str | Path, file: Any, begun: Any, moves: Any) -> list[str]:
    """Return the lines on a model whose start has been tried, with its motions."""
    compiled, state = begun.compiled, begun.state
    notes: list[str] = []
    out = [f"{path}: {model.title}" if model.title else f"{path}"]
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    out.append(f"dimension {model.dimension}, gravity ({gravity}) {unit_of('m/s^2')}")
    if model.shown_units is not None:
        shown = ", ".join(f"{name} in {unit}" for name, unit in model.shown_units.chosen.items())
        base = model.shown_units.base
        out.append(f'units: the numbers of the file are in "{base}"; results show {shown or "the same"}')
    if model.parameters:
        out.append(f"parameters: {', '.join(f'{name} = {value:g}' for name, value in model.parameters.items())}")
    out += _meshes(model)
    out += _parts(file, model)
    out += _size(compiled)
    notes += model.warnings
    out += [f'component "{c.name}": {", ".join(c.groups)}' for c in model.components.values()]
    out += _mobility(moves, notes)
    out += _start(model, begun)
    out += _steps(file, model, compiled, state, moves.strain_free, notes)
    notes += doubts_of_units(model)
    notes += doubts_of_sets(model)
    notes += doubts_of_loose_nodes(model)
    notes += doubts_of_thick_shells(model)
    out += _watched(model)
    notes += _unused(file)
    out += _solver(compiled, notes)
    out += [f"note: {note}" for note in notes]
    out.append("it can run")
    return out


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 or what.endswith("s") else "s")


def _meshes(model: Any) -> Iterator[str]:
    for name, (mesh, _) in model.meshes.items():
        read = mesh.read
        cells = ", ".join(_count(n, f"{k} cell") for k, n in read.items() if k != "points" and not k.endswith(" sets"))
        yield f'mesh "{name}": {mesh.source} ({mesh.format}), {_count(read["points"], "point")}, {cells or "no cells"}'
        sets = []
        for full in mesh.set_names:
            bare, _, dimension = full.rpartition("@")
            points = mesh.node_sets.get(full) if full in mesh.node_sets else None
            if bare and dimension == "0":
                points = mesh.node_sets[bare]
            if points is not None:
                sets.append(f"{name}:{full} ({_count(len(points), 'point')})")
            else:
                sets.append(f"{name}:{full} ({_set_size(mesh, full)})")
        yield f"  sets: {', '.join(sets) or 'none'}"
        for sentence in mesh.skipped:
            yield f"  not read: {sentence}"


def _set_size(mesh: Any, full: str) -> str:
    """Return the numbers of lines, other cells and faces of a set of a mesh."""
    name = full if full in mesh.cell_sets or full in mesh.facet_sets else full.removesuffix("@1")
    counts: dict[str, int] = {}
    for block, cells in mesh.cell_sets.get(name, ()):
        kind = mesh.blocks[block].kind
        if kind.startswith("line"):
            kind, n = "line", len(cells) * (2 if kind == "line3" else 1)
        else:
            n = len(cells)
        counts[kind] = counts.get(kind, 0) + n
    words = [_count(n, kind) for kind, n in counts.items()]
    if name in mesh.facet_sets:
        words.append(_count(sum(len(cells) for _, cells, _ in mesh.facet_sets[name]), "face"))
    return ", ".join(words)


def _solids(model: Any) -> Iterator[str]:
    volume, mass = unit_of("m^3"), unit_of("kg")
    for group in model.solid_groups.values():
        kind = "solid" if not group.state else f"plane part ({group.state})"
        what = group.type.removeprefix("solid_").removeprefix("plane_").removeprefix("axisymmetric_").replace("_", ", ")
        yield (
            f'{kind} "{group.name}": {len(group.nodes)} {what}, material {group.material.name}: '
            f"volume {group.volume.sum():.6g} {volume}, mass {group.mass.sum():.6g} {mass}, "
            f"worst ratio of Jacobians in an element {group.quality:.3g}"
        )


def _shells(model: Any) -> Iterator[str]:
    length, area, mass = (unit_of(unit) for unit in ("m", "m^2", "kg"))
    for group in model.shell_groups.values():
        low, high = group.thickness.min(), group.thickness.max()
        thickness = f"{low:.6g} {length}" if low == high else f"{low:.6g} to {high:.6g} {length}"
        count, layers = _count(len(group.nodes), group.kind), _count(len(group.section.plane), "layer")
        what = "shell" if group.bends else "membrane"
        yield (
            f'{what} "{group.name}": {count}, {layers}, thickness {thickness}: area {group.area.sum():.6g} {area}, '
            f"mass {group.mass.sum():.6g} {mass}"
        )


def _reduced(model: Any) -> Iterator[str]:
    for name, placed in model.reduced_parts.items():
        f = placed.frequencies
        shapes = f"{_count(len(f), 'shape')} from {f[0]:.6g} to {f[-1]:.6g} {unit_of('Hz')}"
        nodes = ", ".join(f'"{name}:{interface}"' for interface in placed.interfaces)
        mass = f"{placed.part.moments.mass:.6g} {unit_of('kg')}"
        loads = list(placed.part.load_moments)
        more = f" and {len(loads) - 12} more" if len(loads) > 12 else ""
        own = f"; loads of its own: {', '.join(loads[:12])}{more}" if loads else ""
        yield f'reduced part "{name}": {placed.part.method}, mass {mass}, {shapes}; interfaces {nodes}{own}'
        if placed.approximate:
            yield f'reduced part "{name}": of its mass only the matrix is known, which is exact in small motions only'


def _parts(file: Any, model: Any) -> Iterator[str]:
    for entry in file.entries.get("beam", []) + file.entries.get("truss", []):
        keys = entry.keys
        n = len(model.groups[entry.name])
        kind = {"beam": "beam", "truss": "cable" if getattr(keys, "tension_only", False) else "truss"}[entry.type.name]
        sections = [keys.section] if isinstance(keys.section, str) else list(keys.section)
        of = f"section {' - '.join(sections)}" + (f", material {keys.material}" if keys.material else "")
        numbers = list(_section_numbers(model, keys.material, sections, kind, _length(model, entry.name)))
        what = kind if n == 1 else {"truss": "trusses"}.get(kind, f"{kind}s")
        on = keys.on if isinstance(keys.on, str) else " - ".join(keys.on)
        yield f'{entry.type.name} "{entry.name}": {n} {what} on {on}, {of}: {", ".join(numbers)}'
    yield from _solids(model)
    yield from _shells(model)
    yield from _reduced(model)
    yield from count_tables(file.entries)
    supports = file.entries.get("support", [])
    if supports:
        yield "held: " + ", ".join(_held(e.keys) for e in supports)


def count_tables(entries: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    """Number and names of the entries of a model file, a line for each table that no other line describes."""
    from fem_mbs.modelfile.schema import TABLES

    for table in TABLES:
        found = entries.get(table.name, [])
        if not found or table.name in DESCRIBED:
            continue
        what = {"body": "rigid body"}.get(table.name, table.owner.lower())
        unnamed = table.declaration.keys().get("name") is None
        named = [e.name + (f" ({e.keys.kind})" if table.name == "joint" else "") for e in found]
        shown = ", ".join(named[:12]) + (f" and {len(named) - 12} more" if len(named) > 12 else "")
        yield counted(len(found), what) + ("" if unnamed else f": {shown}")


def counted(n: int, what: str) -> str:
    """Return the text of a number of things whose name is a singular noun."""
    if n == 1:
        return f"1 {what}"
    if what.endswith("y"):
        return f"{n} {what[:-1]}ies"
    return f"{n} {what}{'es' if what.endswith('s') else 's'}"


def _section_numbers(model: Any, material: str | None, sections: list[str], kind: str, length: float) -> Iterator[str]:
    """Yield stiffnesses of a part's section, both ends of a tapered one, and its mass."""
    tables = model.building.section_tables
    if any(name in tables for name in sections):
        yield f"{len(tables[sections[0]].sections)} stations of a table"
        return
    material_data = model.materials[material] if material is not None else None
    of = {unit: unit_of(unit) for unit in ("N", "N m^2", "m", "kg")}
    found = [model.sections[name] for name in sections]
    if kind == "beam" and model.dimension == 3:
        from fem_mbs.properties.beams import SectionLine

        ends = [section.properties(material_data) for section in found]
        for i, name, unit in ((0, "EA", "N"), (3, "GJ", "N m^2"), (4, "EIy", "N m^2"), (5, "EIz", "N m^2")):
            yield f"{name} = {' - '.join(f'{end.stiffness[i, i]:.4g}' for end in ends)} {of[unit]}"
        for section in (s for s in found if s.computed is not None):
            s = section.computed.solved(material_data)
            places = (", ".join(f"{v:.4g}" for v in place) for place in (s.centroid, s.shear_centre))
            yield "{}: centroid [{}], shear centre [{}] {}, torsion about it {:.4g} {}".format(
                section.name, *places, of["m"], 1.0 / s.flexibility[3, 3], of["N m^2"]
            )
        line = SectionLine(found[0], found[-1], material_data)
        density = np.mean(line.at((np.arange(200) + 0.5) / 200).rhoA)
        yield f"mass {density * length:.4g} {of['kg']}"
        return
    values = found[0].stiffness(material_data, "truss" if kind == "truss" else None)
    yield f"EA = {values.EA:.4g} {of['N']}"
    if kind == "beam":
        yield f"EI = {values.EIz:.4g} {of['N m^2']}"
    yield f"mass {values.rhoA * length:.4g} {of['kg']}"


def _held(keys: Any) -> str:
    on = keys.on if isinstance(keys.on, str) else ", ".join(keys.on)
    return f"{on} ({', '.join(keys.components) if keys.components else 'all'})"


def _length(model: Any, group: str) -> float:
    cells, x = model.groups[group], model.positions
    return float(np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1).sum())


def _size(compiled: Any) -> Iterator[str]:
    from fem_mbs.analysis.header import count_model

    counts = count_model(compiled)
    elements = ", ".join(f"{n} {name}" for name, n in counts.elements.items())
    yield f"{_count(counts.nodes, 'node')}; elements: {elements}"


def _mobility(found: Any, notes: list[str]) -> Iterator[str]:
    text = f"mobility: {found.free} free dofs - {found.multipliers} constraints = {found.free - found.multipliers}"
    if found.redundant:
        text += f" + {found.redundant} (constraints that repeat others)"
        notes.append(
            f"{_count(found.redundant, 'constraint')} repeat others: a spherical joint or a slider instead of a pin or "
            "weld may say the same with less"
        )
    notes += found.sentences
    yield text
    if found.strain_free is not None:
        if found.strain_free == 0:
            yield "every motion without strain is held or driven"
        else:
            yield f"it can move in {_count(found.strain_free, 'independent way')} without strain"


def _start(model: Any, begun: Beginning) -> Iterator[str]:
    start = begun.start
    if not begun.tried:
        yield (
            "start: not tried: the model is too large for kernels that are not compiled; call fem-mbs compile with "
            "the model, then check again"
        )
        return
    if begun.assembly is not None:
        from fem_mbs.cli.report import assembly_sentences

        yield from assembly_sentences(begun.assembly, model.shown_units or Units())
    if start.method is None:
        yield "start: at rest, the first step is none of motion"
        return
    speed = float(np.abs(begun.state.V[0]).max(initial=0.0))
    if speed == 0.0:
        yield "start: at rest"
        return
    way = {"strain-free": "with the least strain rates", "projection": "by the least change"}.get(start.method)
    text = f"start: velocities and spins up to {speed:.4g} ({unit_of('m/s')}, {unit_of('rad/s')}), "
    text += f"made to fit joints and motions {way} ({start.method})" if way else "as given"
    change = start.largest_change or 0.0
    if model.initial_velocities and change > 1e-9 * speed:
        text += f", which changed what was given by up to {change:.3g}"
    if start.missing_power and abs(start.missing_power) > 1e-6:
        text += f"; {start.missing_power:.4g} {unit_of('W')} would keep the speed"
    yield text


def _steps(
    file: Any, model: Any, compiled: Any, state: Any, strain_free: int | None, notes: list[str]
) -> Iterator[str]:
    from fem_mbs.declarations.steps import step_kind

    time, first = 0.0, ""
    for number, given in enumerate(model.steps):
        step = step_kind(given.kind).plan(number, given.name, given.options)
        passing = f"t = {time + step.duration:g} {unit_of('s')}" if step.duration else ""
        notes += doubts_of_statics(step, strain_free)
        words = f'step "{step.name}": {step.kind.sentence(step.options)}'
        if not step.kind.passes_time:
            yield words + (f", to {passing}" if passing else "")
        else:
            yield f"{words} to {passing}"
            if not getattr(step.options, "adaptive", 0.0):
                n = round(step.duration / step.options.h)
                notes += _coarse(file, model, time, step.duration / n, n)
            turn = 0.0 if number else _largest_spin(compiled, state) * step.options.h
            if turn > _COARSE_ANGLE:
                first = f"at the start something turns by {np.rad2deg(turn):.0f} degrees per step; take a smaller h"
        time += step.duration
    if first:
        notes.append(first)


def _largest_spin(compiled: Any, state: Any) -> float:
    rows = compiled.system.system.rotations
    return float(np.abs(state.V[0, rows]).max(initial=0.0)) if len(rows) else 0.0


def _coarse(file: Any, model: Any, start: float, h: float, n: int) -> Iterator[str]:
    """Yield drives and loads that a time step does not resolve."""
    from fem_mbs.functions.kinds import make_function

    t = start + h * np.arange(min(n, _SAMPLES) + 1)
    for table in ("motion", "joint", "force", "moment"):
        driven = ((e, k) for e in file.entries.get(table, []) for k in ("function", "displacement"))
        for entry, key in driven:
            spec = getattr(entry.keys, key, None)
            if spec is None:
                continue
            f = make_function(spec, functions=model.functions)
            values, middle = f(t), f(0.5 * (t[:-1] + t[1:]))
            if not (np.isfinite(values).all() and np.isfinite(middle).all()):
                bad = t[np.flatnonzero(~np.isfinite(values))[:1]]
                raise ModelError(
                    f"{file.path}, {entry.place}: {key} is not finite"
                    + (f" at t = {bad[0]:.6g} {unit_of('s')}" if bad.size else " within the first steps")
                )
            step = float(np.abs(np.diff(values)).max())
            turning = ("angle", "revolute", "cylindrical", "planar")
            angular = getattr(entry.keys, "component", "") == "rotation" or (
                key == "function" and getattr(entry.keys, "kind", "") in turning
            )
            if angular and step > _COARSE_ANGLE:
                yield f"{entry.place} turns by up to {np.rad2deg(step):.0f} degrees per step; take a smaller h"
            bend = float(np.abs(middle - 0.5 * (values[:-1] + values[1:])).max())
            span = float(np.ptp(np.concatenate((values, middle))))
            if span and bend > _COARSE_SHAPE * span:
                yield (
                    f"{entry.place}: its function leaves the straight line within a step by {100 * bend / span:.0f} % "
                    "of its range; take a smaller h, or end the steps where it jumps"
                )


def _watched(model: Any) -> Iterator[str]:
    if model.sensors:
        yield "sensors: " + ", ".join(f"{s.name} ({s.kind})" for s in model.sensors)
    for lock in model.building.locks.values():
        state = "locked" if lock.locked else "ready" if lock.ready else "open"
        words = [
            f"{word} {value:g}"
            for word in ("value", "limit", "breaks_at")
            if (value := getattr(lock, word)) is not None
        ]
        yield f'lock "{lock.name}": {lock.key} of "{lock.joint}", {", ".join([state, *words])}'
    for b in model.building.breakings.values():
        limits = [f"{v:g} {unit_of(unit)}" for v, unit in ((b.force, "N"), (b.moment, "N m")) if v is not None]
        yield f'{b.kind} "{b.name}" breaks {"at " + " or ".join(limits) if limits else "by an event"}'
    for e in model.events:
        what = f"{e.action} {', '.join(e.target)}".strip()
        way = "passes" if e.direction == "both" else e.direction + " through"
        yield f'event "{e.name}": {e.sensor} {way} {e.value:g}: {what}'
    if model.checks:
        yield "checks: " + ", ".join(c.name for c in model.checks)


def _unused(file: Any) -> Iterator[str]:
    """Yield definitions that no other table names."""
    named: dict[str, set[str]] = {"material": set(), "section": set(), "function": set(), "mesh": set(), "node": set()}
    for entries in file.entries.values():
        for entry in entries:
            if entry.type.name in ("beam", "truss"):
                named["section"].update(
                    [entry.keys.section] if isinstance(entry.keys.section, str) else entry.keys.section
                )
                named["material"].add(entry.keys.material)
            if entry.type.name in ("solid", "plane", "shell"):
                named["material"].add(entry.keys.material)
            if entry.type.name == "shell":
                named["material"].update(layer["material"] for layer in entry.keys.layers or ())
            for text in _texts(entry.keys):
                for table in ("function", "node"):
                    named[table].add(text)
                named["mesh"].add(text.partition(":")[0])
    for table, used in named.items():
        for entry in file.entries.get(table, []):
            if entry.name not in used:
                yield f"{entry.place} is not used"


def _texts(keys: Any) -> Iterator[str]:
    """Yield all texts in a table, except its own name."""
    if isinstance(keys, str):
        yield keys
    elif isinstance(keys, dict):
        for value in keys.values():
            yield from _texts(value)
    elif isinstance(keys, (list, tuple)):
        for value in keys:
            yield from _texts(value)
    elif hasattr(keys, "given"):
        yield from _texts(keys.given("name"))


def _solver(compiled: Any, notes: list[str]) -> Iterator[str]:
    from fem_mbs.solvers.linear.libraries import cholmod_status
    from fem_mbs.solvers.stepping.side_by_side import threads_for

    system = compiled.system
    if threads_for(system.system.table) > 1:
        yield f"threads: {threads_for(system.system.table)} for element loops and assembly"
    if system.banded:
        yield f"linear solver: banded, {system.n_equations} equations, half-bandwidth {system.bandwidth}"
        return
    there, text = cholmod_status()
    yield f"linear solver: {system.n_equations} equations, {text}"
    if there and "reference BLAS" in text:
        notes.append("CHOLMOD uses the reference BLAS; with OpenBLAS large models are factored 3 times faster")
