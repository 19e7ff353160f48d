"""Components of the model builder: named sets of groups, and groups rebuilt with other sections."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.records import Component
from fem_mbs.properties.sections import Section
from fem_mbs.system.compile import Block

__all__ = ["Components", "group_call", "made_again", "part_name"]


class Components(Building):
    """Substructures of component mode synthesis."""

    def component(self, name: str, groups: Any, modes: int | None = None, cutoff: float | None = None) -> None:
        """Define a component for component mode synthesis and modification: groups of elements (beams, trusses, solids,
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
        owner = f'Component "{self.new_name("Component", name, self.components)}"'
        names = (groups,) if isinstance(groups, str) else tuple(groups)
        if not names:
            raise ModelError(f"{owner}: it has no groups; name some")
        known = dict.fromkeys(label for block in self.blocks if not block.type.reads for label, _, _ in block.groups)
        known = {part_name(self, label): None for label in known if label not in self.joints}
        taken = {group: other.name for other in self.components.values() for group in other.groups}
        for group in names:
            self.find("group of elements", group, known, owner)
            if group in taken:
                raise ModelError(f'{owner}: group "{group}" belongs to component "{taken[group]}"; name it once')
            if names.count(group) > 1:
                raise ModelError(f'{owner}: group "{group}" is named twice; name it once')
        if modes is not None and cutoff is not None:
            raise ModelError(f"{owner}: modes and cutoff exclude each other; remove one")
        if modes is not None and (isinstance(modes, bool) or not isinstance(modes, int) or modes < 0):
            raise ModelError(f"{owner}: modes = {modes!r} must be a whole number of at least 0")
        if cutoff is not None:
            cutoff = self.number(cutoff, owner, "cutoff", 0.0, strict=True)
        self.components[name] = Component(name, names, modes, cutoff)


def group_call(model: Building, group: str) -> dict:
    """Return ``section`` (list of names) and ``material`` of the call that created a group of beams or trusses; empty
    for other groups."""
    if group not in model.builder_calls:
        return {}
    _, args, options = model.builder_calls[group]
    said = {**dict(zip(("on", "section", "material"), args, strict=False)), **options}
    sections = [said["section"]] if isinstance(said["section"], str) else list(dict.fromkeys(said["section"]))
    return {"sections": sections, "material": said.get("material")}


def made_again(model: Building, group: str, sections: Mapping[str, Section]) -> list[Block]:
    """Return blocks of a group of beams or trusses, as its call makes them with these sections; the model stays as it
    is.

    Raises:
        ModelError: of the call.
    """
    method, args, options = model.builder_calls[group]
    other = copy(model)
    other.sections = {**model.sections, **sections}
    # what the call adds goes to lists and tables of its own
    other.blocks, other.labels, other.groups, other.builder_calls = [], set(), {}, {}
    other._x, other._first, other.needs_rotation = list(model._x), list(model._first), list(model.needs_rotation)
    other.names = copy(model.names)
    other.names.parts = list(model.names.parts)
    other.rotational, other.rotations = set(model.rotational), dict(model.rotations)
    own = {f"{group} start", f"{group} end"}  # nodes and joints of released ends
    other.named_nodes = {k: v for k, v in model.named_nodes.items() if k not in own}
    other.joints = {k: v for k, v in model.joints.items() if k not in own}
    other.used_functions, other.callbacks = list(model.used_functions), list(model.callbacks)
    getattr(other, method)(group, *args, **options)
    return [block for block in other.blocks if block.groups[0][0] == group]


def part_name(model: Building, label: str) -> str:
    """Return the user's name of the part that elements with a label belong to."""
    return model.solid_groups[label].part if label in model.solid_groups else label
