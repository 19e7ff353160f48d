"""Velocities that the model gives for its start, and whether they can have an effect."""

from __future__ import annotations

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.records import InitialVelocity

__all__ = ["check_effects", "given_velocities"]

_OWNER = Owner("Initial velocity")
_SMALL = 1e-6  # relative difference of velocities that counts as none


def given_velocities(compiled: CompiledModel) -> np.ndarray:
    """Return velocities that the model file or the builder gives, over all dofs, rotations as spatial spins."""
    model, system = compiled.model, compiled.system
    v = np.zeros(system.n_dof)
    for entry in model.initial_velocities:
        np.add.at(v, *_values(compiled, entry))
    v[system.offset[model.building.path_nodes]] = 0.0  # coordinates along lines are no places
    return v


def _values(compiled: CompiledModel, entry: InitialVelocity) -> tuple[np.ndarray, np.ndarray]:
    """Return the dofs (n,) for which one declaration gives values, and these (n,)."""
    system = compiled.system
    base, turning = system.offset[entry.nodes], system.nodes.rotational[entry.nodes]
    spin = entry.spin.reshape(len(entry.nodes), -1)
    places = base[:, None] + np.arange(system.dimension)
    turns = base[turning, None] + system.dimension + np.arange(system.rotation_dofs)
    return np.concatenate((places.ravel(), turns.ravel())), np.concatenate(
        (entry.velocity.ravel(), spin[turning, : system.rotation_dofs].ravel())
    )


def check_effects(compiled: CompiledModel, v: np.ndarray, wanted: np.ndarray, mass: np.ndarray, method: str) -> None:
    """Refuse initial velocities that have no effect.

    Args:
        v: (n_dof,) consistent velocities of the start.
        wanted: (n_dof,) given velocities, from which ``method`` made v.
        mass: (n_dof,) the diagonal of the mass matrix.  A projection weighs velocities by their masses.
        method: "strain-free", "projection" or "given".

    Raises:
        ModelError: naming a node.
    """
    system = compiled.system
    for entry in compiled.model.initial_velocities:
        if not entry.centred and entry.spin.any() and not system.nodes.rotational[entry.nodes].any():
            raise ModelError(
                f'node "{compiled.model.building.node_name(int(entry.nodes[0]))}" and the others of this spin have no '
                "rotations, so they cannot spin in place", owner=_OWNER, key="spin",
                remedy="give centre, the point about which they turn",
            )  # fmt: skip
        dofs, values = _values(compiled, entry)
        inside = (values != 0.0) & (dofs < len(v))
        dofs = dofs[inside]
        if not dofs.size:
            continue
        if method == "strain-free":
            raise ModelError(
                'method = "strain-free" looks at joints, motions and given speeds alone, so the velocities of '
                f"{system.name_of(int(dofs[0]))} would have no effect", owner=_OWNER, key="method", value=method,
                remedy='remove them, or take "projection"',
            )  # fmt: skip
        heard = system.movable[dofs] & (mass[dofs] > 0.0)
        lost = np.abs(v[dofs] - wanted[dofs]) > _SMALL * np.abs(wanted[dofs])
        if method == "projection" and not heard.any() and lost.all():
            dof = int(dofs[0])
            held = "is held or driven" if not system.movable[dof] else "has no mass of its own"
            raise ModelError(
                f"{system.name_of(dof)} {held}, as all to which this velocity is given, so it would have no effect",
                owner=_OWNER,
                remedy="give it to what carries the mass (of a reduced part its name), or as an initial speed",
            )  # fmt: skip
