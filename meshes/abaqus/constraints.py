"""Equations, multiple point constraints, rigid bodies, couplings, ties, transforms, amplitudes, initial conditions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.meshes.abaqus.assembly import place, turn
from fem_mbs.meshes.abaqus.deck import (
    Amplitude,
    Coupling,
    CyclicModel,
    CyclicTie,
    Equation,
    Imperfection,
    InitialCondition,
    Mpc,
    PretensionSection,
    RigidBody,
    Tie,
    Transform,
)
from fem_mbs.meshes.abaqus.properties.orientations import check_axes
from fem_mbs.meshes.abaqus.text import Card, Row, label, where
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.reader import Reading

__all__ = ["CONSTRAINT_KEYWORDS"]

# Constraints between two nodes each, so that a set may stand for many.
_PAIRS = ("BEAM", "PIN", "TIE", "LINK", "ELBOW", "REVOLUTE", "UNIVERSAL")


def equation(deck: Reading, card: Card) -> None:
    """Read linear equations between directions of nodes; REMOVE takes away some, in linear steps too.

    The number of terms stands on a line, then node, dof and coefficient of each, four to a line; sets term by term.
    """
    if "REMOVEALL" in card.params and card.flag("REMOVE ALL"):
        if any(any(fields) for _, fields in card.rows()):
            card.fail("REMOVE ALL has no data lines; give REMOVE to take away some equations")
        _take_away(deck, list(deck.equations))
        return
    if card.flag("REMOVE"):
        _remove(deck, card)
        return
    rows = iter(card.rows())
    for head, fields in rows:
        n = head.whole(fields, 0, "number of terms")
        if not 1 <= n <= 1_000_000:
            head.fail(f"the number of terms is {n}; give 1 or more")
        if len(fields) > 1:
            head.fail(f"{len(fields)} entries; the line before an equation holds its number of terms only")
        terms: list[tuple[Row, list[str]]] = []
        while len(terms) < n:
            following = next(rows, None)
            if following is None:
                head.fail(f"{len(terms)} terms follow, {n} are announced")
            row, fields = following
            if len(fields) % 3:
                row.fail(f"{len(fields)} entries; give node, direction and coefficient of each term")
            terms += [(row, fields[i : i + 3]) for i in range(0, len(fields), 3)]
        if len(terms) > n:
            terms[n][0].fail(f"{len(terms)} terms, but {n} are announced in line {head.line}")
        nodes = [deck.mesh.nodes(row, f[0]) for row, f in terms]
        dofs = np.array([dof_of(row, f, 1) for row, f in terms])
        factors = np.array([row.number(f, 2, "coefficient") for row, f in terms])
        if not factors[0]:
            terms[0][0].fail("the coefficient of the first term is zero; that one is the dependent one")
        count = max(len(k) for k in nodes)
        for (row, f), k in zip(terms, nodes):
            if len(k) not in (1, count):
                row.fail(f"the set {f[0]} has {len(k)} nodes and another of the equation {count}")
        table = np.column_stack([np.broadcast_to(k, count) for k in nodes]) if count else np.empty((0, n), np.int64)
        rest = (table == table[:, :1]) & (dofs == dofs[0])
        if (abs(rest @ factors) <= 1e-14 * np.abs(factors).max()).any():
            terms[0][0].fail("the coefficients of the first term's direction cancel; it is to depend on the others")
        for line in table:
            deck.equations.append(Equation(line.copy(), dofs, factors, where(head)))


def _remove(deck: Reading, card: Card) -> None:
    """Take equations away that stand before, by their dependent dofs.

    Raises:
        MeshError: no such equation.
    """
    for row, fields in card.rows():
        nodes = deck.mesh.nodes(row, fields[0])
        first = dof_of(row, fields, 1)
        last = row.whole(fields, 2, "last direction", first) or first
        deck.surplus(row, fields, 3)
        gone = [e for e in deck.equations if not e.until and e.nodes[0] in nodes and first <= e.dofs[0] <= last]
        if not gone:
            row.fail(f"no equation before it has a dependent direction {first} to {last} of {fields[0]}")
        _take_away(deck, gone)


def _take_away(deck: Reading, gone: list[Equation]) -> None:
    """Take equations away: outside of steps wholly, else from the present step on."""
    taken = {id(e) for e in gone}
    if deck.step is None:
        deck.equations = [e for e in deck.equations if id(e) not in taken]
        return
    number = deck.step.number
    deck.equations = [replace(e, until=number) if id(e) in taken and not e.until else e for e in deck.equations]


def dof_of(row: Row, fields: list[str], i: int) -> int:
    """Return a direction 1..6."""
    d = row.whole(fields, i, "direction")
    if not 1 <= d <= 6:
        row.fail(f"the direction is {d}; give 1 to 6")
    return d


def mpc(deck: Reading, card: Card) -> None:
    """Constrain nodes by BEAM, LINK, PIN, TIE, STRAIGHT, PLANE or MEANROT; other types are refused.

    A line is a type and nodes or sets; one that begins with 0 continues the one before.
    """
    card.flag("USER")
    groups: list[tuple[Row, list[str]]] = []
    for row, fields in card.rows():
        if re.fullmatch(r"0+", fields[0]):
            if not groups:
                row.fail("there is no line to go on with")
            groups[-1][1].extend(fields[1:])
        else:
            groups.append((row, list(fields)))
    for row, fields in groups:
        kind = label(fields[0])
        if not kind or re.fullmatch(r"[+-]?[\d.]+", kind):
            row.fail("the first entry is the type of the constraint, for example BEAM")
        entries = [deck.mesh.nodes(row, f) for f in fields[1:] if f and not re.fullmatch(r"0+", f)]
        if len(entries) < 1 or sum(map(len, entries)) < 2:
            row.fail(f"{kind} needs two nodes at least")
        if kind in _PAIRS and len(entries) == 2:
            count = max(map(len, entries))
            if any(len(e) not in (1, count) for e in entries):
                row.fail(f"the sets have {len(entries[0])} and {len(entries[1])} nodes; they must pair")
            for pair in np.column_stack([np.broadcast_to(e, count) for e in entries]):
                if pair[0] != pair[1]:
                    deck.mpcs.append(Mpc(kind, pair.copy(), where(row)))
        else:
            deck.mpcs.append(Mpc(kind, np.concatenate(entries), where(row)))


def imperfection(deck: Reading, card: Card) -> None:
    """Read shapes of another deck and their factors, or displacements of nodes, by which nodes are moved."""
    if card.get("SYSTEM", "R") != "R":
        card.fail("displacements in SYSTEM=C or S are not read; give them along x, y and z")
    file, nset = card.get("FILE"), card.get("NSET")
    mine = np.empty(0, np.int64) if nset is None else deck.mesh.nset(card, nset)
    if file is None:
        for row, fields in card.rows():
            nodes = deck.mesh.nodes(row, fields[0])
            vector = [row.number(fields, k, "displacement", 0.0) for k in (1, 2, 3)]
            deck.surplus(row, fields, 4)
            deck.imperfections.append(
                Imperfection("", 0, (), nodes, np.tile(vector, (len(nodes), 1)), where(row))
            )  # fmt: skip
        return
    step = card.count("STEP", 1)
    if "INC" in card.params:
        deck.log.add("parameter", "IMPERFECTION, INC", card, reason="displacements are those of the end of the step")
        card.taken.add("INC")
    modes = []
    for row, fields in card.rows():
        number = row.whole(fields, 0, "mode", 0) or 0
        if number < 0:
            row.fail(f"the mode is {number}; give a number from 1")
        modes.append((number, row.number(fields, 1, "factor", 0.0)))
        deck.surplus(row, fields, 2)
    if not modes:
        card.fail("no data; give modes and their factors")
    deck.imperfections.append(Imperfection(file, step, tuple(modes), mine, np.empty((0, 3)), where(card)))


def rigid_body(deck: Reading, card: Card) -> None:
    """Make nodes or elements a rigid body with REF NODE and ROT NODE."""
    ref = card.get("REF NODE")
    nset, elset = card.get("NSET"), card.get("ELSET")
    if nset is None and elset is None:
        card.fail("parameter NSET or ELSET is missing; write *RIGID BODY, NSET=..., REF NODE=...")
    rotation = card.get("ROT NODE")
    if ref is None:
        card.fail("parameter REF NODE is missing; give the node that moves the body")
    elements = np.empty(0, np.int64) if elset is None else deck.mesh.elset(card, elset)
    nodes = [] if nset is None else [deck.mesh.nset(card, nset)]
    if elset is not None:
        nodes.append(deck.mesh.nodes_of_elements(elements))
    deck.covered.append(elements)
    deck.rigid_bodies.append(
        RigidBody(
            np.concatenate(nodes),
            elements,
            deck.mesh.one_node(card, ref),
            0 if rotation is None else deck.mesh.one_node(card, rotation),
            where(card),
        )
    )


def coupling(deck: Reading, card: Card) -> None:
    """Couple a surface to a node.

    The *KINEMATIC or *DISTRIBUTING after it defines its kind.
    """
    surface = deck.mesh.surface(card, card.need("SURFACE"))
    orient = card.get("ORIENTATION")
    if orient is not None:
        orient = deck.refer(card, "orientation", orient)
    name = card.get("CONSTRAINT NAME", "")
    deck.coupling = (card, name, deck.mesh.one_node(card, card.need("REF NODE")), surface, orient)


def kinematic(deck: Reading, card: Card) -> None:
    """Couple the named directions of a surface rigidly."""
    _finish_coupling(deck, card, "kinematic")


def distributing(deck: Reading, card: Card) -> None:
    """Couple the mean motion of a surface."""
    method = card.get("WEIGHTING METHOD", "UNIFORM")
    if method != "UNIFORM":
        deck.log.add("parameter", f"DISTRIBUTING, WEIGHTING METHOD={method}", card)
    _finish_coupling(deck, card, "distributing")


def _finish_coupling(deck, card: Card, kind: str) -> None:
    if deck.coupling is None:
        card.fail("it stands alone; *COUPLING must come before it")
    head, name, ref, surface, orient = deck.coupling
    deck.coupling = None
    nodes = deck.mesh.surfaces[surface].nodes
    deck.couplings.append(
        Coupling(kind, name, ref, nodes, np.ones(len(nodes)), _dof_ranges(deck, card), orient, where(head), surface)
    )


def _dof_ranges(deck: Reading, card: Card) -> tuple[int, ...]:
    dofs: set[int] = set()
    for row, fields in card.rows():
        first = dof_of(row, fields, 0)
        last = row.whole(fields, 1, "last direction", first) or first
        if not first <= last <= 6:
            row.fail(f"the last direction is {last}; give {first} to 6")
        dofs.update(range(first, last + 1))
        deck.surplus(row, fields, 2)
    return tuple(sorted(dofs)) or (1, 2, 3, 4, 5, 6)


def kinematic_coupling(deck: Reading, card: Card) -> None:
    """Couple named directions of nodes to a node rigidly, in the older form."""
    ref = deck.mesh.one_node(card, card.need("REF NODE"))
    orient = card.get("ORIENTATION")
    if orient is not None:
        orient = deck.refer(card, "orientation", orient)
    for row, fields in card.rows():
        nodes = deck.mesh.nodes(row, fields[0])
        dofs: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
        if len(fields) > 1 and fields[1]:
            first = dof_of(row, fields, 1)
            last = row.whole(fields, 2, "last direction", first) or first
            if not first <= last <= 6:
                row.fail(f"the last direction is {last}; give {first} to 6")
            dofs = tuple(range(first, last + 1))
            deck.surplus(row, fields, 3)
        deck.couplings.append(Coupling("kinematic", "", ref, nodes, np.ones(len(nodes)), dofs, orient, where(row)))


def distributing_coupling(deck: Reading, card: Card) -> None:
    """Couple the mean motion of nodes with weights to a node, in the older form.

    The element of type DCOUP3D is the reference node; nodes or sets with their weights follow.
    """
    name = card.need("ELSET")
    ids = deck.mesh.elset(card, name)
    blocks = [b for b in deck.mesh.blocks if np.isin(b.ids, ids).any()]
    if len(ids) != 1 or blocks[0].family != "distributing coupling":
        card.fail(f"the set {name} must hold one element of type DCOUP3D")
    ref = int(blocks[0].nodes[blocks[0].ids == ids[0], 0][0])
    weights: dict[int, float] = {}
    for row, fields in card.rows():
        nodes = deck.mesh.nodes(row, fields[0])
        weight = row.number(fields, 1, "weight", 1.0)
        deck.surplus(row, fields, 2)
        if weight <= 0:
            row.fail(f"the weight is {weight:g}; give a positive number")
        weights.update(dict.fromkeys(nodes.tolist(), weight))
    if not weights:
        card.fail("no data; give nodes or sets and their weights")
    dofs = (1, 2, 3, 4, 5, 6)
    nodes = np.array(list(weights), np.int64)
    deck.couplings.append(
        Coupling("distributing", name, ref, nodes, np.array(list(weights.values())), dofs, None, where(card))
    )


def tie(deck: Reading, card: Card) -> None:
    """Glue two surfaces, or with CYCLIC SYMMETRY two faces of a sector; MULTISTAGE is refused."""
    cyclic = card.flag("CYCLIC SYMMETRY")
    other = next((kind for kind in ("MULTISTAGE", "FLUID PERIODIC") if card.flag(kind)), None)
    if other is not None:
        deck.log.add("keyword", f"TIE, {other}", card)
        card.taken.update(card.params)
        return
    card.choice("TYPE", {"SURFACE": None, "NODE": None}, None)  # nodes follow faces in both, and need not match them
    tolerance = card.number("POSITION TOLERANCE", np.nan)
    adjust, free = card.get("ADJUST", "YES") != "NO", card.flag("NO ROTATION")
    card.flag("NO THICKNESS")
    name = card.get("NAME", "")
    for row, fields in card.rows():
        if len(fields) < 2:
            row.fail("give the slave and the master surface")
        deck.surplus(row, fields, 2)
        slave, master = (deck.mesh.surface(row, label(f)) for f in fields[:2])
        near = None if np.isnan(tolerance) else tolerance
        if cyclic:
            deck.cyclic_ties.append(CyclicTie(name, slave, master, near, where(card)))
        else:
            deck.ties.append(Tie(name, slave, master, near, adjust, where(card), free))


def cyclic_symmetry_model(deck: Reading, card: Card) -> None:
    """Read the number of sectors N of a wheel, its axis, and its TIE; NGRAPH and ELSET say what other programs draw."""
    n = card.number("N", np.nan)
    if n != np.floor(n) or not 2 <= n < 1e6:
        card.fail(f"N={card.get('N', '')}; give a whole number of sectors, at least 2")
    for name in ("NGRAPH", "ELSET", "CHECK"):
        card.get(name)
    row, fields = deck.only_line(card, "two points of the axis")
    v = np.array(row.numbers(fields, "an axis (points a and b)", 6, 6))
    if not np.linalg.norm(v[3:] - v[:3]) > 0.0:
        row.fail("both points of the axis are the same; give two different ones")
    deck.cyclic_models.append(
        CyclicModel(int(n), place(card, v[:3]), place(card, v[3:]), card.get("TIE") or "", where(card))
    )


def pretension_section(deck: Reading, card: Card) -> None:
    """Cut a part along a SURFACE, or replace a beam ELEMENT, by a section that the first direction of NODE shortens."""
    surface, element = card.get("SURFACE"), card.get("ELEMENT")
    if (surface is None) == (element is None):
        card.fail("give either SURFACE=... or ELEMENT=...")
    beam = None
    if element is not None:
        ids = deck.mesh.elements(Row(card, card.file, card.line), element)
        if len(ids) != 1:
            card.fail(f"ELEMENT={element} has {len(ids)} elements; name one beam")
        beam = int(ids[0])
    node = deck.mesh.one_node(card, card.need("NODE"))
    rows, normal = list(card.rows()), None
    if rows:
        row, fields = deck.only_line(card, "the normal")
        normal = np.array(row.numbers(fields, "the normal", 1, 3))
        normal = np.append(normal, np.zeros(3 - len(normal)))
        if not np.linalg.norm(normal) > 0.0:
            row.fail("the normal has no length; give its direction, or none for that of the surface")
    name = "" if surface is None else deck.mesh.surface(card, surface)
    deck.pretensions.append(PretensionSection(name, beam, node, normal, where(card)))


def transform(deck: Reading, card: Card) -> None:
    """Give nodes rectangular or cylindrical axes for supports, loads and equations."""
    nodes = deck.mesh.nset(card, card.need("NSET"))
    system = card.choice("TYPE", {"R": "rectangular", "C": "cylindrical", "S": "spherical"}, "rectangular")
    if system == "spherical":
        card.fail("TYPE=S (spherical axes) is not read; give rectangular (R) or cylindrical (C) ones")
    rows = list(card.rows())
    if len(rows) != 1:
        card.fail(f"{len(rows)} data lines; give one with the points a and b")
    row, fields = rows[0]
    v = np.array(row.numbers(fields, "a transform (points a and b)", 6, 6))
    check_axes(row, system, v[:3], v[3:])
    moved = turn if system == "rectangular" else place
    deck.transforms.append(Transform(nodes, system, moved(card, v[:3]), moved(card, v[3:]), where(card)))


# What the numbers of definitions of amplitudes are.
_DEFINITIONS: dict[str, tuple[str, ...]] = {
    "TABULAR": (), "EQUALLY SPACED": (), "SMOOTH STEP": (), "PERIODIC": (),
    "MODULATED": ("A0", "A", "t0", "omega1", "omega2"), "DECAY": ("A0", "A", "t0", "td"),
}  # fmt: skip


def amplitude(deck: Reading, card: Card) -> None:
    """Read factors of time: tables, smooth steps, periodic, modulated, decaying; others are refused where used."""
    name = card.need("NAME")
    if name in deck.amplitudes:
        card.fail(f"the amplitude {name} is defined twice")
    total = card.choice("TIME", {"TOTAL": "total", "STEP": "step"}, "step") == "total"
    definition = card.get("DEFINITION", "TABULAR")
    if card.flag("USER"):
        definition = "USER"
    shift = card.number("SHIFTX", 0.0), card.number("SHIFTY", 0.0)
    flat: list[float] = []
    last: Row | Card = card
    for row, fields in card.rows():
        flat += row.numbers(fields, "an amplitude", 1, 8)
        last = row
    data = np.array(flat)
    t = value = np.empty(0)
    definition = next((d for d in _DEFINITIONS if d.replace(" ", "").startswith(definition)), definition)
    if definition == "EQUALLY SPACED":
        interval, begin = card.number("FIXED INTERVAL", 0.0), card.number("BEGIN", 0.0)
        if not interval > 0.0:
            card.fail(f"FIXED INTERVAL={interval:g}; give the positive time between the values")
        if not flat:
            card.fail("no data; give the values")
        definition, data = "TABULAR", np.column_stack((begin + interval * np.arange(len(flat)), flat)).ravel()
    if definition in ("TABULAR", "SMOOTH STEP"):
        if not len(data) or len(data) % 2:
            last.fail(f"{len(data)} numbers; give pairs of time and value")
        t, value = data[::2] + shift[0], data[1::2] + shift[1]
        if (np.diff(t) <= 0).any():
            k = int(np.argmax(np.diff(t) <= 0))
            card.fail(f"time must increase; {t[k + 1]:g} follows {t[k]:g}")
    elif definition in _DEFINITIONS:
        if definition == "PERIODIC" and len(data) > 4 and data[0] == (len(data) - 4) // 2 and not len(data) % 2:
            pass
        elif definition == "PERIODIC":
            last.fail(f"{len(data)} numbers; give N, the frequency, t0, A0, then N pairs of coefficients")
        elif len(data) != len(_DEFINITIONS[definition]):
            last.fail(f"{len(data)} numbers; give {', '.join(_DEFINITIONS[definition])}")
        if definition == "DECAY" and not data[3] > 0.0:
            last.fail(f"the time of decay is {data[3]:g}; give a positive number")
    else:
        deck.log.add(
            "entry", f"AMPLITUDE, DEFINITION={definition}", card, Effect.NONE,
            "it is no table, SMOOTH STEP, PERIODIC, MODULATED or DECAY",
        )  # fmt: skip
    deck.amplitudes[name] = Amplitude(name, definition, t, value, total, data, where(card))


def initial_conditions(deck: Reading, card: Card) -> None:
    """Read initial velocities and temperatures; other types are refused."""
    kind = card.need("TYPE")
    if kind not in ("DISPLACEMENT", "VELOCITY", "TEMPERATURE"):
        deck.log.add("keyword", f"INITIAL CONDITIONS, TYPE={kind}", card)
        card.taken.update(card.params)
        return
    for row, fields in card.rows():
        nodes = deck.mesh.nodes(row, fields[0])
        dof = 0 if kind == "TEMPERATURE" else dof_of(row, fields, 1)
        value = row.number(fields, 1 if dof == 0 else 2, "value", 0.0 if dof == 0 else None)
        deck.surplus(row, fields, 2 if dof == 0 else 3)
        deck.initial_conditions.append(InitialCondition(kind, nodes, dof, value, where(row)))


CONSTRAINT_KEYWORDS = {
    "EQUATION": equation,
    "MPC": mpc,
    "IMPERFECTION": imperfection,
    "RIGID BODY": rigid_body,
    "COUPLING": coupling,
    "KINEMATIC": kinematic,
    "DISTRIBUTING": distributing,
    "KINEMATIC COUPLING": kinematic_coupling,
    "DISTRIBUTING COUPLING": distributing_coupling,
    "TIE": tie,
    "PRE-TENSION SECTION": pretension_section,
    "CYCLIC SYMMETRY MODEL": cyclic_symmetry_model,
    "TRANSFORM": transform,
    "AMPLITUDE": amplitude,
    "INITIAL CONDITIONS": initial_conditions,
}
