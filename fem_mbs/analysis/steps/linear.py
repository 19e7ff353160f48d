"""Steps about a state: linear statics, modes, linear buckling."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.analysis.linear.inside import Inside, unknowns_inside
from fem_mbs.analysis.linear.linearised import UNSYMMETRIC, Linearised, Response
from fem_mbs.analysis.loading import chosen
from fem_mbs.analysis.steps.harmonic import check_harmonic
from fem_mbs.analysis.steps.stability import check_stability
from fem_mbs.analysis.steps.stability_map import check_map
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.solvers.eigen.buckling import SIGNS, linear_buckling
from fem_mbs.solvers.eigen.modal_quantities import participation, rigid_body_motions
from fem_mbs.solvers.eigen.modes import CHECKS, real_modes, translates

__all__ = [
    "BUCKLING_OPTIONS", "INCREMENT", "LINEAR_STATIC_OPTIONS", "MODES_OPTIONS", "check_linear", "respond",
    "run_buckling", "run_linear_static", "run_modes",
]  # fmt: skip

#: Options of a modal step and their defaults.
MODES_OPTIONS: dict[str, Any] = {
    "count": 10,
    "near": None,  # frequency [Hz] that the modes are to be nearest to; else the lowest
    "band": None,  # (low, high) [Hz]: all modes there, counted
    "within": None,  # (low, high) [Hz]: of the modes found only those there are kept
    "check": "probe",  # for modes that the iteration missed: "none", "probe" or "inertia"
    "preload": "",  # linear static step about whose displaced place, with its stresses, the modes are
    "component_cutoff": None,  # [Hz]: by synthesis of the model's components, whose modes up to it are kept
}
#: Options of a buckling step and their defaults.
BUCKLING_OPTIONS: dict[str, Any] = {
    "count": 4,
    "loads": "all",
    "sign": "both",  # or "positive", "negative"
    "check": False,  # count the factors by the inertia
    "preload": "",
}
#: Options of a linear static step and their defaults.
LINEAR_STATIC_OPTIONS: dict[str, Any] = {
    "loads": "all",  # or a list; they act in addition to what the state carries
    "time": None,  # [s] at which functions are taken; else the present time
    "duration": 0.0,  # [s] that passes, 0: none: functions are taken at its end, and the next step begins there
    "preload": "",
    "report": "total",  # of sensors, frames and prints; or "increment": what the step adds to the state
}

INCREMENT = "increment"
#: What linear steps report.
REPORTS = ("total", INCREMENT)
#: Rules of linear transients.
LINEAR_RULES = ("midpoint", "newmark", "hht", "generalised-alpha")

_ASYMMETRIC = 1e-6
_TURNED = 0.1  # [rad] beyond which small rotations are said to be none


def check_linear(owner: str, kind: str, options: dict[str, Any], model) -> None:
    """Refuse options that make no sense, before anything is computed.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """

    def pair(value, most: float = 0.0) -> bool:
        """Return two numbers that rise, from 0 to less than infinity, or both at most ``most`` large."""
        try:
            low, high = (float(v) for v in value)
        except (TypeError, ValueError):
            return False
        return (0.0 <= low < high < np.inf) if not most else -most <= low < high <= most

    for key in ("preload", "start"):
        if not options.get(key):
            continue
        earlier, moved = {}, ""
        for step in model.steps:
            if f'Step "{step.name}"' == owner:
                break
            if step.kind == "linear_static" or (key == "start" and step.kind == "linear_transient"):
                earlier[step.name] = step.options.get("preload", "")
            elif step.kind in ("static", "transient", "inverse") and options[key] in earlier:
                moved = step.name
        if options[key] not in earlier:
            what = "linear static step" + " or linear transient" * (key == "start")
            raise ModelError(
                f'{owner}: {key} = "{options[key]}" must be the name of a {what} before it; there '
                f"are {', '.join(earlier) or 'none'}"
            )
        about = earlier[options[key]]
        if key == "preload" and about:
            raise ModelError(
                f'{owner}: preload = "{options[key]}" is itself about the preload "{about}"; bring all loads on in one '
                "linear static step"
            )
        if key == "start" and about != options["preload"]:
            raise ModelError(
                f'{owner}: start = "{options[key]}" is about preload = "{about}", and so must this step be, not about '
                f'"{options["preload"]}"'
            )
        if moved:
            raise ModelError(
                f'{owner}: {key} = "{options[key]}": step "{moved}" has moved the model since; put the linear static '
                "step behind it"
            )
    if model.reduced_parts and (kind == "buckling" or options.get("preload")):
        what = "buckling" if kind == "buckling" else f'preload = "{options["preload"]}"'
        raise ModelError(
            f'{owner}: {what} asks for what stresses stiffen, which reduced part "{next(iter(model.reduced_parts))}" '
            'does not know; describe it by its elements, or reduce it at the end of a static step (state = "end")'
        )
    if kind in ("linear_static", "linear_transient", "modes", "buckling", "harmonic"):
        running = [
            b
            for b in model.building.blocks
            if b.reads and b.reads[0] and b.par[0, b.type.column("reference rate")] >= 0
        ]
        if running:
            raise ModelError(
                f'{owner}: friction "{running[0].groups[0][0]}" on a running surface depends on the force of its '
                "joint, which symmetric matrices do not know; take complex_modes, or a static or transient step"
            )
    if kind in ("complex_modes", "linearise"):
        check_stability(owner, options, model)
    if kind == "harmonic":
        check_harmonic(owner, options)
    if kind == "stability_map":
        check_map(owner, options, model)
    if kind == "modes":
        near, band = options["near"], options["band"]
        if near is not None and (isinstance(near, bool) or not isinstance(near, (int, float)) or not 0 <= near < 1e300):
            raise ModelError(f"{owner}: near = {near!r} must be a frequency of at least 0 [Hz]")
        if band is not None and not pair(band):
            raise ModelError(f"{owner}: band = {band!r} must be two frequencies [low, high] with 0 <= low < high [Hz]")
        within = options["within"]
        if within is not None and not pair(within, np.inf):
            raise ModelError(f"{owner}: within = {within!r} must be two frequencies [low, high] with low < high [Hz]")
        if within is not None and band is not None:
            raise ModelError(f"{owner}: within and band exclude each other; remove one")
        if near is not None and band is not None:
            raise ModelError(f"{owner}: near and band exclude each other; remove one")
        _check_component_cutoff(owner, options, model)
        if options["check"] not in CHECKS:
            raise ModelError(f"{owner}: check = {options['check']!r} must be one of {', '.join(CHECKS)}")
    if kind == "buckling" and options["sign"] not in SIGNS:
        raise ModelError(f"{owner}: sign = {options['sign']!r} must be one of {', '.join(SIGNS)}")
    if options.get("report", "total") not in REPORTS:
        raise ModelError(f"{owner}: report = {options['report']!r} must be one of {', '.join(REPORTS)}")
    if kind == "linear_transient" and options["rule"] not in LINEAR_RULES:
        raise ModelError(f"{owner}: rule = {options['rule']!r} must be one of {', '.join(LINEAR_RULES)}")
    if "time" in options:
        t = options["time"]
        if t is not None and (isinstance(t, bool) or not isinstance(t, (int, float)) or not np.isfinite(t)):
            raise ModelError(f"{owner}: time = {t!r} must be a number [s]")
    if kind == "linear_static":
        T = options["duration"]
        if isinstance(T, bool) or not isinstance(T, (int, float)) or not 0.0 <= T < np.inf:
            raise ModelError(f"{owner}: duration = {T!r} must be a number of at least 0 [s]")
        if T and options["time"] is not None:
            raise ModelError(f"{owner}: time and duration exclude each other; remove one")


def _check_component_cutoff(owner: str, options: dict[str, Any], model) -> None:
    """Refuse component modes that cannot be.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    cutoff = options["component_cutoff"]
    if cutoff is None:
        return
    if isinstance(cutoff, bool) or not isinstance(cutoff, (int, float)) or not 0.0 < cutoff < 1e300:
        raise ModelError(f"{owner}: component_cutoff = {cutoff!r} must be a positive frequency [Hz]")
    for key in ("near", "band", "preload"):
        if options[key] not in (None, ""):
            raise ModelError(f"{owner}: component_cutoff and {key} exclude each other; remove one")
    if not model.components:
        raise ModelError(f"{owner}: component_cutoff needs components; name sets of groups with [[component]]")


# --- linear statics --------------------------------------------------------------------------------------------------
def respond(linear: Linearised, options: dict[str, Any], name: str) -> Response:
    """Return the response of a linear static step."""
    mask, weight = chosen(linear.compiled, options["loads"], f'Step "{name}"', "loads", motions=True)
    if isinstance(options["loads"], str):
        mask = mask | ~linear.loads  # motions and equations too
    return linear.respond(mask, weight, whole=True, owner=f'Step "{name}"')


def run_linear_static(linear: Linearised, response: Response, increments: bool, energy: float) -> dict[str, Any]:
    """Return summary of a linear static step with a strain ``energy`` [J]; totals, or ``increments`` alone."""
    system = linear.system
    displacement = linear.system.nodal(response.u)
    turned = float(np.abs(displacement[:, 3:]).max(initial=0.0))
    forces = response.forces
    if not increments:
        displacement += linear.displacements
        forces = forces + linear.base["reaction"]
    size = np.linalg.norm(displacement[:, :3], axis=1)
    most = int(size.argmax())
    forces = linear.system.nodal(forces)
    x = np.zeros((len(size), 3))
    x[:, : system.dimension] = system.nodes.x
    warnings = [*linear.redundancy, *repeated(linear)]
    if turned > _TURNED:
        warnings.append(
            f"rotations reach {turned:.2g} rad: small ones are assumed, take a static step (large displacements)"
        )
    if linear.unsymmetric:
        warnings.append(UNSYMMETRIC)
    return {
        "linear": True,
        "largest_displacement": float(size[most]),
        "largest_displacement_at": system.nodes.names[most],
        "reactions": {
            "force": forces[:, :3].sum(axis=0).tolist(),
            "moment": (np.cross(x, forces[:, :3]) + forces[:, 3:]).sum(axis=0).tolist(),
        },
        "strain_energy": energy,
        "warnings": warnings,
    }


def repeated(linear: Linearised) -> list[str]:
    """Return equations that the elimination has left out."""
    n = len(linear.elimination.redundant) if linear.eliminated and not linear.multipliers.size else 0
    return [f"{n} constraints repeat others and were left out"] if n else []


# --- modes -----------------------------------------------------------------------------------------------------------
def run_modes(linear: Linearised, options: dict[str, Any], name: str) -> tuple[dict, dict, np.ndarray]:
    """Return summary, series and vectors (N, k) of a modal step, of unit modal mass."""
    K, M, G = linear.stiffness, linear.mass, linear.rows
    linear.release()
    n, free = K.shape[0], None
    inside = None if G.shape[0] or options["component_cutoff"] is not None else unknowns_inside(linear)
    if inside is not None:
        free = translates(K)
        K, M = inside.problem(linear, K, M)
    w2 = [None if f is None else (2.0 * np.pi * np.asarray(f, float)) ** 2 for f in (options["near"], options["band"])]
    extra: dict[str, Any] = {}
    if G.shape[0]:
        if options["near"] is not None or options["band"] is not None:
            raise AnalysisError(
                f'Step "{name}": modes near a frequency or in a band need joints that can be eliminated, which those '
                "of this large mechanism cannot; ask for the lowest"
            )
        found = real_modes(K, M, options["count"], G=G)
        found.vectors[:] /= np.sqrt(np.einsum("ik,ik->k", found.vectors, M @ found.vectors))
    elif options["component_cutoff"] is not None:
        from fem_mbs.analysis.components.synthesis import component_modes

        found, extra["components"] = component_modes(
            linear, float(options["component_cutoff"]), options["count"], f'Step "{name}"'
        )
    elif options["band"] is not None:
        found = real_modes(K, M, band=tuple(w2[1]))
    else:
        near = None if w2[0] is None else float(w2[0])
        found = real_modes(K, M, options["count"], near=near, free=free, check=options["check"])
    f = np.sign(found.values) * np.sqrt(np.abs(found.values)) / (2.0 * np.pi)
    count = len(f)
    vectors, others, residuals = linear.expand(found.vectors[:n]), found.vectors[n:], found.residuals
    warnings = linear.redundancy
    unstable = int((found.values < 0.0).sum())
    if unstable:
        warnings.append(
            f"{unstable} squares of frequencies are negative: the state is unstable; such a frequency is given as a "
            "negative number, its size is the rate of growth over 2 pi"
        )
    if linear.unsymmetric:
        warnings.append(
            f"the stiffness is unsymmetric by {linear.asymmetry:.2g} of its largest entry (loads that follow the model "
            "or have no potential); its symmetric part was taken, complex_modes take it whole"
        )
    if any("centrifugal" in b.type.name for b in linear.system.blocks):
        warnings.append(
            "Coriolis forces of the turning frame are left out; they couple motions to and from the axis with those "
            "around it"
        )
    if found.expected is not None:
        extra["count_check"] = {"expected": int(found.expected), "found": len(f)}
        if found.expected > len(f):
            warnings.append(
                f"{found.expected} modes lie below the highest found, but only {len(f)} were found; ask for more"
            )
    if not G.shape[0]:
        extra["backward_errors"] = found.backward.tolist()
        extra["shifts"] = [float(s) for s in found.shifts]
        extra["factorisations"], extra["solves"] = found.effort.factorisations, found.effort.solves
    rigid = found.rigid
    if options["within"] is not None:
        low, high = (float(v) for v in options["within"])
        kept = (f >= low) & (f <= high)
        below, above = int((f < low).sum()), int((f > high).sum())
        extra["left_out"] = {"below": below, "above": above}
        if below + above:
            warnings.append(
                f"of the {count} modes computed {below} below {low:g} Hz and {above} above {high:g} Hz are left out"
            )
        if high < np.inf and not above:
            warnings.append(f"no mode above {high:g} Hz was reached: there may be more below it; ask for more")
        f, vectors, others, residuals = f[kept], vectors[:, kept], others[:, kept], residuals[kept]
        rigid = int(kept[:rigid].sum())
        if "backward_errors" in extra:
            extra["backward_errors"] = np.array(extra["backward_errors"])[kept].tolist()
    summary = {
        "frequencies_hz": f.tolist(),
        "rigid_body_modes": rigid,
        "residuals": residuals.tolist(),
        "asymmetry": linear.asymmetry,
        "equations": K.shape[0],
        **extra,
        "participation": _participation(linear, vectors, inside, others),
        "warnings": warnings,
    }
    return summary, {"frequency": f, "residual": residuals}, vectors


def _participation(
    linear: Linearised, vectors: np.ndarray, inside: Inside | None, others: np.ndarray
) -> dict[str, Any]:
    """Return factors and effective masses in translations and rotations about the axes of coordinates; ``others`` (m,
    k) are the modes' values of the unknowns ``inside`` elements, which are at rest in motions of the whole."""
    system, dim = linear.system, linear.system.dimension
    n = system.nodes.x.shape[0]
    x = np.zeros((n, 3))
    x[:, :dim] = system.nodes.x
    dof = np.full((n, 6), -1)
    dof[:, :dim] = system.offset[:n, None] + np.arange(dim)
    turning = np.flatnonzero(system.nodes.rotational)
    columns = [5] if dim == 2 else [3, 4, 5]
    dof[np.ix_(turning, columns)] = system.offset[turning][:, None] + dim + np.arange(len(columns))
    directions = rigid_body_motions(x, dof, system.n_dof)
    names = ["x", "y", "z", "rx", "ry", "rz"]
    wanted = [0, 1, 5] if dim == 2 else list(range(6))
    held = np.setdiff1d(np.arange(linear.first), linear.owned)
    directions[held] = 0.0
    directions = directions[:, wanted]
    if inside is not None:
        rest = np.zeros((len(others), directions.shape[1]))
        M = inside.mass_of_all(linear)
        found = participation(M, np.vstack((vectors, others)), np.vstack((directions, rest)))
    elif linear.eliminated and not linear.elimination.dependent.size:
        free = linear.elimination.free  # what moves is all there is: its mass matrix is there already
        found = participation(linear.mass, vectors[free], directions[free])
    else:
        found = participation(linear.mass_matrix, vectors, directions)
    return {
        "directions": [names[i] for i in wanted],
        "factors": found.factors.tolist(),
        "effective_mass": found.effective.tolist(),
        "total": found.total.tolist(),
        "sums": found.sum_of_shares[-1].tolist() if len(found.share) else [0.0] * len(wanted),
    }


# --- buckling --------------------------------------------------------------------------------------------------------
def run_buckling(linear: Linearised, options: dict[str, Any], name: str) -> tuple[dict, dict, np.ndarray]:
    """Return summary, series and vectors (N, k) of a buckling step."""
    mask, weight = chosen(linear.compiled, options["loads"], f'Step "{name}"', "loads")
    if not weight and not np.any(linear.values[mask]):
        raise ModelError(f'Step "{name}": no load acts at its time; add a force, moment or gravity')
    K = linear.stiffness
    unsymmetric = linear.unsymmetric
    Kg = linear.reduce(linear.geometric_stiffness(linear.respond(mask, weight, owner=f'Step "{name}"')))
    skew = abs(Kg - Kg.T)
    asymmetry = float(skew.max() / max(abs(Kg).max(), 1e-300)) if Kg.nnz else 0.0
    warnings = linear.redundancy
    unpotential = asymmetry > _ASYMMETRIC or unsymmetric
    if unpotential:
        what = "stiffness at the state" if unsymmetric else f"geometric stiffness by {asymmetry:.2g}"
        warnings.append(
            f"the {what} is unsymmetric: loads without a potential; the factors are loads of divergence, flutter may "
            "come first, which complex_modes about loaded states tells"
        )
    extra: dict[str, Any] = {}
    K = linear.whole_stiffness if unpotential else K
    found = linear_buckling(
        K, Kg, options["count"], sign=options["sign"], check=options["check"], G=linear.rows, symmetric=not unpotential
    )
    if found.complex:
        extra["complex_factors"] = found.complex
    if found.expected is not None:
        extra["count_check"] = {"expected": int(found.expected), "found": len(found.factors)}
        if found.expected > len(found.factors):
            warnings.append(
                f"{found.expected} factors lie up to the last one found, but only {len(found.factors)} were asked "
                "for or found; ask for more"
            )
    summary = {
        "load_factors": found.factors.tolist(),
        "residuals": found.residuals.tolist(),
        "asymmetry": asymmetry,
        "equations": K.shape[0],
        **extra,
        "warnings": warnings,
    }
    return summary, {"load factor": found.factors, "residual": found.residuals}, linear.expand(found.vectors)
