"""Linearisation of a model about what its steps leave, in memory."""

from __future__ import annotations

from types import SimpleNamespace

from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.run import _Run
from fem_mbs.analysis.solution import Solution
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.analysis.steps.stability import check_rotor, linearised
from fem_mbs.model.model import Model

__all__ = ["linearise"]


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
    options = {"rotor": rotor or "", "speed": speed, "frame": frame}
    check_rotor(owner, options, model)
    if model.steps:
        job = _Run(model, Solution())
        job.run()
    else:
        compiled = model.compile(stepping=False)
        job = SimpleNamespace(
            model=model, compiled=compiled, system=compiled.system, state=compiled.system.initial_state(), t=0.0,
            loading=Loading(compiled), events=None, linear=SimpleNamespace(),
        )  # fmt: skip
    lin, lin.notes = linearised(job, options)
    return lin
