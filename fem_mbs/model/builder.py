"""The calls of the model builder that are not declarations yet."""

from __future__ import annotations

from fem_mbs.model.beginnings import Beginnings
from fem_mbs.model.components import Components
from fem_mbs.model.connections.friction import Frictions
from fem_mbs.model.connections.joints import Joints
from fem_mbs.model.connections.nodal_springs import NodalSprings
from fem_mbs.model.connections.ties import Ties
from fem_mbs.model.loads.forces import Loads
from fem_mbs.model.loads.frames import Frames
from fem_mbs.model.loads.temperature import Temperatures
from fem_mbs.model.parts.bodies import Parts
from fem_mbs.model.parts.reduced import ReducedParts
from fem_mbs.model.parts.rotors import Rotors
from fem_mbs.model.parts.solids import Solids

__all__ = ["Builder"]


class Builder(
    Parts, Beginnings, Joints, Loads, Frames, Frictions, Solids, Temperatures, NodalSprings, Ties, Rotors, ReducedParts,
    Components,
):  # fmt: skip
    """What a model is built into, with the calls that build."""
