"""Inverse dynamics: the forces and torques of motions and driven joints that produce the prescribed motion.

The method is a transient with every motion of the mechanism prescribed.  The multipliers of the drivers are their
forces, and deformations are solved by the same implicit rule.  Positions are exact at the ends of steps.  Forces belong
to the middle of steps and alternate about the true value by O(h), as velocities do by O(h^2), v_1 = 2 dx/h - v_0; the
mean of two consecutive ones is of second order (docs/theory.md, section 3).  Quasi-static, without inertia, they are
those of an equilibrium at every time.
"""

from __future__ import annotations

from typing import Any

from fem_mbs.analysis.start.mobility import mobility
from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S

__all__ = ["check_drivers"]


def check_drivers(compiled: CompiledModel, state: S.State, name: str) -> dict[str, Any]:
    """Check that drivers prescribe all motions except deformations; return counts for the summary.

    Raises:
        ModelError: nothing is driven, or the model has a motion without strain that no driver prescribes.
    """
    owner = Owner("Step", name)
    drivers = compiled.model.drivers()
    if not drivers:
        raise ModelError("nothing is driven", owner=owner, remedy="add motions, or functions to joints")
    found = mobility(compiled, state)
    if found.strain_free:
        ways = f"{found.strain_free} way" + ("s" if found.strain_free > 1 else "")
        raise ModelError(
            f"beside what is driven ({', '.join(drivers)}) the model can move in {ways} without strain",
            owner=owner,
            remedy="drive these too, or take a transient step",
        )
    return {"drivers": drivers, "redundant_constraints": found.redundant}
