"""The state of the conversion of a Nastran deck to a `Model`, its mesh and its materials.

Grid point k in the order of the numbers is node k of the model.  Components of displacements have two numberings: those
of the deck, along the axes of the grid points (6 k + component), and those of the model, along the global axes.
"""

from __future__ import annotations

from dataclasses import field
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.notes import Note
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import BulkDeck, Subcase
from fem_mbs.meshes.nastran.systems import Grids
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.model.model import Model

if TYPE_CHECKING:
    from fem_mbs.decks.nastran.made import Tie

__all__ = ["RESPONSES", "Conversion", "Group", "Isotropic", "isotropic", "make_mesh", "one_of"]


#: Solutions that are responses.
RESPONSES = {
    108: "direct frequency response", 109: "direct transient", 111: "modal frequency response", 112: "modal transient",
}  # fmt: skip


@dataclass
class Group:
    """Elements of a deck that are one part of the model.

    kind "solid", "bar" or "rod"; type as in the deck; cell: kind of the mesh's cells; element of solids; ids (n,);
    nodes (n, k) of the model; section: entry of the property; data: what the kind needs beside it.
    """

    name: str
    kind: str
    type: str
    cell: str
    element: str
    ids: np.ndarray
    nodes: np.ndarray
    section: Any
    data: Any = None


@dataclass
class Conversion:
    """State of the conversion of a deck to a model."""

    deck: BulkDeck
    grids: Grids
    model: Model
    groups: list[Group] = field(default_factory=list)
    #: sentences on what the model lacks, with their effect -> places in the deck
    said: dict[tuple[str, Effect], list[str]] = field(default_factory=dict)
    #: nodes that elements, masses, springs or constraints use, and those that turn
    used: np.ndarray = field(default_factory=lambda: np.empty(0, bool))
    rotational: np.ndarray = field(default_factory=lambda: np.empty(0, bool))
    #: edges, by the numbers of their corners -> numbers of the points in their middle; and what ties added points
    middles: dict[tuple[int, int], int] = field(default_factory=dict)
    ties: list[Tie] = field(default_factory=list)
    #: constants of a MAT1, by its number, that stand for its own: values at a temperature
    replaced: dict[int, dict[str, float]] = field(default_factory=dict)
    #: added points -> the nodes whose mean they follow
    parents: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.grids.ids)
        self.used, self.rotational = np.zeros(n, bool), np.zeros(n, bool)

    def add_points(self, x: np.ndarray, axes: np.ndarray) -> np.ndarray:
        """Add points at places x (n, 3) with axes (n, 3, 3), in rows, to the grid points; return their nodes (n,).

        Before any array over the nodes is made: while elements are sorted into parts.
        """
        nodes = len(self.grids.ids) + np.arange(len(x))
        self.grids = self.grids.extended(x, axes)
        more = np.zeros(len(x), bool)
        self.used, self.rotational = np.append(self.used, more), np.append(self.rotational, more)
        return nodes

    def rigid_motion(self, node: int, point: np.ndarray) -> np.ndarray:
        """Return (6, 6): components of a node along its axes for motions (displacement, rotation) of a body at a
        point."""
        r = self.grids.x[node] - point
        A = self.grids.axes[node]
        skew = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
        out = np.zeros((6, 6))
        out[:3, :3], out[:3, 3:], out[3:, 3:] = A, -A @ skew, A
        return out

    @property
    def wtmass(self) -> float:
        """The factor on all masses (PARAM,WTMASS).

        Raises:
            ModelError: it is not positive.
        """
        value = self.deck.param("WTMASS", 1.0)
        if isinstance(value, str) or not value > 0.0:
            where = self.deck.params["WTMASS"].where
            raise ModelError(f"PARAM,WTMASS,{value} is not positive", place=where, remedy="give a positive number")
        return float(value)

    @property
    def extent(self) -> float:
        """The largest extent of the grid points."""
        return float(np.ptp(self.grids.x, axis=0).max())

    @property
    def coupled(self) -> bool:
        """Whether masses are coupled (PARAM,COUPMASS), else lumped."""
        value = self.deck.param("COUPMASS", -1)
        return isinstance(value, int) and value > 0

    def note(self, text: str, effect: Effect = Effect.DROPPED, where: str = "") -> None:
        """Keep a sentence on what the model lacks. A sentence for several places becomes one note with the first."""
        places = self.said.setdefault((text, effect), [])
        if where and where not in places:
            places.append(where)

    @property
    def complex_stiffness(self) -> bool:
        """Return whether structural damping counts in the solution: frequency responses and complex modes."""
        return self.deck.sol in (107, 108, 110, 111)

    @property
    def over_frequency(self) -> bool:
        """Return whether the solution is a frequency response, which has structural damping."""
        return self.deck.sol in (108, 111)

    @property
    def material_output(self) -> bool:
        """Return whether results of shells are along the axes of their material (PARAM,OMID,YES)."""
        return self.deck.param("OMID", "NO") == "YES"

    @property
    def notes(self) -> list[Note]:
        """All sentences with their places."""
        out = []
        for (text, effect), places in self.said.items():
            more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
            out.append(Note(f"{places[0]}: {text}{more}" if places else text, effect))
        return out

    def turn(self, nodes: Any) -> None:
        """Give nodes rotations."""
        nodes = np.atleast_1d(np.asarray(nodes, int))
        self.rotational[nodes] = self.used[nodes] = True
        self.model.amend(methodcaller("turn_nodes", nodes.tolist()))

    def to_basic(self, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return values (m, 6) along the global axes of values along the axes of grid points (m,)."""
        A = self.grids.axes[nodes]
        return np.concatenate([np.einsum("nij,ni->nj", A, values[:, k : k + 3]) for k in (0, 3)], axis=1)

    def to_deck(self, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return values (m, 6) along the axes of grid points (m,) of values along the global axes."""
        A = self.grids.axes[nodes]
        return np.concatenate([np.einsum("nij,nj->ni", A, values[:, k : k + 3]) for k in (0, 3)], axis=1)

    def select(self, subcase: Subcase, name: str) -> int:
        """Return the set that a subcase selects, 0 for none."""
        return subcase.set(name)


def one_of(conv: Conversion, names: tuple[str, ...], number: int, what: str, where: str) -> Card:
    """Return the entry of these names with a number.

    Raises:
        ModelError: there is none.
    """
    for card in conv.deck.of(*names):
        if card.id == number:
            return card
    raise ModelError(
        f"there is no {what} {number}", place=where, remedy=f"add {' or '.join(names)}, or mend the number"
    )


# --- materials -------------------------------------------------------------------------------------------------------
#: Relative difference of constants that are the same but for their printed digits.
_SAME = 1e-3


@dataclass(frozen=True)
class Isotropic:
    """Constants of a MAT1: E, G, nu, density (times WTMASS), expansion and its reference temperature."""

    number: int
    E: float
    G: float
    nu: float
    rho: float
    alpha: float
    tref: float
    where: str
    #: structural damping, a loss factor
    loss: float = 0.0


def isotropic(conv: Conversion, number: int, where: str, solid: bool = True) -> Isotropic:
    """Return the constants of a MAT1; the one of E, G and nu that is missing follows from the others.

    ``solid``: it is for solids or shells, whose nu must be below 0.5; those of bars and rods take E and G alone.

    Raises:
        ModelError: another material, or constants that are impossible.
    """
    card = one_of(conv, ("MAT1",), number, "material (MAT1)", where)
    own = {key: card[key] for key in ("e", "g", "nu", "rho", "a")} | conv.replaced.get(number, {})
    E, G, nu = own["e"], own["g"], own["nu"]
    if E is None and G is None:
        raise ModelError("the material has neither E nor G", place=card.where, remedy="give two of E, G and NU")
    if E is None:
        E = 2.0 * (1.0 + (nu or 0.0)) * G
    elif G is None:
        nu = 0.0 if nu is None else nu
        G = E / (2.0 * (1.0 + nu)) if nu > -1.0 else 0.0
    elif nu is None:
        nu = E / (2.0 * G) - 1.0 if G else 0.0
    nu = 0.0 if nu is None else nu
    if E < 0.0 or G < 0.0 or own["rho"] < 0.0 or (solid and not -1.0 < nu < 0.5):
        raise ModelError(
            f"E = {E:g}, G = {G:g}, NU = {nu:g}, RHO = {own['rho']:g} is no material",
            place=card.where, remedy="E, G and RHO must be positive, NU between -1 and 0.5",
        )  # fmt: skip
    if solid and E and G and abs(G - E / (2.0 * (1.0 + nu))) > _SAME * G:
        conv.note(
            f"MAT1 {number}: G = {G:g} is not E/(2 (1 + NU)) = {E / (2.0 * (1.0 + nu)):g}, which solids and shells "
            "take; MSC Nastran takes G in some of their terms",
            Effect.DIFFERS, card.where,
        )  # fmt: skip
    return Isotropic(number, E, G, nu, own["rho"] * conv.wtmass, own["a"], card["tref"], card.where, card["ge"])


# --- mesh ------------------------------------------------------------------------------------------------------------
def make_mesh(conv: Conversion) -> None:
    """Create the deck's grid points and cells as the mesh "deck" of the model; group i is its set "part i+1"."""
    blocks, sets = [], {}
    taken: set[int] = set()
    unique = True
    for group in conv.groups:
        mine = set(group.ids.tolist())
        unique &= not (mine & taken)
        taken |= mine
    for i, group in enumerate(conv.groups):
        blocks.append(CellBlock(group.cell, group.nodes, group.ids if unique else None))  # type: ignore[arg-type]
        sets[f"part {i + 1}"] = [(i, np.arange(len(group.nodes)))]
    mesh = Mesh(
        conv.grids.x, blocks, cell_sets=sets, point_ids=conv.grids.ids, source=conv.deck.source, format="Nastran"
    )
    conv.model.mesh("deck", mesh, unused="drop")
