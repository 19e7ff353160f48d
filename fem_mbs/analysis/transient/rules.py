"""Integration rules as data: what a step samples, its weights, its options.

The two-state rules sample forces between the ends of the step (the mid-point rule, and with `decay` its decaying
relative).  The one-state rules are the family of Newmark's formulas with an algorithmic acceleration a,

    u = h v0 + h^2 ((1/2 - beta) a0 + beta a1),     v1 = v0 + h ((1 - gamma) a0 + gamma a1),
    (1 - am) a1 + am a0 = (1 - af) dv/dt_1 + af dv/dt_0,       M dv/dt_1 + f_1 + G_1^T lambda_1 = 0,  g_1 = 0

(Arnold & Bruels 2007, doi:10.1007/s11044-007-9084-0, eqs 6-12): Newmark's rule is am = af = 0, that of Hilber, Hughes &
Taylor (1977, doi:10.1002/eqe.4290050306) am = 0 and af = -alpha, the generalised-alpha rule of Chung & Hulbert (1993,
doi:10.1115/1.2900803, eqs 17, 18 and 25) follows from its spectral radius at infinite frequency, rho_inf.

The explicit rule (`fem_mbs.solvers.stepping.explicit`) takes forces at the start of the step.

A rule also says what its energy ledger does (`Promise`), and `verdict` holds a run against it.

Theory: docs/theory.md, section 6, "Rules".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass

__all__ = [
    "CHAIN",
    "EXPLICIT",
    "MIDPOINT",
    "NEWMARK",
    "OPTIONS",
    "Promise",
    "RULES",
    "RULE_TEXT",
    "Rule",
    "Weights",
    "check_explicit",
    "check_rolling",
    "check_rule",
    "promise",
    "rule_notes",
    "verdict",
    "weights",
]

#: Kinds of rules, by what the compiled loop does in a step; `stepping.py` beside this module has their numbers.
MIDPOINT, NEWMARK, EXPLICIT, CHAIN = "midpoint", "newmark", "explicit", "chain"


@dataclass(frozen=True)
class Promise:
    """Bounds of the closing error of a rule's energy ledger, as fractions of the energy that parts and loads exchange.

    A closing error beyond ``told`` causes a warning; a gain beyond ``gain`` or a loss beyond ``loss`` invalidates the
    result.  For one-state rules only a lasting gain is compared with ``gain``: where steps do not resolve the motion,
    speeds overshoot by w h in the first ones before they decay (Hilber & Hughes 1978, doi:10.1002/eqe.4290060111), and
    energy oscillates within a period.
    """

    text: str
    told: float
    gain: float
    loss: float


#: Solutions of Newton-Raphson are exact to round-off and to ``rtol``.
EXACT = Promise("closes the energy to round-off", 1e-6, 1e-3, 1e-3)
#: The error is that of the step: small where the step resolves the motion.
BOUNDED = Promise("keeps the energy as far as its steps resolve the motion", 0.05, 0.5, 0.5)
#: Losses are what these rules are for.
DAMPING = Promise("loses energy of what its steps do not resolve, and gains none that lasts", 0.05, 0.5, np.inf)
#: Works between equilibria are sums over increments, however long these are.
QUASI_STATIC = Promise("books works as sums over its increments", 0.05, np.inf, np.inf)
#: Gain of energy, as a share, beyond which no rule goes on.
HOPELESS = 1e3
#: Steps in which the overshoot of one-state rules comes and goes.
SETTLING = 100
#: Part of a run after which a gain that is still there lasts.
LATE = 0.75
#: Round-off of the ledger over the energies in it.
_ROUND_OFF = 1e-9


@dataclass(frozen=True)
class Rule:
    """An integration rule: its kind in the stepper, its own options, and its description.

    ``text`` is one phrase for lists; ``conserves``, ``order`` (of the error in h), ``damping`` and ``use`` (when to
    take it) are for the reference.
    """

    name: str
    kind: str
    options: tuple[str, ...]
    text: str
    promise: Promise
    conserves: str
    order: str
    damping: str
    use: str

    @property
    def overshoots(self) -> bool:
        """Return whether energy that the ledger gains may be lost again."""
        return self.kind == NEWMARK

    @property
    def two_state(self) -> bool:
        """Return whether forces, strains and reactions belong to the middle of its steps."""
        return self.kind in (MIDPOINT, CHAIN)

    @property
    def adapts(self) -> bool:
        """Return whether its steps may change their length."""
        return self.kind == MIDPOINT


class Weights(NamedTuple):
    """Newmark's beta and gamma, the weights am and af of the algorithmic acceleration, and the decay."""

    beta: float = 0.25
    gamma: float = 0.5
    am: float = 0.0
    af: float = 0.0
    decay: float = 0.0


RULES: dict[str, Rule] = {
    r.name: r
    for r in (
        Rule(
            "midpoint", MIDPOINT, (), "energy and momenta exact (default)", EXACT,
            conserves="energy, momentum and angular momentum, to round-off",
            order="second order",
            damping="none",
            use="the default; long runs, free motion, and whenever the energy must hold",
        ),
        Rule(
            "decaying", MIDPOINT, ("decay",), "momenta exact, elastic energy decays; first order", EXACT,
            conserves="momentum and angular momentum, to round-off; the ledger books what is lost",
            order="first order",
            damping="elastic energy of what the steps do not resolve, by `decay`",
            use="stiff parts whose fast vibrations disturb the mid-point rule",
        ),
        Rule(
            "generalised-alpha", NEWMARK, ("rho_inf",), "second order, damps what steps do not resolve", DAMPING,
            conserves="energy as far as the steps resolve the motion",
            order="second order",
            damping="high frequencies, by the spectral radius `rho_inf`; the least of low ones among damping rules",
            use="stiff models and those with impacts, where only slow motion counts",
        ),
        Rule(
            "hht", NEWMARK, ("alpha",), "second order, damps what steps do not resolve (Hilber, Hughes & Taylor)",
            DAMPING,
            conserves="energy as far as the steps resolve the motion",
            order="second order",
            damping="high frequencies, by `alpha`",
            use="comparisons with programs that have this rule",
        ),
        Rule(
            "newmark", NEWMARK, ("beta", "gamma"), "average acceleration, to compare with", BOUNDED,
            conserves="energy as far as the steps resolve the motion",
            order="second order with `gamma` = 1/2, else first",
            damping="none with `gamma` = 1/2, above it high frequencies and some of the low ones",
            use="comparisons with programs that have this rule",
        ),
        Rule(
            "explicit", EXPLICIT, (),
            "Newton-Euler with incremental rotations, first order, free bodies without joints", BOUNDED,
            conserves="linear momentum; energy as far as the steps resolve the motion",
            order="first order",
            damping="none",
            use="free bodies without joints; steps below 2/w of the highest frequency w",
        ),
        Rule(
            "hamiltonian", CHAIN, (),
            "trees of rigid bodies in joint coordinates and conjugate momenta, energy exact", EXACT,
            conserves="energy and the momenta of cyclic coordinates, to round-off; joints without any error",
            order="second order",
            damping="none",
            use="chains and trees of rigid bodies with linear springs on their joints; to check the other formulation",
        ),
    )
}  # fmt: skip

#: The text of the key `rule`; `rule_notes` says the rest.
RULE_TEXT = "integration rule, one of the list below"


def rule_notes(names: Collection[str]) -> str:
    """Return a list of rules for the reference: what each conserves, its order, its damping, and when to use it."""
    lines = []
    for name in names:
        rule = RULES[name]
        words = (f"{rule.order}", f"conserves {rule.conserves}", f"damping: {rule.damping}", f"use: {rule.use}")
        lines.append(f'- `"{name}"`: {". ".join(w[0].upper() + w[1:] for w in words)}.')
    return "Rules:\n\n" + "\n".join(lines) + "\n"


#: Options of rules: (lowest, highest) allowed value, default.  Newmark's rule gains energy for gamma below 1/2; beta =
#: 1/12 is that of Fox & Goodwin, and below it steps are nearly explicit; from gamma = beta = 1 on nothing is left that
#: steps do not resolve.  The decaying rule is as dissipative as backward differences at 1/2.
OPTIONS: dict[str, tuple[float, float, float]] = {
    "beta": (1.0 / 12.0, 1.0, 0.25),
    "gamma": (0.5, 1.0, 0.5),
    "alpha": (-1.0 / 3.0, 0.0, -0.1),
    "rho_inf": (0.0, 1.0, 0.8),
    "decay": (0.0, 1.0, 0.1),
}
#: Their defaults, those of a transient.
DEFAULTS = {name: default for name, (_, _, default) in OPTIONS.items()}
#: Defaults of a linear transient.  Its constraints are eliminated, so that no oscillating multipliers need damping:
#: half of the damping of a transient is enough for what its steps do not resolve.
LINEAR_DEFAULTS = {**{name: DEFAULTS[name] for name in ("beta", "gamma", "alpha", "rho_inf")}, "alpha": -0.05}
#: Largest local error that adaptive steps may have.
COARSEST = 0.1
#: Largest energy error that iterations may leave: beyond it a step of an exact rule has failed.
LOOSEST = 1e-3


def weights(rule: str, settings: Any) -> Weights:
    """Return the weights of a rule (a name of RULES, or "static") for settings with the attributes of OPTIONS."""
    if rule == "newmark":
        return Weights(settings.beta, settings.gamma)
    if rule == "hht":
        return Weights(0.25 * (1.0 - settings.alpha) ** 2, 0.5 - settings.alpha, 0.0, -settings.alpha)
    if rule == "generalised-alpha":
        rho = settings.rho_inf
        am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        gamma = 0.5 + af - am
        return Weights(0.25 * (gamma + 0.5) ** 2, gamma, am, af)
    return Weights(decay=settings.decay if rule == "decaying" else 0.0)


def promise(rule: str, settings: Any) -> Promise:
    """Return the bounds of the ledger of a rule (a name of RULES, or "static") for settings with the attributes of
    OPTIONS."""
    if rule == "static":
        return QUASI_STATIC
    if rule == "newmark" and settings.gamma > 0.5:
        return DAMPING
    return RULES[rule].promise


def verdict(rule: str, settings: Any, totals: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Return warnings and failures: whether the energy ledger of a run closes within the bounds of its rule.

    Args:
        totals: "gain" and "loss", the largest positive and negative closing errors [J], "scale", the energy that was
            exchanged, and "magnitude", the largest energy; perhaps "lasting", the gain that is left late in the run
            (else "gain"), and "round_off", the energy of round-off of the coordinates (else 0).
    """
    known = promise(rule, settings)
    if not np.isfinite([totals["gain"], totals["loss"], totals["scale"]]).all():
        return [], ["its energies are not finite"]
    floor = max(_ROUND_OFF * totals["magnitude"], totals.get("round_off", 0.0))
    scale = max(totals["scale"], floor)
    lasting = totals.get("lasting", totals["gain"]) if rule in RULES and RULES[rule].overshoots else totals["gain"]
    gained = "came from nowhere" + (" for a time" if lasting < known.told * scale < totals["gain"] else "")
    asked = getattr(settings, "energy_tolerance", 0.0)
    bound = asked or known.told
    remedy = "take a smaller h or rtol" if known is EXACT else 'take a smaller h, or rule = "midpoint"'
    words = f"has energy_tolerance = {asked:g}" if asked else known.text
    told: list[str] = []
    failures: list[str] = []
    for value, last, word, most in (
        (totals["gain"], lasting, gained, known.gain), (totals["loss"], totals["loss"], "was lost", known.loss),
    ):  # fmt: skip
        if value > max(bound * scale, floor):
            (told if last <= most * scale else failures).append(
                f"{100.0 * value / scale:.3g} % of the energy that parts and loads exchange {word}; "
                f'rule = "{rule}" {words}; {remedy}'
            )
    return told, failures


def check_rule(owner: str, options: Any, given: Collection[str]) -> None:
    """Check the rule of a transient step and its options: all of them, and those that the user has ``given``."""
    rule = RULES[options.rule]
    if getattr(options, "adaptive", 0.0) and not rule.adapts:
        why = f'"{rule.name}" remembers accelerations that change with the step'
        raise ModelError(
            'adaptive steps belong to rule = "midpoint" or "decaying"',
            owner=owner,
            remedy="take one of these, or remove adaptive" if rule.two_state else why,
        )
    if getattr(options, "energy_tolerance", 0.0) and not rule.adapts:
        raise ModelError(
            'energy_tolerance belongs to rule = "midpoint" or "decaying", whose iterations alone leave errors of the '
            "energy",
            owner=owner,
            key="energy_tolerance",
            value=options.energy_tolerance,
            remedy="remove it, or take one of these",
        )
    for key, (low, high, _default) in OPTIONS.items():
        if key not in given:
            continue
        if key not in rule.options:
            owners = " or ".join(f'"{r.name}"' for r in RULES.values() if key in r.options)
            raise ModelError(
                f'{key} belongs to rule = {owners}, not to "{rule.name}"',
                owner=owner,
                remedy="leave it out or change the rule",
            )
        v = getattr(options, key)
        if not low <= v <= high:
            more = " (0 is the mid-point rule)" if key == "decay" else ""
            raise ModelError(f"{key} = {shown(v)} must be {low:.6g} to {high:.6g}{more}", owner=owner, key=key, value=v)


def check_rolling(owner: str, system: Any, options: Any) -> None:
    """Check that the rule of a transient can integrate rolling discs: under one-state rules without damping, their
    constraint forces grow from step to step.

    Raises:
        ModelError: the rule cannot; it names the disc.
    """
    w = weights(options.rule, options)
    if RULES[options.rule].kind != NEWMARK or w.am != w.af or w.gamma > 0.5:
        return
    for block in system.blocks:
        if block.type.nonholonomic:
            raise ModelError(
                f'rule = "{options.rule}" without damping knows no constraints of velocities, but "{block.label(0)}" '
                "rolls without slip",
                owner=owner,
                remedy='use rule = "midpoint" or "generalised-alpha"',
            )


def check_explicit(owner: str, system: Any) -> None:
    """Check that the explicit rule can integrate a compiled `System`.

    Raises:
        ModelError: naming what has a multiplier, is driven, or has no mass.
    """
    other = 'use rule = "midpoint"'
    system.refuse_states(owner, 'rule = "explicit" does', other)
    for block in system.blocks:
        if block.type.multipliers:
            raise ModelError(
                'rule = "explicit" is for free bodies and knows no constraints with multipliers, but "'
                f'{block.label(0)}" ({block.type.name}) has them',
                owner=owner,
                remedy=f"{other}",
            )
    if system.driven.dofs.size:
        raise ModelError(
            'rule = "explicit" does not know driven motions', owner=owner, remedy=f"{system.driven.owners[0]}: {other}"
        )
    massive = np.zeros(system.n_dof, bool)
    for block in system.blocks:
        if block.type.inertia:
            massive[block.dof.ravel()] = True
    lost = np.flatnonzero((system.system.equation >= 0) & ~massive)
    if lost.size:
        raise ModelError(
            'rule = "explicit" needs a mass everywhere',
            owner=owner,
            remedy=f"{system.name_of(int(lost[0]))} has none; give it a mass or inertia, hold it, or {other}",
        )
