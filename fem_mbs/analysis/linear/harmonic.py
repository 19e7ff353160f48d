"""Steady harmonic vibrations about a state: complex displacements and sensors by the frequency.

All that shakes does so as Re(a exp(i w t)), a its complex amplitude.  With u = T q + U0 a, U0 what driven supports,
joints and equations prescribe, and D(w) = K (1 + i eta) + i w C - w^2 M (eta the structural loss factor),

    T^T D T q = T^T (F a + i w F' a - D U0 a),

F the forces of the loads and F' those of the rates of what is driven.  Sensors are linear in displacements, velocities,
accelerations, multipliers and loads, by the same derivatives as in state-space models (`ports` beside this).

Theory: docs/theory.md, section 8, "Harmonic response".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.linear.ports import directions, inputs_of_groups, outputs_of
from fem_mbs.analysis.loading import chosen, without_rates
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.distributed.matrix import DistributedMatrix, compressed
from fem_mbs.solvers.distributed.response import DistributedResponse
from fem_mbs.solvers.eigen.frequency_response import DirectResponse, ModalResponse, SingularShift
from fem_mbs.units import unit_of

__all__ = ["Harmonic", "Shaker", "cluster", "given_values", "shakers"]

#: Unknowns beyond which undamped models are solved by modes.
_LARGE = 3000


@dataclass(frozen=True)
class Shaker:
    """An excitation: its ``name``, changes ``values`` (n_fun,) of the time functions per unit, and of the factor of the
    ``weight``, the complex ``amplitude``, and rows (n, 3) of frequency [Hz], factor and phase [degrees] of it;
    ``order``: 1, 2 where the amplitude is that of the rate or the acceleration of these values."""

    name: str
    values: np.ndarray
    weight: float
    amplitude: complex
    spectrum: np.ndarray | None = None
    order: int = 0

    def amplitude_at(self, frequency: float) -> complex:
        """Return the complex amplitude at a frequency [Hz]; factors and phases are linear between the rows."""
        if self.spectrum is None:
            return self.amplitude
        f, size, phase = self.spectrum.T
        turned = np.exp(1j * np.deg2rad(np.interp(frequency, f, phase)))
        return complex(self.amplitude * np.interp(frequency, f, size) * turned)

    def value_at(self, frequency: float) -> complex:
        """Return the complex amplitude of the values at a frequency [Hz]."""
        return self.amplitude_at(frequency) / (2j * np.pi * frequency) ** self.order


def given_values(compiled: CompiledModel, at: np.ndarray, t: float) -> np.ndarray:
    """Return the values (n_fun,) at t [s] of what functions were made of: accelerations and speeds where these were
    given, else their own values ``at`` (n_fun,)."""
    out = at.copy()
    for i, f in enumerate(compiled.functions):
        order = getattr(f, "integrated", 0)
        if order:
            out[i] = f.jet(np.float64(t))[order]  # type: ignore[attr-defined]
    return out


def shakers(
    compiled: CompiledModel, at: np.ndarray, t: float, options: Any, owner: str
) -> tuple[list[Shaker], list[str]]:
    """Return the excitations that the options of a step choose, and sentences on those that stay at rest.

    ``at`` (n_fun,) are the values at the time t [s] of what all functions were made of.

    Raises:
        ModelError: an unknown name, no excitation, or a steady acceleration or speed of what is driven.
    """
    loads = options.loads
    spectra = _spectra(options, owner)
    amplitudes, phases = {**dict.fromkeys(spectra, 1.0), **(options.amplitudes or {})}, options.phases or {}
    everything = isinstance(loads, str) and loads == "all"
    names = [] if everything else [loads] if isinstance(loads, str) else list(loads)
    for key, table in (("spectra", spectra), ("amplitudes", amplitudes), ("phases", phases)):
        for name in table:
            if not everything and name not in names:
                raise ModelError(
                    f'{key}: "{name}" is not among the loads {", ".join(names) or "(none)"}',
                    owner=owner,
                    remedy="add it",
                )
    rest = np.zeros(len(compiled.loads), bool)
    if everything:
        rest, _ = chosen(compiled, "all", owner, "loads")
        if compiled.model.building.rotating is not None:  # like the weight it does not oscillate
            rest[compiled.model.building.rotating.function] = False
        names = list(dict.fromkeys([*amplitudes, *phases]))
    found, silent = [], []
    for name in names:
        tables = {"spectra": spectra, "amplitudes": amplitudes, "phases": phases}
        key = next(k for k, table in tables.items() if name in table) if everything else "loads"
        mask, weight = chosen(compiled, [name], owner, key, motions=True, controlled=True)
        rest &= ~mask
        values = np.where(mask, at, 0.0)
        if name in amplitudes:
            values = mask * directions(compiled, name) * float(amplitudes[name])
        values = without_rates(compiled, values)
        size = float(np.abs(values).max(initial=0.0))
        if weight:
            size = float(amplitudes.get(name, 1.0))
        if size == 0.0:
            silent.append(name)
            continue
        turned = np.exp(1j * np.deg2rad(float(phases.get(name, 0.0))))
        order = max((getattr(compiled.functions[i], "integrated", 0) for i in np.flatnonzero(mask)), default=0)
        if order and not min(options.frequencies) > 0.0:
            what = ("speed", "acceleration")[order - 1]
            raise ModelError(
                f'"{name}" is given by its {what}, which at 0 {unit_of("Hz")} moves it without bound',
                owner=owner, key="frequencies", remedy="leave 0 out",
            )  # fmt: skip
        found.append(
            Shaker(
                name, values / (1.0 if weight else size), float(weight), size * turned, spectra.get(name), order
            )
        )  # fmt: skip
    values = np.where(rest, at, 0.0)
    size = float(np.abs(values).max(initial=0.0))
    if size > 0.0:
        found.append(Shaker("all" if not found else "all others", values / size, 0.0, complex(size)))
    if not found:
        what = f"{', '.join(silent)} {'has' if len(silent) == 1 else 'have'} the" if silent else "the loads have the"
        why = f"{what} value 0 at t = {t:g} {unit_of('s')}" if silent or rest.any() else "there is no load"
        raise ModelError(
            f"nothing shakes the model: {why}",
            owner=owner,
            remedy="add a load, name a motion in loads, or give amplitudes (or time, at which functions are taken)",
        )
    said = [
        f'"{name}" has the value 0 at t = {t:g} {unit_of("s")} and does not shake; give amplitudes or time'
        for name in silent
    ]
    return found, said


def _spectra(options: Any, owner: str) -> dict[str, np.ndarray]:
    """Return rows (n, 3) of frequency, amplitude and phase by the names of loads.

    Raises:
        ModelError: they leave out a frequency of the step, or a load has an amplitude besides.
    """
    out = {}
    low, high = min(options.frequencies), max(options.frequencies)
    for name, rows in (options.spectra or {}).items():
        for key in ("amplitudes", "phases"):
            if name in (getattr(options, key) or {}):
                raise ModelError(
                    f'"{name}" stands in spectra and in {key}', owner=owner, key=key, remedy="remove one of both"
                )
        table = np.array([[*row, 0.0][:3] for row in rows], float)
        if not table[0, 0] <= low <= high <= table[-1, 0]:
            raise ModelError(
                f'spectra: "{name}" has rows from {table[0, 0]:g} to {table[-1, 0]:g} {unit_of("Hz")}, and the '
                f"frequencies go from {low:g} to {high:g} {unit_of('Hz')}",
                owner=owner,
                key="spectra",
                remedy="add rows",
            )
        out[name] = table
    return out


class _AtRest:
    """Small motions of a model at rest, as `fem_mbs.analysis.linear.ports` asks for them."""

    frame, speed = "fixed", 1.0

    def __init__(self, linear: Linearised, damping: csr_matrix):
        self.linear, self.damping = linear, damping
        self.compiled, self.system, self.state = linear.compiled, linear.system, linear.state
        self.first, self.tangent, self.constraints = linear.first, linear.here, linear.constraints

    def force(self) -> np.ndarray:
        return self.linear.residual

    def moved(self, u: np.ndarray):
        return self.linear.moved(u)

    def turning(self) -> csr_matrix:
        return csr_matrix((self.system.n_dof,) * 2)

    def whole(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        return self.linear.mass_matrix, self.damping, self.linear.tangent


class Harmonic:
    """Vibrations of a model at rest in all ``shaking``, at any frequency.

    Attributes:
        method: "direct" or "modal"; ``modal`` has the modes then.
        columns: (k,) names of the sensors' columns, sensor by sensor as in ``sensors``.

    Args:
        coriolis: matrix (N, N) of the Coriolis forces of a turning frame, see `coriolis_matrix`.

    Raises:
        ModelError, AnalysisError: naming the step and what is wrong.
    """

    def __init__(
        self, linear: Linearised, options: Any, shaking: list[Shaker], sensors: list[str], owner: str,
        coriolis: csr_matrix | None = None,
    ):  # fmt: skip
        self.linear, self.owner = linear, owner
        self.damping = linear.damping_matrix if coriolis is None else csr_matrix(linear.damping_matrix + coriolis)
        if not linear.eliminated:
            raise AnalysisError(f"{owner}: the mechanism is too large for a harmonic step; linearise it")
        first = linear.first
        self.structural = float(options.structural)
        self.T, self.elimination = linear.elimination.T.tocsr(), linear.elimination
        seen = _AtRest(linear, self.damping)
        self.inputs = inputs_of_groups(seen, [(s.name, s.values, s.weight) for s in shaking])
        self.outputs = outputs_of(seen, sensors, self.inputs, owner, vectors=True)
        self.columns = self.outputs.names
        by_name = {s.name: s for s in shaking}
        self.shaking = [by_name[n.removesuffix("'") if o else n] for n, o in self._named()]
        self.K, self.C, self.M = (
            compressed(A[:first][:, :first]) for A in (linear.balanced_tangent, self.damping, linear.mass_matrix)
        )
        value = np.flatnonzero(self.inputs.order == 0)
        self.ways = np.zeros((first, len(self.inputs.names)))
        for k in value:
            place, gap = self.inputs.place[:first, k], self.inputs.gap[:, k]
            if place.any() or gap.any():
                self.ways[:, k] = linear.eliminate(gap, place).u0
        self._choose(options)

    def _named(self) -> list[tuple[str, int]]:
        return list(zip(self.inputs.names, self.inputs.order.tolist(), strict=True))

    def _choose(self, options: Any) -> None:
        linear, method, w = self.linear, options.method, 2.0 * np.pi * float(max(options.frequencies))
        K, C1, M = (linear.reduce(A) for A in (linear.balanced_tangent, self.damping, linear.mass_matrix))
        asked = (options.damping, options.rayleigh, options.modes, options.cutoff, options.intervals)
        by_modes = any(v is not None for v in asked) or not options.residual
        if method == "auto":
            large = K.shape[0] > _LARGE and not C1.count_nonzero() and not linear.unsymmetric
            method = "modal" if by_modes or (large and M.count_nonzero()) else "direct"
        self.method, self.warnings = method, []
        self.modal: ModalResponse | None = None
        self.solver: DirectResponse | DistributedResponse | ModalResponse
        self.n_equations = K.shape[0]
        if method == "direct":
            make = DistributedResponse if isinstance(K, DistributedMatrix) else DirectResponse
            self.solver = make(K, C1, M, self.structural, w)
            return
        linear.system.refuse_states(self.owner, "modes do", 'take method = "direct", without keys of modes')
        if linear.unsymmetric:
            self.warnings.append(
                f"the stiffness is unsymmetric by {linear.asymmetry:.2g} of its largest entry; modes are of its "
                'symmetric part, method = "direct" takes it whole'
            )
        if C1.count_nonzero():
            what = "dampers act" if self.damping is linear.damping_matrix else "Coriolis forces and dampers act"
            self.warnings.append(
                f"{what} on the modes and residual vectors alone, which do not know their forces; "
                'method = "direct" takes them whole'
            )
        cutoff = 2.0 * np.pi * float(options.cutoff) if options.cutoff is not None else 2.0 * w
        if cutoff <= 0.0:
            raise ModelError(
                "modes up to 0 Hz are none", owner=self.owner, remedy='give cutoff or modes, or take method = "direct"'
            )
        ratios = np.atleast_1d(np.asarray(options.damping if options.damping is not None else [], float))
        moved = [A @ self.ways for A in (self.K, self.C, self.M)]
        force = self.inputs.force[: linear.first]
        B = self.T.T @ np.hstack((force if options.residual else force[:, :0], *moved))
        linear.release()
        try:
            self.modal = ModalResponse(
                0.5 * (K + K.T), C1, M, B, self.structural, ratios, cutoff, options.modes,
                tuple(options.rayleigh or (0.0, 0.0)),
            )  # fmt: skip
        except AnalysisError as error:
            raise type(error)(str(error), owner=self.owner) from None
        self.solver = self.modal
        if self.modal.frequencies.size and self.modal.frequencies[-1] < w and options.modes is not None:
            self.warnings.append(
                f"the highest mode has {self.modal.frequencies[-1] / (2.0 * np.pi):.6g} {unit_of('Hz')}, less than the "
                "highest frequency; ask for more modes"
            )

    def clustered(self, frequencies: np.ndarray, n: int, bias: float) -> np.ndarray:
        """Return frequencies [Hz] from the first to the last one of ``frequencies``, n in each interval between
        natural ones; see `cluster`."""
        assert self.modal is not None
        natural = self.modal.frequencies / (2.0 * np.pi)
        return cluster(float(frequencies[0]), float(frequencies[-1]), natural, n, bias)

    def dynamic(self, w: float, u: np.ndarray) -> np.ndarray:
        """Return forces D(w) u (first,) complex of displacements u (first,)."""
        return (self.K @ u) * (1.0 + 1j * self.structural) + 1j * w * (self.C @ u) - w * w * (self.M @ u)

    def at(self, frequency: float) -> tuple[np.ndarray, np.ndarray]:
        """Return displacements (N,) of all dofs and the sensors' columns (k,), complex, at a frequency [Hz].

        Raises:
            AnalysisError: it is a natural frequency, and nothing damps there.
        """
        linear, first, w = self.linear, self.linear.first, 2.0 * np.pi * frequency
        c = np.array([s.value_at(frequency) for s in self.shaking]) * (1j * w) ** self.inputs.order
        u0 = self.ways @ c
        f = self.inputs.force[:first] @ c
        right = self.T.T @ (f - self.dynamic(w, u0) if u0.any() else f)
        try:
            q, damped = self._solve(w, right, -(self.T.T @ (self.K @ u0)))
        except SingularShift:
            what = (
                "the model can move freely, and rests nowhere under these loads; leave 0 Hz out, or hold it"
                if frequency == 0.0
                else "a natural frequency, at which nothing damps; leave it out, or add damping"
            )
            raise AnalysisError(f"{self.owner}: {frequency:.9g} {unit_of('Hz')}: {what}") from None
        u = np.zeros(linear.system.n_dof, complex)
        u[:first] = self.T @ q + u0
        if not np.isfinite(u).all():
            raise AnalysisError(f"{self.owner}: {frequency:.9g} {unit_of('Hz')}: the displacements are not finite")
        return u, self._sensed(w, u, f, c, damped)

    def _solve(self, w: float, right: np.ndarray, carried: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q (n,) under forces (n,), and the forces (first,) of the modes' own damping; ``carried`` (n,) are the
        forces by which statics follows what is prescribed."""
        if self.modal is None:
            return self.solver.solve(w, right), np.zeros(self.linear.first)
        y, seen = self.modal.amplitudes(w, right, carried)
        stiff, massive = (self.T @ (self.modal.vectors @ (a * seen)) for a in self.modal.proportions)
        return self.modal.vectors @ y, 1j * w * (self.K @ stiff + self.M @ massive)

    def _sensed(self, w: float, u: np.ndarray, f: np.ndarray, c: np.ndarray, damped: np.ndarray) -> np.ndarray:
        """Return the sensors' columns (k,) of displacements u (N,), loads f (first,), inputs c (m,) and the forces
        ``damped`` (first,) of the modes' own damping, which reactions see."""
        out = self.outputs
        if not out.names:
            return np.zeros(0, complex)
        left = f - self.dynamic(w, u[: self.linear.first]) - damped
        found = self.elimination
        y = found.multipliers(left.real) + 1j * found.multipliers(left.imag)
        values = out.q @ u + 1j * w * (out.v @ u) - w * w * (out.a @ u) + out.y @ y + out.u @ c
        whole = np.zeros(u.size, complex)  # forces that sensors of reactions need besides u
        whole[: damped.size] = damped + 1j * self.structural * (self.K @ u[: damped.size])
        values += out.force @ whole
        return _with_sizes(values, out.sizes)


def cluster(lowest: float, highest: float, natural: np.ndarray, n: int, bias: float) -> np.ndarray:
    """Return frequencies (m,), n in each interval between the lowest, the ``natural`` ones between, and the highest.

    The ends are among them. A bias p above 1 draws the others to the ends: (a + b)/2 + (b - a)/2 sign(y) |y|^(1/p), y
    from -1 to 1 (Abaqus Keywords Guide, *STEADY STATE DYNAMICS).
    """
    inside = natural[(natural > lowest) & (natural < highest)]
    ends = np.unique(np.concatenate(([lowest], inside, [highest])))
    y = np.linspace(-1.0, 1.0, n)
    shape = np.sign(y) * np.abs(y) ** (1.0 / bias)
    low, high = ends[:-1, None], ends[1:, None]
    inner = 0.5 * (low + high) + 0.5 * (high - low) * shape[1:-1]
    return np.unique(np.concatenate((ends, inner.ravel())))


def _with_sizes(values: np.ndarray, sizes: list[slice]) -> np.ndarray:
    """Return amplitudes with vibrating vectors, slices of them, replaced by their largest length over a period.

    Re(w e^ia) is longest, by w.w = |w.w| e^-2ia without conjugation, at the phase a that makes that real.  The
    amplitude gets the phase -a, as that of a vector which vibrates along a line has.
    """
    parts, at = [], 0
    for some in sizes:
        w = values[some]
        square = np.sum(w * w)
        largest = np.sqrt(0.5 * (float(np.vdot(w, w).real) + abs(square)))
        parts += [values[at : some.start], [largest * np.exp(0.5j * np.angle(square))]]
        at = some.stop
    return np.concatenate([*parts, values[at:]])
