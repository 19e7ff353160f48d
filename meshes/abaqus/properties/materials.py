"""Materials of a deck: one function per keyword.

Data lines after the Abaqus Keywords Guide and the CalculiX 2.21 manual, chapter 7.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import Elastic, Expansion, Material
from fem_mbs.meshes.abaqus.text import Card, where
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.reader import Reading

__all__ = ["MATERIAL_KEYWORDS", "MaterialDraft", "other_field_of_material", "other_of_material"]


@dataclass(eq=False)
class MaterialDraft:
    """A material while its keywords are read."""

    name: str
    card: Card
    elastic: Elastic | None = None
    density: np.ndarray | None = None
    expansion: Expansion | None = None
    damping: tuple[float, float] = (0.0, 0.0)
    structural: float = 0.0
    others: list[str] = field(default_factory=list)

    def done(self) -> Material:
        """Return the finished material."""
        return Material(
            self.name,
            self.elastic,
            self.density,
            self.expansion,
            self.damping,
            tuple(self.others),
            where(self.card),
            self.structural,
        )


def material(deck: Reading, card: Card) -> None:
    """Begin a material."""
    name = card.need("NAME")
    if any(m.name == name for m in deck.materials):
        card.fail(f"the material {name} is defined twice")
    deck.materials.append(MaterialDraft(name, card))


# columns of constants
_ELASTIC = {
    "ISO": ("isotropic", 2),
    "ORTHO": ("orthotropic", 9),
    "ENGINEERING": ("engineering constants", 9),
    "ANISO": ("anisotropic", 21),
    "LAMINA": ("lamina", 6),
}
_EXPANSION = {"ISO": ("isotropic", 1), "ORTHO": ("orthotropic", 3), "ANISO": ("anisotropic", 6)}


def _temperature_table(card: Card, n: int, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of n constants and a temperature, eight entries to a line: (m, n) and (m,) with NaN for none
    given."""
    lines = list(card.rows())
    per_row = -(-(n + 1) // 8)  # lines of one row
    if not lines:
        card.fail(f"no data; give {n} {what} (and a temperature)")
    values, temperature = [], []
    for start in range(0, len(lines), per_row):
        group = lines[start : start + per_row]
        row = group[0][0]
        # a line that is not the last of its row is full, also if trailing entries were left empty
        flat = [f for _, fields in group[:-1] for f in (*fields, *[""] * (8 - len(fields)))] + group[-1][1]
        if len(group) < per_row or len(flat) < n:
            row.fail(f"{sum(len(f) for _, f in group)} entries; give {n} {what} (and a temperature)")
        if len(flat) > n + 1:
            if any(flat[n + 1 :]):
                row.fail(f"{len(flat)} entries; give {n} {what} and a temperature")
            flat = flat[: n + 1]
        values.append([row.number(flat, i, what) if flat[i] else 0.0 for i in range(n)])
        temperature.append(row.number(flat, n, "temperature", np.nan))
    t = np.array(temperature)
    if len(t) > 1 and not (np.diff(t) > 0).all():
        card.fail("the temperatures of the table must be given and increase")
    return np.array(values), t


def elastic(deck: Reading, card: Card) -> None:
    """Read isotropic, orthotropic or anisotropic elasticity, over temperature."""
    kind = card.get("TYPE", "ISO")
    for begin, (name, n) in _ELASTIC.items():
        if kind.startswith(begin):
            deck.material(card).elastic = Elastic(name, *_temperature_table(card, n, "elastic constants"))
            return
    deck.material(card).others.append(f"ELASTIC, TYPE={kind}")


def density(deck: Reading, card: Card) -> None:
    """Read mass per volume, over temperature."""
    values, t = _temperature_table(card, 1, "density")
    if (values < 0.0).any():
        row = next(row for row, fields in card.rows() if row.number(fields, 0, "density", 0.0) < 0.0)
        row.fail(f"the density is {values.min():g}; give 0 or more")
    deck.material(card).density = np.column_stack([values[:, 0], t])


def expansion(deck: Reading, card: Card) -> None:
    """Read thermal expansion, over temperature."""
    name, n = card.choice("TYPE", _EXPANSION, _EXPANSION["ISO"])
    zero = card.number("ZERO", 0.0)
    deck.material(card).expansion = Expansion(name, *_temperature_table(card, n, "expansion coefficients"), zero)


def damping(deck: Reading, card: Card) -> None:
    """Read ALPHA and BETA of Rayleigh's damping of a material, and the loss factor STRUCTURAL."""
    if not deck.materials or deck.steps:
        deck.log.add("keyword", card.keyword, card)
        return
    material = deck.material(card)
    material.damping = (card.number("ALPHA", 0.0), card.number("BETA", 0.0))
    material.structural = card.number("STRUCTURAL", 0.0)
    if material.structural < 0.0:
        card.fail(f"STRUCTURAL={material.structural:g}; give 0 or more")


def other_of_material(deck: Reading, card: Card) -> None:
    """Record a law that is not supported; sections with its material are refused."""
    deck.material(card).others.append(card.keyword)
    card.taken.update(card.params)


def other_field_of_material(deck: Reading, card: Card) -> None:
    """Note a law of heat, flow or electricity."""
    card.taken.update(card.params)
    reason = f"of the material {deck.material(card).name}, is not used"
    deck.log.add("keyword", card.keyword, card, Effect.NONE, reason)


# Laws of materials that are not used; they belong to the material before them.
_LAWS = (
    "PLASTIC", "HYPERELASTIC", "HYPERFOAM", "CREEP", "CYCLIC HARDENING", "DEFORMATION PLASTICITY", "DEPVAR",
    "VISCOELASTIC", "USER MATERIAL", "MOHR COULOMB", "MOHR COULOMB HARDENING", "RATE DEPENDENT", "POTENTIAL",
    "CONCRETE",
    "BRITTLE CRACKING", "NO COMPRESSION", "NO TENSION", "FAIL STRAIN", "FAIL STRESS", "MULLINS EFFECT",
    "DAMAGE INITIATION", "DAMAGE EVOLUTION", "CONCRETE DAMAGED PLASTICITY", "DRUCKER PRAGER", "POROUS ELASTIC",
    "SWELLING",
    "HYSTERESIS", "ANISOTROPIC HYPERELASTIC",
)  # fmt: skip
# Of other fields than displacements.
_OTHER_FIELDS = (
    "CONDUCTIVITY", "SPECIFIC HEAT", "ELECTRICAL CONDUCTIVITY", "MAGNETIC PERMEABILITY", "FLUID CONSTANTS",
    "SPECIFIC GAS CONSTANT", "LATENT HEAT", "ACOUSTIC MEDIUM",
)  # fmt: skip
MATERIAL_KEYWORDS = {
    "MATERIAL": material,
    "ELASTIC": elastic,
    "DENSITY": density,
    "EXPANSION": expansion,
    "DAMPING": damping,
    **dict.fromkeys(_LAWS, other_of_material),
    **dict.fromkeys(_OTHER_FIELDS, other_field_of_material),
}
