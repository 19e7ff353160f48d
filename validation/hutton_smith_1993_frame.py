"""Component modes of a portal frame, and its modification.

Two clamped legs of steel and a crossbeam of aluminium, each a component.  Free-interface modes with residual attachment
modes, interface forces eliminated; sensitivities of the frequencies, changes in the modes of the baseline, and changes
that bring a mode to a given frequency.

      2 ================ 3        legs 1 m, 20 beams each; crossbeam 1.5 m, 30 beams, free-free
        ||  crossbeam  ||         A = 4e-4 m^2, I = 1.3333e-8 m^4
        || left        || right   steel 2.1e11 N/m^2, 7800 kg/m^3; aluminium 7e10 N/m^2, 2700 kg/m^3
      1 ##             ## 4

Source: S.G. Hutton, M.J. Smith, "Modification of flexible body dynamics using substructures", NATO ASI, Troia 1993,
Vol. II, 215-228, for the method; its telescope cannot be rebuilt, so that the frame's numbers are recomputed ones
(dense matrices of Euler beams, consistent masses).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.linalg

from fem_mbs import Model, Modification, assemble_components
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import PROPERTY, RECOMPUTED, SELF

CAPABILITY = "reduction"
CASES = {
    "H1": "the interface stays closed",
    "H2": "elastic flexibility by inertia relief is the sum over all modes",
    "H3": "six frequencies with 15 modes",
    "H4": "density of a component: changed in the baseline's modes, as with new ones",
    "H5": "modulus of a component: in the baseline's modes, and with new ones",
    "H6": "sensitivities sum to -1 and +1",
    "H7": "density of the crossbeam that lowers mode 2 by a tenth",
    "H8": "the next root of the same problem",
    "H9": "errors fall with the cut-off",
}

AREA, INERTIA = 4e-4, 1.3333e-8
PARTS = ("left", "cross", "right")


def build(density: float = 2700.0, modulus: float = 7e10) -> Model:
    """Return the frame with its three components; density and modulus of the crossbeam."""
    model = Model(2, "portal frame")
    model.polyline("frame", [(0.0, 0.0), (0.0, 1.0), (1.5, 1.0), (1.5, 0.0)], [20, 30, 20])
    for i, part in enumerate(PARTS, 1):
        E, rho = (modulus, density) if part == "cross" else (2.1e11, 7800.0)
        model.section(part, "stiffness", EA=E * AREA, EI=E * INERTIA, rhoA=rho * AREA)
        model.beams(part, f"frame:segment_{i}", part)
        model.component(part, part)
    model.fix(["frame:start", "frame:end"])
    return model


def reference() -> dict:
    """Return the published values.

    They are frequencies [Hz] of the whole frame: as it is, with 2.889 times the crossbeam's density, with a third of
    its modulus; further errors of mode 6 by the cut-off, and H7 and H8.
    """
    return {
        "frame": (14.9516, 38.2314, 83.1842, 84.0003, 127.1091, 217.1378),
        "density": (10.773, 22.905, 60.416),
        "modulus": (13.109, 25.001, 65.632),
        "errors": {100: 9.6e-2, 300: 1.28e-4, 900: 1e-5, 2000: 0.0},
        "alpha": (0.2497, 9.0506),
        "first order": 0.2029,
        "lowered": 34.40824,
    }


def flexibility_error(assembly) -> tuple[float, float]:
    """Return the largest relative difference of G_e F by inertia relief from its sum over all elastic modes, and what
    round-off of the largest eigenvalue leaves of the smallest one."""
    worst, left = 0.0, 0.0
    for reduced in assembly.coupled.parts:
        K, M, modes = reduced.part.K.toarray(), reduced.part.M.toarray(), reduced.modes
        values, X = scipy.linalg.eigh(K, M)
        X, values = (a[..., modes.rigid.shape[1] :] for a in (X, values))
        total = X @ (X.T @ modes.forces / values[:, None])
        worst = max(worst, float(np.abs(modes.relief(modes.forces) - total).max() / np.abs(total).max()))
        left = max(left, np.finfo(float).eps * float(values[-1] / values[0]))
    return worst, left


def check(f: Findings) -> None:
    known = reference()
    few = assemble_components(build(), modes={"left": 4, "cross": 4, "right": 4})
    whole = few.full_modes(6)
    gap = np.abs(few.coupled.interface[: few.conditions]).max()
    f.zero("H1", "largest entry of A T [1/sqrt(kg)]", gap, 1e-12, "The value is exact; only round-off is left.")
    f.zero(
        "H2", "inertia relief against the sum over modes", *flexibility_error(few),
        "Eigenvalues round off by 2.2e-16 of the largest.", SELF,
    )  # fmt: skip
    for i, value in enumerate(known["frame"]):
        f.row(
            "H3",
            f"mode {i + 1} of the whole frame [Hz]",
            whole[i],
            value,
            "The recomputed number has so many digits.",
            RECOMPUTED,
            tolerance=6e-5,
        )
    kept = sum(few.kept.values())
    f.row("H3", "modes kept", kept, 15, "Modes below the cut-off are 4 + (3 + 4) + 4.", PROPERTY, tolerance=0.0)
    errors = few.frequencies[:6] / whole - 1.0
    f.digits("H3", "largest error of six modes", np.abs(errors).max(), "1.1e-5", RECOMPUTED)
    f.between(
        "H3",
        "smallest error of six modes",
        errors.min(),
        -1e-9,
        2e-5,
        "A Ritz method gives no frequency below the whole model's.",
    )

    study = Modification(
        assemble_components(build(), cutoff=900.0), [f"{k}:{p}" for k in ("density", "modulus") for p in PARTS]
    )
    change = {"density:cross": 1.889}
    changed, _ = study.forward(change)
    anew = study.synthesis(change).frequencies
    f.zero(
        "H4",
        "all frequencies against a new synthesis",
        np.abs(changed / anew - 1.0).max(),
        1e-9,
        "The transformation is the same; only round-off is left.",
        SELF,
    )
    heavy = assemble_components(build(density=2700.0 * 2.889), cutoff=900.0).full_modes(3)
    for i, value in enumerate(known["density"]):
        f.row(
            "H4",
            f"mode {i + 1} of a heavier frame [Hz]",
            heavy[i],
            value,
            "The recomputed number has so many digits.",
            RECOMPUTED,
            tolerance=6e-4,
        )
    error = changed[:3] / heavy - 1.0
    f.between(
        "H4", "smallest error of three frequencies", error.min(), -1e-9, 1.0,
        "A Ritz method gives no frequency below the whole model's.",
    )  # fmt: skip
    f.between(
        "H4", "largest error of three frequencies over that of six of the baseline, with fewer modes",
        np.abs(error).max() / np.abs(errors).max(), 0.0, 1.0,
        "The frequencies are lower against the cut-off, and more modes are kept.",
    )  # fmt: skip

    change = {"modulus:cross": -2.0 / 3.0}
    soft = assemble_components(build(modulus=7e10 / 3.0), cutoff=900.0).full_modes(3)
    for i, value in enumerate(known["modulus"]):
        f.row(
            "H5",
            f"mode {i + 1} of a softer frame [Hz]",
            soft[i],
            value,
            "The recomputed number has so many digits.",
            RECOMPUTED,
            tolerance=1e-3,
        )
    kept, anew = (x[:3] / soft - 1.0 for x in (study.forward(change)[0], study.synthesis(change).frequencies))
    f.between(
        "H5", "smallest error, of the baseline's and of new modes", min(kept.min(), anew.min()), -1e-9, 1.0,
        "A Ritz method gives no frequency below the whole model's.",
    )  # fmt: skip
    f.between(
        "H5", "largest error of new modes over that of the baseline's", np.abs(anew).max() / np.abs(kept).max(),
        0.0, 1.0, "New attachment modes are those of the changed crossbeam; the baseline's are not.",
    )  # fmt: skip
    f.zero(
        "H5",
        "the changed whole model",
        np.abs(study.full(change, 3) / soft - 1.0).max(),
        1e-9,
        "The changed whole model is another way to the same frequencies.",
        SELF,
    )

    sums = study.sensitivities().reshape(2, 3, -1).sum(axis=1)
    f.zero(
        "H6",
        "densities: sum + 1",
        np.abs(sums[0] + 1.0).max(),
        1e-9,
        "The sensitivities to all densities hold all mass, so that they add up to -1.",
    )
    f.zero(
        "H6",
        "moduli: sum - 1",
        np.abs(sums[1] - 1.0).max(),
        1e-9,
        "The sensitivities to all moduli hold all stiffness, so that they add up to 1.",
    )

    _inverse(f, study, known)

    curves = []
    reached, six = {}, []
    full = few.full_modes(12)
    for cutoff in known["errors"]:
        found = assemble_components(build(), cutoff=float(cutoff))
        n = min(12, found.coupled.size)
        error = found.frequencies[:n] / full[:n] - 1.0
        six.append(error[5])
        below = full[:n] < 0.5 * cutoff
        reached[cutoff] = float(error[below].max(initial=0.0))
        curves.append(Curve(np.arange(1.0, n + 1.0), 100.0 * np.maximum(error, 1e-12), f"{cutoff} Hz", "o-"))
    for (cutoff, value), error in zip(known["errors"].items(), six, strict=True):
        f.row(
            "H9",
            f"error of mode 6, cut-off {cutoff} Hz",
            error,
            value,
            "The recomputed number has two digits.",
            RECOMPUTED,
            tolerance=max(0.01 * value, 6e-7),
        )
        f.between("H9", f"worst below half of {cutoff} Hz", reached[cutoff], -1e-9, 0.01, "1 % is demanded.")
    f.between("H9", "largest ratio of errors of mode 6 in turn", max(b / a for a, b in zip(six, six[1:], strict=False)),
              0.0, 0.5, "The errors fall from one cut-off to the next.")  # fmt: skip
    f.figure("Error by cut-off", curves, "Mode", "Error of the frequency [%]", "6, 12, 17 and 29 modes kept.", "log")
    bars = [
        Curve(np.arange(1.0, 4.0) + 0.13 * (2 * i - 5) / 2, row[:3], p.name, "bar")
        for i, (p, row) in enumerate(zip(study.parameters, study.sensitivities(), strict=True))
    ]
    f.figure("Sensitivities", bars, "Mode", "(r / lambda) d lambda / d r", "Densities sum to -1, moduli to +1.")


def _inverse(f: Findings, study: Modification, known: Mapping) -> None:
    target = 0.9 * study.frequencies[1]
    answers = study.answers("density:cross", target)
    slope = study.sensitivities()[1, 1]
    f.row(
        "H7",
        "alpha",
        answers[0].alpha,
        known["alpha"][0],
        "The recomputed number has so many digits.",
        RECOMPUTED,
        tolerance=1e-4,
    )
    f.row(
        "H7",
        "alpha of first order",
        (0.81 - 1.0) / slope,
        known["first order"],
        "The recomputed number has so many digits.",
        RECOMPUTED,
        tolerance=1e-4,
    )
    lowered = assemble_components(build(density=2700.0 * (1.0 + answers[0].alpha)), cutoff=900.0).full_modes(4)
    f.row(
        "H7",
        "mode 2 of the whole frame then [Hz]",
        lowered[1],
        known["lowered"],
        "Newton's method on the frequency leaves 1e-6.",
        RECOMPUTED,
        relative=1e-6,
    )
    f.row(
        "H8",
        "alpha of the second root",
        answers[1].alpha,
        known["alpha"][1],
        "The recomputed number has so many digits.",
        RECOMPUTED,
        tolerance=1e-3,
    )
    f.row(
        "H8",
        "the mode at the frequency then",
        answers[1].mode,
        3,
        "The value is exact; only round-off is left.",
        PROPERTY,
        tolerance=0.0,
    )
    f.row(
        "H8",
        "its frequency [Hz]",
        answers[1].frequencies[2],
        known["lowered"],
        "Newton's method on the frequency leaves 1e-6.",
        RECOMPUTED,
        relative=1e-6,
    )
