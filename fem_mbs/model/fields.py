"""Select the values of solid and plane parts that results hold."""

from __future__ import annotations

from typing import Any

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError, Owner

__all__ = ["FIELDS", "check_fields"]

#: What a model may ask for -> what it is.
FIELDS = {
    "stress": "stress tensor and von Mises stress at the nodes",
    "strain": "strain tensor at the nodes",
    "shapes": "stresses of mode and buckling shapes too, of the size in which these are stored",
    "points": "stress and strain at every integration point",
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
