"""Eigenvalues of a rotor over its speed: branches, whirl, critical speeds.

At every speed the model is linearised about its steady rotation, in a frame where the coefficients are constant, and
the eigenvalues next to zero are found.  Branches are followed by bi-orthogonal products of left and right vectors,

    mac_ij = <w_i, x_j> <w_j, x_i> / (<w_i, x_i> <w_j, x_j>),   <w_i, x_j> = w_i^H ((p_i + p_j) M + C) x_j,

1 for the same mode and 0 for another one, and by the derivative of the eigenvalue, dp = -w^H dL(p) x / w^H L'(p) x;
intervals in which neither says clearly which is which are halved.

Critical speeds of the order k are where Im p = k Omega on a branch.  Where matrices are quadratic in Omega,
p = i k Omega makes an eigenproblem in Omega of its own, which needs no branches; both are compared.

Theory: docs/theory.md, section 10, "Branches over the speed".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix, vstack

from fem_mbs.analysis.end_state import EndState
from fem_mbs.analysis.rotors.crossings import interpolated_root, root_between
from fem_mbs.analysis.rotors.periodic import RESIDUAL, Motions, PeriodicMotions, harmonics_needed, resisted
from fem_mbs.analysis.rotors.rotating import choose_frame, constant_frames, rotation_of, steady_rotation
from fem_mbs.analysis.rotors.steady_parts import SteadyParts
from fem_mbs.analysis.rotors.whirl import whirl
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.model.parts.rotors import Rotor
from fem_mbs.results.modes.eigenvalues import growth_rates
from fem_mbs.solvers.eigen.complex_modes import complex_modes
from fem_mbs.solvers.eigen.complex_pairs import beside, both_residuals, improved
from fem_mbs.solvers.eigen.modal_quantities import lost_to_rotation
from fem_mbs.solvers.eigen.quadratic_pencil import QuadraticPencil, Repeats
from fem_mbs.system.tangent import matrices_of

if TYPE_CHECKING:
    from fem_mbs.analysis.steps.rotors.campbell import Whirl

__all__ = [
    "Branches", "Critical", "Pair", "Spectrum", "Spinning", "critical_speeds", "direct_speeds", "follow",
    "free_motions", "spinning_at", "unsettled",
]  # fmt: skip

_GUARD = 4  # modes beyond the wanted ones that are at hand for branches that come down
_SAME = 1e-6  # relative distance of eigenvalues that have no vectors of their own
_ALIKE = 1e-3  # relative distance of those that may be taken for each other
_SURE = 0.6  # mac from which a mode is known again
_HALVINGS = 6
_QUADRATIC = 1e-9  # of the largest entry: by which matrices may differ from quadratic ones
_UNDAMPED = 1e-7  # imaginary part over size up to which a speed of the direct search is one
_APART = 0.1  # of the speed: what the direct search finds farther away is another one
_MEETS = 1e-6  # of the largest eigenvalue of a branch: how near it comes to the line of a critical speed
_AGREE = 1e-6  # relative change of an eigenvalue with two harmonics more
_DETUNED = (0.0, 1e-6, 1e-5, 1e-4)  # share of a critical speed by which steady rotations are sought beside it
_GROWING = 1e-8  # real part over size from which an eigenvalue grows


class Spinning:
    """A model whose rotor turns steadily at any speed; the search for an equilibrium starts from that of the speed
    before.

    Args:
        end: the state from which the search starts, with its time and levels of loads.
        frame: of increments; "auto" is decided at the highest speed, and the same for all.
        blades: "multi-blade" may be chosen.
    """

    def __init__(self, end: EndState, rotor: Rotor, frame: str = "auto", blades: bool = False):
        self.end, self.rotor, self.frame, self.blades = end, rotor, frame, blades
        self.state = end.state
        self.matrices = matrices_of(end.compiled.system)  # whose pattern is that at all speeds
        self.parts = SteadyParts()
        self.repeats = Repeats()
        self.settled: str | None = None
        self.guard = _GUARD  # modes beyond the wanted ones that can be had at all speeds so far
        self.harmonics: int | None = None  # of the turn; None: coefficients are constant
        self.reach = 0.0  # of these, up to where eigenvalues are sought; 0: not known

    def spectrum(self, lin: Motions, speed: float, count: int) -> Spectrum:
        """Return the eigenvalues of the ``count`` modes nearest to zero, and of some beyond, fewer where these are not
        to be had: damping by b K crowds eigenvalues at -1/b, where no search tells one from another.

        Raises:
            AnalysisError: the wanted ones are not to be had.
        """
        while True:
            try:
                return spectrum(lin, speed, count + self.guard, repeats=self.repeats)
            except AnalysisError:
                if self.guard == 0:
                    raise
                self.guard //= 2

    def steady(self, speed: float) -> Linearisation:
        """Return small motions about the steady rotation at a speed [rad/s], in the fixed frame."""
        end = self.end
        rotation = rotation_of(end.compiled, self.rotor, speed)
        lin = steady_rotation(end.compiled, self.state, rotation, end.time, end.loading, self.parts)
        self.state = lin.moved(np.zeros(end.compiled.system.n_dof))
        return lin

    def at(self, speed: float) -> Motions:
        """Return small motions at a speed [rad/s]: in the frame, or by harmonics of the turn."""
        if self.harmonics is not None:
            return PeriodicMotions(self.steady(speed), self.harmonics, self.reach)
        return self.linearised(speed)

    def linearised(self, speed: float) -> Linearisation:
        """Return the linearisation at a speed [rad/s], in a frame where its coefficients are constant."""
        lin = self.steady(speed)
        if self.settled is None and speed != 0.0:
            self.settled = choose_frame(lin, self.frame, self.blades).frame
        return lin.seen_from(self.settled or ("fixed" if self.frame == "auto" else self.frame))

    def settle(self, speeds: np.ndarray) -> None:
        """Choose the frame at the highest speed."""
        top = float(np.abs(speeds).max())
        if top > 0.0:
            before, self.state = self.state, self.end.state
            self.at(top)
            self.state = before

    def take_harmonics(self, speeds: np.ndarray, count: int, harmonics: int | None) -> None:
        """See the model by harmonics of the turn: as many as modes need at the lowest speed, where they need most."""
        before = self.state
        lin = self.steady(float(speeds[-1]))
        constant_frames(lin)  # refuses states that do not turn with the rotor
        self.state = before
        if harmonics is None:
            harmonics = harmonics_needed(self.steady(float(speeds[0])), count, self.rotor.owner)
            self.state = before
        self.harmonics = harmonics
        for speed in speeds[[0, -1]]:
            motions = PeriodicMotions(self.steady(float(speed)), harmonics, 0.0)
            s = spectrum(motions, float(speed), count)
            up = np.flatnonzero((s.values.imag >= 0.0) & motions.principal(s.right))
            self.reach = max(self.reach, np.sort(np.abs(s.values[up]))[:count].max(initial=0.0))
        self.state = before


def spinning_at(end: EndState, rotor: Rotor, frame: str, speeds: np.ndarray, blades: bool = False) -> Spinning:
    """Return a model that turns at any speed, its frame chosen at the highest one [rad/s]; "multi-blade" only with
    ``blades``."""
    spinning = Spinning(end, rotor, frame, blades)
    spinning.settle(speeds)
    return spinning


@dataclass
class Pair:
    """An eigenvalue p with right and left vectors (n,): w^H L(p) x = 0, w^H L'(p) x = 1."""

    value: complex
    right: np.ndarray
    left: np.ndarray


@dataclass
class Spectrum:
    """Eigenvalues (k,) at a speed, conjugates included, with vectors (n, k), without rigid-body motions."""

    speed: float
    lin: Motions
    values: np.ndarray
    right: np.ndarray
    left: np.ndarray
    residuals: np.ndarray
    biorthogonality: float

    def pair(self, i: int) -> Pair:
        return Pair(complex(self.values[i]), self.right[:, i], self.left[:, i])

    @property
    def stable(self) -> bool:
        return bool((growth_rates(self.values) <= _GROWING * np.abs(self.values)).all())

    def simple(self, i: int) -> bool:
        """Return whether no other eigenvalue is equal up to rounding."""
        return self.same(complex(self.values[i])).shape[1] == 1

    def same(self, value: complex) -> np.ndarray:
        """Return right vectors (n, m) of all eigenvalues that are equal to one up to rounding."""
        return self.right[:, np.abs(self.values - value) <= _SAME * abs(value)]

    def lost(self, most: float) -> float:
        """Return the largest share of an eigenvalue p of 0 < |p| <= ``most`` that rounding of inertia forces may
        change (`lost_to_rotation`); 0 where coefficients are periodic."""
        rows = (self.values != 0.0) & (np.abs(self.values) <= most)
        if isinstance(self.lin, PeriodicMotions) or not rows.any():
            return 0.0
        M, C, K = self.lin.M, self.lin.C, self.lin.K
        shares = lost_to_rotation(M, C, K, self.speed, self.values[rows], self.right[:, rows], self.left[:, rows])
        return float(shares.max())

    def whirl(self, pair: Pair) -> Whirl:
        """Return the sense of a mode of this spectrum, where its eigenvalue determines one."""
        return whirl(self.lin, pair.value, pair.right, self.same(pair.value))


def spectrum(
    lin: Motions, speed: float, count: int, near: complex = 0.0, repeats: Repeats | None = None
) -> Spectrum:  # fmt: skip
    """Return the eigenvalues of the ``count`` modes nearest to zero, or ``near``; ``repeats``: what speeds have in
    common."""
    if isinstance(lin, PeriodicMotions):
        some = min(2 * count * lin.within, lin.M.shape[0])
        found = complex_modes(lin.M, lin.C, lin.K, lin.G, count=some, near=near, check="none", tolerance=RESIDUAL)
    else:
        found = complex_modes(lin.M, lin.C, lin.K, lin.G, count=2 * count, near=near, repeats=repeats)
    r = found.rigid
    return Spectrum(
        speed, lin, found.values[r:], found.right[:, r:], found.left[:, r:], found.residuals[r:], found.biorthogonality
    )


# --- following -------------------------------------------------------------------------------------------------------
@dataclass
class Branches:
    """Branches of eigenvalues ``values`` (b, n) over the speeds (n,), their ``pairs`` [b][n], and the speeds' spectra;
    ``lost``: (branch, speed) where a branch could not be told from others."""

    speeds: np.ndarray
    values: np.ndarray
    pairs: list[list[Pair]]
    spectra: list[Spectrum]
    lost: list[tuple[int, float]]


def unsettled(spinning: Spinning, branches: Branches) -> list[tuple[int, float]]:
    """Return where branches change with more harmonics of the turn, (branch, speed) each."""
    if spinning.harmonics is None:
        return []
    found = []
    for k, s in enumerate(branches.spectra):
        assert isinstance(s.lin, PeriodicMotions)
        more = PeriodicMotions(s.lin.about, spinning.harmonics + 2, 0.0)
        for b, row in enumerate(branches.pairs):
            pair = row[k]
            better = refined(more, Pair(pair.value, more.padded(pair.right), more.padded(pair.left)))
            if better is None or abs(better.value - pair.value) > _AGREE * max(abs(pair.value), abs(s.speed)):
                found.append((b, s.speed))
    return found


def follow(
    spinning: Spinning, speeds: np.ndarray, count: int, progress: Callable[[int], None] | None = None
) -> Branches:
    """Return the ``count`` lowest oscillating modes at the first speed where they have different eigenvalues, at all
    speeds.

    Raises:
        AnalysisError: nothing oscillates.
    """
    spectra = []
    for k, speed in enumerate(speeds):
        spectra.append(spinning.spectrum(spinning.at(speed), speed, count))
        if progress:
            progress(k + 1)
    start, chosen = _seed(spectra, count)
    n = len(speeds)
    pairs: list[list[Pair | None]] = [[None] * n for _ in chosen]
    for b, i in enumerate(chosen):
        pairs[b][start] = spectra[start].pair(i)
    lost: list[tuple[int, float]] = []
    for way in (range(start + 1, n), range(start - 1, -1, -1)):
        # the last vectors that are determined are kept to compare with
        known = [pairs[b][start] for b in range(len(chosen))]
        at = speeds[start]
        for k in way:
            found, known = _step(spinning, known, at, spectra[k], count, _HALVINGS, lost)
            at = speeds[k]
            for b, pair in enumerate(found):
                pairs[b][k] = pair
    pairs, lost = pairs[:count], [entry for entry in lost if entry[0] < count]
    values = np.array([[pair.value for pair in row] for row in pairs])
    return Branches(np.asarray(speeds, float), values, pairs, spectra, lost)


def _seed(spectra: list[Spectrum], count: int) -> tuple[int, list[int]]:
    """Return the first speed at which most of the lowest oscillating modes are simple, and which these are; more than
    ``count`` where the next are almost equal to the last.

    Some may be double at all speeds, as those of a disc in the middle of its shaft.
    """
    best, most = None, -1
    for k, s in enumerate(spectra):
        up = np.flatnonzero(s.values.imag > 1e-9 * np.abs(s.values))
        if isinstance(s.lin, PeriodicMotions):
            up = up[s.lin.principal(s.right[:, up])]
        some = up[np.argsort(np.abs(s.values[up]), kind="stable")]
        # values almost equal to the last one are kept too, since they cannot be distinguished from it
        last = np.abs(s.values[some[:count][-1:]])
        some = some[np.abs(s.values[some]) <= last * (1.0 + _ALIKE)] if some.size else some
        simple = sum(s.simple(i) for i in some)
        if some.size and simple > most:
            best, most = (k, some.tolist()), simple
        if some.size and simple == some.size:
            break
    if best is None:
        raise AnalysisError("Campbell diagram: no mode oscillates; what turns has no stiffness, or is overdamped")
    return best


def _step(
    spinning: Spinning, known: list[Pair], before: float, to: Spectrum, count: int, halvings: int,
    lost: list[tuple[int, float]],
) -> tuple[list[Pair], list[Pair]]:  # fmt: skip
    """Return the pairs of a spectrum that continue known ones, and those to compare the next ones with."""
    from scipy.optimize import linear_sum_assignment

    near = _predicted(known, to.lin)
    mac = _mac(known, to)
    away = np.abs(to.values[None, :] - near[:, None])
    size = np.array([max(abs(pair.value), 1e-300) for pair in known])
    cost = 1.0 - np.minimum(mac, 1.0) + 0.05 * np.minimum(away / (0.01 * size[:, None]), 1.0)
    rows, columns = linear_sum_assignment(cost)
    chosen = np.full(len(known), -1)
    chosen[rows] = columns
    # copies of a multiple eigenvalue share a mode between them
    # (of eigenvalues that are almost equal vectors turn within an interval that cannot be halved for ever)
    width = _SAME if halvings > 0 else _ALIKE
    same = np.abs(to.values[:, None] - to.values[None, :]) <= width * np.abs(to.values)[:, None]
    p = np.array([pair.value for pair in known])
    alike = np.abs(p[:, None] - p[None, :]) <= width * np.abs(p)[:, None]
    sure = np.array([
        j >= 0 and max(mac[b, same[j]].sum(), mac[alike[b], j].sum()) >= _SURE for b, j in enumerate(chosen)
    ])  # fmt: skip
    # a mode similar to two others has changed too much between the speeds
    torn = np.array([(mac[b, ~same[j]] >= _SURE).any() for b, j in enumerate(chosen)])
    twice = _taken_twice(to.values, chosen)
    sure &= ~twice
    if not (sure & ~torn).all() and halvings > 0:
        middle = 0.5 * (before + to.speed)
        between = spinning.spectrum(spinning.at(middle), middle, count)
        _, half = _step(spinning, known, before, between, count, halvings - 1, lost)
        return _step(spinning, half, middle, to, count, halvings - 1, lost)
    found, kept = [], []
    for b, j in enumerate(chosen):
        pair, simple = (to.pair(j), to.simple(j)) if j >= 0 else (None, False)
        if sure[b] and not simple:
            shared = _share(known[b], to, same[j], pair.value)
            pair, simple = shared or pair, shared is not None
        if not sure[b]:
            # perhaps it has left the lowest ones: straight to where it should be
            other = refined(to.lin, Pair(complex(near[b]), known[b].right, known[b].left))
            if other is not None and _mac([known[b]], _alone(to.lin, to.speed, other))[0, 0] >= _SURE:
                pair, simple = other, True
            else:
                lost.append((b, to.speed))
                pair = pair or other or known[b]
        found.append(pair)
        kept.append(pair if simple else known[b])
    return found, kept


def _taken_twice(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return which branches have taken an eigenvalue whose conjugate another one has: both would be the same mode."""
    v = values[chosen]
    conjugate = np.abs(v[:, None] - v.conj()) <= _SAME * np.abs(v)
    conjugate &= (chosen[:, None] != chosen) & (np.abs(v.imag) > _SAME * np.abs(v))
    return conjugate.any(axis=1) & (chosen >= 0)


def _share(known: Pair, to: Spectrum, members: np.ndarray, value: complex) -> Pair | None:
    """Return the vectors next to known ones where eigenvalues are equal: their own are arbitrary, and whirl would be
    random.  None where no vector is next to the known ones.

    Known vectors are projected on those of the eigenvalue.  From speed to speed the projections keep two branches
    apart that stay equal (T. Kato, Perturbation Theory for Linear Operators, 1966, II.4.2).
    """
    X, W = to.right[:, members], to.left[:, members]
    A = (value + known.value) * to.lin.M + to.lin.C
    x, w = X @ (W.conj().T @ (A @ known.right)), W @ (X.conj().T @ (A.conj().T @ known.left))
    size = w.conj() @ (2.0 * value * (to.lin.M @ x) + to.lin.C @ x)
    return _normal(value, x, (w / size.conj()).conj()) if abs(size) > 1e-6 else None


def _alone(lin: Motions, speed: float, pair: Pair) -> Spectrum:
    return Spectrum(speed, lin, np.array([pair.value]), pair.right[:, None], pair.left[:, None], np.zeros(1), 0.0)


def _mac(known: list[Pair], to: Spectrum) -> np.ndarray:
    """Return products (b, k) of known pairs with those of a spectrum; 1 for the same mode."""
    p = np.array([pair.value for pair in known])
    x, w = (np.column_stack([getattr(pair, a) for pair in known]) for a in ("right", "left"))
    M, C = to.lin.M, to.lin.C
    total = p[:, None] + to.values[None, :]
    one = total * (w.conj().T @ (M @ to.right)) + w.conj().T @ (C @ to.right)
    two = total * (to.left.conj().T @ (M @ x)).T + (to.left.conj().T @ (C @ x)).T
    own = 2.0 * p * np.einsum("ik,ik->k", w.conj(), M @ x) + np.einsum("ik,ik->k", w.conj(), C @ x)
    return np.abs(one * two) / np.maximum(np.abs(own)[:, None], 1e-300)


def _predicted(pairs: list[Pair], lin: Motions) -> np.ndarray:
    """Predict eigenvalues (b,) by their derivatives: the two-sided quotients of the new matrices, linearised."""
    p = np.array([pair.value for pair in pairs])
    x, w = (np.column_stack([getattr(pair, a) for pair in pairs]) for a in ("right", "left"))
    m, c, k = (np.einsum("ik,ik->k", w.conj(), a @ x) for a in (lin.M, lin.C, lin.K))
    slope = 2.0 * p * m + c
    change = np.where(slope != 0.0, -(p * (p * m + c) + k) / np.where(slope != 0.0, slope, 1.0), 0.0)
    return p + np.where(np.abs(change) < 0.5 * np.abs(p), change, 0.0)


def refined(lin: Motions, pair: Pair) -> Pair | None:
    """Return the eigenpair next to an approximate one, by inverse iteration from both sides; None where that fails."""
    pencil = QuadraticPencil(lin.M, lin.C, lin.K, lin.G)
    x, w = (a[:, None] / pencil.d[:, None] for a in (pair.right.astype(complex), pair.left.conj()))
    p = np.array([pair.value * pencil.time])
    for _ in range(4):
        found = beside(pencil, p, x, w)
        if found is None:
            return None
        found = improved(pencil, found)
        p, x, w = found.p, found.x, found.w
        residual, backward = both_residuals(pencil, found)
        if residual[0] <= 1e-11 or backward[0] <= 1e-14:
            break
    own = pencil.products(found.p, found.w, found.x)[0, 0]
    if not np.isfinite(own) or own == 0.0 or min(residual[0] / 1e-8, backward[0] / 1e-12) > 1.0:
        return None
    right, left = found.x[:, 0] * pencil.d, found.w[:, 0] * pencil.d
    return _normal(complex(found.p[0] / pencil.time), right, left / (own * pencil.time))


def _normal(p: complex, right: np.ndarray, left: np.ndarray) -> Pair:
    """Return a pair with the largest entry of the right vector 1; left: without conjugation."""
    largest = right[np.abs(right).argmax()]
    return Pair(p, right / largest, (left * largest).conj())


# --- critical speeds -------------------------------------------------------------------------------------------------
@dataclass
class Critical:
    """A speed at which an excitation of some order meets a mode; ``direct``: the solution of the eigenproblem in the
    speed, complex with damping, None where there is none; ``branch`` None: on none that was followed."""

    speed: float
    order: float
    branch: int | None
    whirl: Whirl
    value: complex
    direct: complex | None = None


def critical_speeds(spinning: Spinning, branches: Branches, orders: list[float]) -> list[Critical]:
    """Return the speeds where Im p = k Omega on branches, between the first and the last speed, by increasing speed."""
    speeds = branches.speeds
    found = []
    for order in orders:
        periodic = spinning.harmonics is not None  # copies would be critical everywhere
        direct = None if periodic else direct_speeds(spinning, speeds, order, len(branches.values))
        these = []
        for b, p in enumerate(branches.values):
            off = p.imag - order * speeds
            passed = np.flatnonzero((off[:-1] > 0.0) != (off[1:] > 0.0))
            size = np.abs(p).max()
            some = (_crossing(spinning, branches, b, int(k), order) for k in passed)
            # a branch that was lost, or begins at rest, may jump across the line without meeting it
            these += [c for c in some if abs(c.value.imag - order * c.speed) <= _MEETS * size]
        if direct is not None and order == 0.0:
            these = _resting(branches, these, direct)
        elif direct is not None:
            these = _compared(spinning, these, direct, order)
        found += these
    return sorted(found, key=lambda c: (c.speed, c.order))


def _crossing(spinning: Spinning, branches: Branches, b: int, k: int, order: float) -> Critical:
    low, high = branches.speeds[k], branches.speeds[k + 1]
    ends = branches.pairs[b][k], branches.pairs[b][k + 1]
    seen: dict[float, tuple[Motions, Pair]] = {}

    def off(speed: float) -> float:
        part = (speed - low) / (high - low)
        lin = spinning.at(speed)
        near = min(seen, key=lambda s: abs(s - speed), default=None)
        base = ends[int(part > 0.5)] if near is None or min(part, 1 - part) * (high - low) < abs(near - speed) else None
        base = seen[near][1] if base is None else base
        pair = refined(lin, Pair(complex(_predicted([base], lin)[0]), base.right, base.left))
        if pair is None or _mac([base], _alone(lin, speed, pair))[0, 0] < 0.3:
            pair = _from_spectrum(spinning, lin, speed, base, len(branches.values))
        seen[speed] = lin, pair
        return pair.value.imag - order * speed

    at = [p.value.imag - order * s for p, s in zip(ends, (low, high), strict=True)]
    if at[0] == 0.0 or at[1] == 0.0:
        speed = (low, high)[int(at[1] == 0.0)]
        off(speed)
    else:
        first = interpolated_root(branches.speeds, branches.values[b].imag - order * branches.speeds, k)
        speed = root_between(off, (low, high), (at[0], at[1]), first, 1e-13 * high)
        if speed not in seen:
            off(speed)
    lin, pair = seen[speed]
    # modes that are equal before and behind it are so here
    around = list(zip(branches.spectra[k : k + 2], ends, strict=True))
    equal = all(s.same(end.value).shape[1] > 1 for s, end in around)
    sense = around[1][0].whirl(around[1][1]) if equal else whirl(lin, pair.value, pair.right)
    return Critical(float(speed), order, b, sense, pair.value)


def _from_spectrum(spinning: Spinning, lin: Motions, speed: float, base: Pair, count: int) -> Pair:
    """Return the pair most like a known one among the lowest."""
    s = spinning.spectrum(lin, speed, count)
    return s.pair(int(_mac([base], s)[0].argmax()))


def direct_speeds(spinning: Spinning, speeds: np.ndarray, order: float, count: int) -> np.ndarray | None:
    """Return speeds Omega (k,), complex, with p = i ``order`` Omega an eigenvalue, real parts in the range of
    ``speeds``; None where the matrices are not quadratic in Omega.

    Where damping by b K crowds eigenvalues at -1/b, only those nearest to the middle of the range may be had; None: not
    even these.

    With M = M0 + Omega M1 + Omega^2 M2 and so on, and M1 = M2 = 0 (a rotor does not gain mass),

        Omega^2 (-k^2 M0 + i k C1 + K2) + Omega (i k C0 + K1) + K0.
    """
    top = float(speeds[-1])
    low = float(speeds[0])
    at = [spinning.linearised(s) for s in (low, 0.5 * (low + top), top, low + 0.77 * (top - low))]
    fits = []
    for name in "MCK":
        a, b, c, d = (getattr(lin, name) for lin in at)
        # in t = (Omega - low) / (top - low)
        two = 2.0 * (a - 2.0 * b + c)
        one = c - a - two
        if abs(a + 0.77 * one + 0.77**2 * two - d).max() > _QUADRATIC * max(abs(a).max(), abs(d).max()):
            return None
        h = top - low
        two, one = two / h**2, one / h
        fits.append((a - low * one + low**2 * two, one - 2.0 * low * two, two))
    (M0, _, _), (C0, C1, C2), (K0, K1, K2) = fits
    k = order
    # cubic terms (i k C2) would not be steady: gyroscopic matrices are linear in the speed
    if abs(C2).max() * top**2 > _QUADRATIC * max(abs(C0).max(), abs(C1).max() * top):
        return None
    A, B = -(k**2) * M0 + 1j * k * C1 + K2, 1j * k * C0 + K1
    G, want = vstack((at[0].G, free_motions(at[2], (A, B, K0)))), 2 * count + 4
    middle, values, fewer = 0.5 * (low + top), None, False
    for _ in range(4):
        try:
            found = complex_modes(A, B, K0, G, count=want, near=middle, check="none")
        except AnalysisError:
            if values is not None:
                break
            want, fewer = want // 2, True
            continue
        values = found.values[found.rigid :]
        if fewer or values.size < want or np.abs(values - middle).max(initial=0.0) > top - middle:
            break
        want *= 2
    if values is None:
        return None
    inside = (values.real >= low) & (values.real <= top) & (values.real > 1e-9 * top)
    return values[inside]


def free_motions(lin: Linearisation, matrices: Sequence[csr_matrix]) -> csr_matrix:
    """Return rows (r, n) that hold the rotor's rotation about its axis and its displacement along it, where nothing
    resists.

    Without them any speed would be critical for these motions.
    """
    system, rotation = lin.system, lin.steady
    dim, n = system.dimension, system.nodes.x.shape[0]
    motions = np.zeros((system.n_dof, 2))
    motions[:, 0] = lin.velocity() / rotation.speed
    if dim == 3:
        place = system.offset[:n][rotation.nodes][:, None] + np.arange(3)
        motions[place, 1] = rotation.axis
    X = motions[lin.dofs]
    held = np.any([resisted(a, lin.G, X) for a in matrices], axis=0)
    return csr_matrix((lin.M @ X[:, ~held]).T)


def _resting(branches: Branches, found: list[Critical], direct: np.ndarray) -> list[Critical]:
    """Return critical speeds of what rests in the rotating frame: where K is singular.

    There Im p does not pass through zero but stays: the eigenvalues are real, one of them positive, between the
    critical speeds of the two directions of a rotor.  Only with damping is there nothing better than Im p.
    """
    still = np.abs(direct.imag) <= _UNDAMPED * np.abs(direct)
    out = []
    for value in direct[still]:
        k = int(np.abs(branches.speeds - value.real).argmin())
        b = int(np.abs(branches.values[:, k].imag).argmin())
        out.append(Critical(float(value.real), 0.0, b, "forward", 0j, complex(value)))
    return out or _with_direct(found, list(direct))[0]


def _with_direct(found: list[Critical], direct: list[complex]) -> tuple[list[Critical], list[complex]]:
    """Return critical speeds with those of the direct search that belong to them, and what remains of these.

    Damping moves Omega = p/(i k) off the real axis by about -Re p/k.
    """
    from scipy.optimize import linear_sum_assignment

    if not found or not direct:
        return found, direct
    here = np.array([c.speed - 1j * c.value.real / (c.order or 1.0) for c in found])
    away = np.abs(here[:, None] - np.array(direct)) / np.array([c.speed for c in found])[:, None]
    rows, columns = linear_sum_assignment(away)
    used = [int(k) for i, k in zip(rows, columns, strict=True) if away[i, k] < _APART]
    for i, k in zip(rows, columns, strict=True):
        if away[i, k] < _APART:
            found[i].direct = complex(direct[k])
    return found, [value for k, value in enumerate(direct) if k not in used]


def _compared(spinning: Spinning, found: list[Critical], direct: np.ndarray, order: float) -> list[Critical]:
    """Return critical speeds with what the direct search says of them; undamped ones that branches have missed are
    added."""
    found, left = _with_direct(found, list(direct))
    for value in left:
        if abs(value.imag) > _UNDAMPED * abs(value):
            continue  # damped: no crossing, or one of the branches that are not wanted
        speed = float(value.real)
        s = _beside(spinning, speed, 1j * order * speed)
        i = int(np.abs(s.values - 1j * order * speed).argmin())
        p = complex(s.values[i]) if s.speed == speed else complex(s.values[i].real, order * speed)
        found.append(Critical(speed, order, None, s.whirl(s.pair(i)), p, complex(value)))
    return found


def _beside(spinning: Spinning, speed: float, near: complex) -> Spectrum:
    """Return the eigenvalues nearest to ``near`` at a critical speed, or so little beside it that a steady rotation is
    found: at the speed itself rounding alone throws out a rotor whose centrifugal forces are large.

    Raises:
        AnalysisError: there is none.
    """
    before = spinning.state
    for share in _DETUNED:
        try:
            return spectrum(spinning.at(speed * (1.0 + share)), speed * (1.0 + share), 2, near=near)
        except AnalysisError:
            spinning.state = before
    return spectrum(spinning.at(speed), speed, 2, near=near)
