"""Linearisation of a model about the end of its steps, in memory."""

from __future__ import annotations

from fem_mbs.analysis.run import run_to_end
from fem_mbs.analysis.small_motions import linearised
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.analysis.steps.common.checks import check_rotor
from fem_mbs.analysis.steps.common.options import Turning
from fem_mbs.model.model import Model
from fem_mbs.threads import analysis
from fem_mbs.units import in_units_of_model

__all__ = ["linearise"]


@in_units_of_model
@analysis()
def linearise(
    model: Model, *, rotor: str | None = None, speed: float | None = None, frame: str = "auto"
) -> Linearisation:  # fmt: skip
    """Return small motions M a + C v + K u + G^T y = f, G u = 0 about the state at the end of a model's steps.

    The steps are computed in memory; without any, the state is the start, at rest, without loads.  Gives sparse
    matrices ``M``, ``C``, ``K``, ``G`` and ``names`` of their unknowns, `Linearisation.state_space` and
    `Linearisation.descriptor`; ``notes`` says what limits their validity.

    Args:
        rotor: name of a rotor: the state is the steady rotation nearest to that, with ``speed`` [rad/s] (None: as it
            turns there), seen from a ``frame`` in which its coefficients are constant: "fixed", "rotating" or "auto".

    Raises:
        ModelError, AnalysisError: a step or the linearisation cannot be made.
    """
    owner = "Linearisation"
    options = Turning.read({"rotor": rotor or "", "speed": speed, "frame": frame}, owner)
    check_rotor(owner, options, model)
    about = model.rotors[options.rotor] if options.rotor else None
    lin, lin.notes = linearised(run_to_end(model), about, options.speed, options.frame)
    return lin
