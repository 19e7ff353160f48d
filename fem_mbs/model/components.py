"""Components of the model builder: named sets of groups, and groups rebuilt with other sections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import NAME, NUMBER, WHOLE, WORDS, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.parts.beams import Beam
from fem_mbs.model.parts.bodies import Truss
from fem_mbs.model.records import Component
from fem_mbs.properties.sections import Section
from fem_mbs.system.blocks import Block

__all__ = ["Substructure", "group_call", "made_again", "part_name"]


@dataclass(frozen=True, eq=False)
class Substructure(Declaration):
    """Substructures for component mode synthesis and `fem-mbs modify`. Dofs that several use are their interface;
    elements of none belong to the component that has all their nodes, or join several.

    Define a component for component mode synthesis and modification: groups of elements (beams, trusses, solids,
    plane parts, bodies, masses, springs) by their names.

    Dofs that several components use are their interface.  Elements of no component (springs, masses) belong to
    the one that has all their nodes, or join several; joints and equations work within a component or between them.

    Args:
        groups: name of a group, or a list of names.
        modes: number of elastic modes that are kept; or
        cutoff: frequency up to which they are kept [Hz]; None: what the analysis says.

    Raises:
        ModelError: a group that does not exist, is a joint, or belongs to another component; numbers that make no
            sense.
    """

    owner = "Component"

    name: str = key(NAME, "in messages and results", shows='"component 1", ...')
    groups: Any = key(WORDS, "names of beams, trusses, solids, plane parts, bodies, masses, springs")
    modes: int | None = key(WHOLE, "number of elastic modes that are kept; or", None, shows="what the analysis says")
    cutoff: float | None = key(
        NUMBER, "frequency up to which they are kept", None, shows="what the analysis says", unit="Hz"
    )

    def build(self, building: Building) -> None:
        cutoff = self.cutoff
        owner = Owner("Component", building.new_name("Component", self.name, building.components))
        names = (self.groups,) if isinstance(self.groups, str) else tuple(self.groups)
        if not names:
            raise ModelError("it has no groups", owner=owner, remedy="name some")
        known = dict.fromkeys(
            label for block in building.blocks if not block.type.reads for label, _, _ in block.groups
        )
        known = {part_name(building, label): None for label in known if label not in building.joints}
        taken = {group: other.name for other in building.components.values() for group in other.groups}
        for group in names:
            building.find("group of elements", group, known, owner)
            if group in taken:
                raise ModelError(
                    f'group "{group}" belongs to component "{taken[group]}"', owner=owner, remedy="name it once"
                )
            if names.count(group) > 1:
                raise ModelError(f'group "{group}" is named twice', owner=owner, remedy="name it once")
        if self.modes is not None and cutoff is not None:
            raise ModelError("modes and cutoff exclude each other", owner=owner, remedy="remove one")
        if self.modes is not None and (
            isinstance(self.modes, bool) or not isinstance(self.modes, int) or self.modes < 0
        ):
            raise ModelError(
                f"modes = {shown(self.modes)} must be a whole number of at least 0",
                owner=owner,
                key="modes",
                value=self.modes,
            )
        if cutoff is not None:
            cutoff = building.number(cutoff, owner, "cutoff", 0.0, strict=True)
        building.components[self.name] = Component(self.name, names, self.modes, cutoff)


def group_call(model: Any, group: str) -> dict[str, Any]:
    """Return ``sections`` (list of names) and ``material`` of the declaration of a group of beams or trusses; empty for
    other groups."""
    said = _declared(model, group)
    if said is None:
        return {}
    sections = [said.section] if isinstance(said.section, str) else list(dict.fromkeys(said.section))
    return {"sections": sections, "material": said.material}


def made_again(model: Any, group: str, sections: Mapping[str, Section]) -> list[Block]:
    """Return blocks of a group of beams or trusses, as its declaration makes them with these sections; the model stays
    as it is.

    Raises:
        ModelError: the declaration cannot be built with them.
    """
    said = _declared(model, group)
    assert said is not None
    # nodes and joints of released ends are made anew
    scratch = model.building.scratch(sections, {f"{group} start", f"{group} end"})
    said.build(scratch)
    return [block for block in scratch.blocks if block.groups[0][0] == group]


def _declared(model: Any, group: str) -> Beam | Truss | None:
    """Return the declaration of a group of beams or trusses; None where a function of it stayed in another process."""
    found = (s for s in model.specifications if isinstance(s, (Beam, Truss)) and s.name == group)
    return next((s for s in found if s.complete), None)


def part_name(model: Any, label: str) -> str:
    """Return the user's name of the part that elements with a label belong to."""
    groups = {**model.solid_groups, **model.shell_groups}
    return groups[label].part if label in groups else label
