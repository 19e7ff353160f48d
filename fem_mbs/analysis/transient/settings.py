"""Settings of Newton-Raphson and the step control."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from fem_mbs.analysis.transient.rules import DEFAULTS
from fem_mbs.late import dataclass

__all__ = ["PREDICTORS", "Settings", "settings_of"]

PREDICTORS = {"none": 0, "velocity": 1, "increment": 2, "extrapolation": 3}


@dataclass(frozen=True)
class Settings:
    """Settings of Newton-Raphson and the step control.

    ``rtol`` largest residual against the largest element contribution of its kind; ``ctol`` constraint error against
    the model's length; ``energy_tolerance`` share of the exchanged energy that the iterations may leave as its error,
    0: they go on to round-off; ``newton`` "chord" (one tangent per step while it contracts well) or "full";
    ``predictor`` "none", "velocity", "increment" or "extrapolation"; ``halvings`` how often a step that fails is
    halved; ``solver`` "auto", "banded", "cholmod" or "superlu"; ``beta``, ``gamma`` Newmark's parameters, ``alpha``
    that of HHT, ``rho_inf`` that of the generalised-alpha rule, ``decay`` that of the decaying mid-point rule.
    """

    rtol: float = 1e-12
    ctol: float = 1e-14
    energy_tolerance: float = 0.0
    max_iterations: int = 25
    newton: str = "chord"
    predictor: str = "extrapolation"
    halvings: int = 10
    solver: str = "auto"
    beta: float = DEFAULTS["beta"]
    gamma: float = DEFAULTS["gamma"]
    alpha: float = DEFAULTS["alpha"]
    rho_inf: float = DEFAULTS["rho_inf"]
    decay: float = DEFAULTS["decay"]


def settings_of(options: Any) -> Settings:
    """Return the settings among the options of a step; others keep their defaults."""
    return Settings(**{f.name: getattr(options, f.name) for f in fields(Settings) if hasattr(options, f.name)})
