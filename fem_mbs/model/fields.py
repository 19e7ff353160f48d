"""Select the values of solid and plane parts that results hold, and the units in which results are shown."""

from __future__ import annotations

from typing import Any

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import TEXT, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.spectra import bases_of
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.units import BASES, QUANTITIES, Units

__all__ = ["FIELDS", "DisplayUnits", "check_fields", "check_units", "units_of_text"]

#: What a model may ask for -> what it is.
FIELDS = {
    "stress": "stress tensor and von Mises stress at the nodes",
    "strain": "strain tensor at the nodes",
    "shapes": "stresses of mode and buckling shapes too, of the size in which these are stored",
    "points": "stress and strain at every integration point; of shells on the faces at the nodes of every element",
    "layers": "of shells, stresses of all layers in their own axes",
}


def check_fields(names: Any) -> tuple[str, ...]:
    """Return the names of fields as a tuple.

    Raises:
        ModelError: a name is unknown.
    """
    given = (names,) if isinstance(names, str) else tuple(names or ())
    for name in given:
        if name not in FIELDS:
            raise ModelError(
                f"there is no field {shown(name)}",
                owner=Owner("Fields"),
                remedy=f"give some of {', '.join(FIELDS)}, or none",
            )
    return given


def _unit(quantity: str) -> Any:
    """Return the key of a quantity whose unit can be chosen."""
    said = QUANTITIES[quantity]
    return key(TEXT, said.text, None, shows="that of the base", choices=tuple(said.choices), kw_only=True)


@dataclass(frozen=True, eq=False)
class DisplayUnits(Declaration):
    """Units in which figures, tables, CSV files and reports show results. The run computes in the units of the model,
    its base, and stores its results in them.

    Choose the units in which results are shown; the model computes in its base.

    Args:
        base: what the numbers of the model mean: its units of length, mass (with "lbf" of force) and time.
        length, angle, time, mass, force, moment, stress, energy, power, velocity, acceleration, speed, frequency: unit
            of this quantity; None: it follows from those of length, mass, force and angle, else that of the base.
    """

    owner = "Units"

    base: str = key(
        TEXT,
        "what the numbers of the model mean: units of length, mass (with lbf: of force) and time; forces and stresses "
        'follow, of "mm t s" N and MPa',
        "m kg s",
        choices=tuple(BASES),
        kw_only=True,
    )
    length: str | None = _unit("length")
    angle: str | None = _unit("angle")
    time: str | None = _unit("time")
    mass: str | None = _unit("mass")
    force: str | None = _unit("force")
    moment: str | None = _unit("moment")
    stress: str | None = _unit("stress")
    energy: str | None = _unit("energy")
    power: str | None = _unit("power")
    velocity: str | None = _unit("velocity")
    acceleration: str | None = _unit("acceleration")
    speed: str | None = _unit("speed")
    frequency: str | None = _unit("frequency")

    def build(self, building: Building) -> None:
        if building.shown_units is not None:
            raise ModelError("they have been chosen already", owner=Owner("Units"), remedy="keep one")
        building.shown_units = self.units()

    def units(self) -> Units:
        """Return the base with the choices."""
        return Units(self.base, {name: getattr(self, name) for name in QUANTITIES if getattr(self, name) is not None})


def check_units(building: Building) -> None:
    """Check that the base was chosen before numbers that are given in SI were taken: those of roads and defaults.

    Raises:
        ModelError: it was chosen behind them.
    """
    own = (building.shown_units or Units()).base
    roads = {Owner("Function", "", "of a road"): base for f, _ in building.used_functions for base in bases_of(f)}
    for owner, base in (building.bases | roads).items():
        if base != own:
            raise ModelError(
                f'its numbers were taken in "{base}", but those of the model are in "{own}"', owner=owner,
                remedy="choose the units of the model before anything else",
            )  # fmt: skip


def units_of_text(text: str) -> dict[str, str]:
    """Return the keys of `DisplayUnits` that a text gives, such as "mm, MPa, speed=rpm, base=mm t s".

    A unit alone chooses that of the quantity which it measures.

    Raises:
        ModelError: a unit of no quantity or of several, or a quantity that is given twice.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, unit = (word.strip() for word in part.partition("="))
        if not equals:
            fitting = [key for key, quantity in QUANTITIES.items() if name in quantity.choices]
            if len(fitting) != 1:
                remedy = f"say which: {' or '.join(f'{key}={name}' for key in fitting)}" if fitting else _known()
                what = "is a unit of several quantities" if fitting else "is no unit of display"
                raise ModelError(f"{shown(name)} {what}", owner=Owner("Units"), value=name, remedy=remedy)
            name, unit = fitting[0], name
        if name in found:
            raise ModelError(f"{name} is given twice", owner=Owner("Units"), key=name, remedy="keep one")
        found[name] = unit
    return found


def _known() -> str:
    names = dict.fromkeys(name for quantity in QUANTITIES.values() for name in quantity.choices)
    return f"there are {', '.join(names)}"
