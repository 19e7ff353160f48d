"""Forces, stresses and strains of springs and bushes: stiffness times the difference of displacements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fem_mbs.decks.nastran.points import bush_of, scalar_end, springs
from fem_mbs.decks.nastran.results.state import ElementState, ElementTable

__all__ = ["spring_forces", "spring_stresses"]

_BUSH = tuple(f"force {c} [force]" for c in "XYZ") + tuple(f"moment {c} [moment]" for c in "XYZ")


def _scalar(state: ElementState) -> dict[str, list[tuple[int, float, float]]]:
    """Return number, force K (u1 - u2) and stress coefficient of scalar springs, by their type."""
    conv = state.conv
    u = conv.to_deck(np.arange(len(state.u)), state.u)
    found: dict[str, list[tuple[int, float, float]]] = {}
    for card, stiffness, _, coefficient in springs(conv):
        ends = (scalar_end(conv, card, k) for k in "12")
        one, other = (0.0 if end is None else float(u[end]) for end in ends)
        difference = one - other
        found.setdefault(card.name, []).append((card.id, stiffness * difference, coefficient))
    return found


def _bushes(state: ElementState) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield number, stiffness (6,), elongations (6,) along its axes, and coefficients (4,) SA, ST, EA, ET of bushes."""
    x, u = state.conv.grids.x, state.u
    for card in state.conv.deck.of("CBUSH"):
        bush = bush_of(state.conv, card)
        moved = np.zeros((2, 6))
        for k, node in enumerate((bush.a, bush.b)):
            if node is not None:
                moved[k] = u[node]
                moved[k, :3] += np.cross(u[node, 3:], bush.place - x[node])
        difference = moved[1] - moved[0]
        own = np.concatenate((bush.axes @ difference[:3], bush.axes @ difference[3:]))
        yield card.id, bush.stiffness, own, bush.recovery


def spring_forces(state: ElementState) -> Iterator[ElementTable]:
    """Yield the forces of springs and bushes."""
    for name, rows in _scalar(state).items():
        ids, forces, _ = (np.array(column) for column in zip(*rows, strict=True))
        yield ElementTable(name, ("force [force]",), ids, forces[:, None])
    found = list(_bushes(state))
    if found:
        values = np.array([K * own for _, K, own, _ in found])
        yield ElementTable("CBUSH", _BUSH, np.array([i for i, *_ in found]), values)


def spring_stresses(state: ElementState, strain: bool = False) -> Iterator[ElementTable]:
    """Yield the stresses of springs (force times S) and the stresses or strains of bushes (by RCV)."""
    word, unit = ("STRAIN", "[-]") if strain else ("STRESS", "[stress]")
    if not strain:
        for name, rows in _scalar(state).items():
            ids, forces, coefficients = (np.array(column) for column in zip(*rows, strict=True))
            yield ElementTable(f"STRESS {name}", ("stress [stress]",), ids, (forces * coefficients)[:, None])
    found = list(_bushes(state))
    if found:
        names = tuple(f"{kind} {c} {unit}" for kind in ("translation", "rotation") for c in "XYZ")
        rows_of = [
            (own if strain else K * own) * np.repeat(recovery[2:] if strain else recovery[:2], 3)
            for _, K, own, recovery in found
        ]
        yield ElementTable(f"{word} CBUSH", names, np.array([i for i, *_ in found]), np.array(rows_of))
