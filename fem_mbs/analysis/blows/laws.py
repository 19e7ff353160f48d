"""Impulses of one blow with friction and restitution: from the speeds before it and the compliance of the contact.

The speeds of the points that touch, v = (v_n, v_t), change by an impulse p = (p_n, p_t) by A p, with the inverse
effective masses A of the whole model, joints included (A = [[m_nn, m_nt], [m_nt, m_tt]] of Pereira & Nikravesh 1993).
Friction limits |p_t| by mu p_n.

newton    v_n+ = -e v_n-.  Sticking (v_t+ = 0) if it needs no more friction than there is; else slip with the whole
          friction in one direction: in the plane against the slip before, in space where it loses most energy.
          M.S. Pereira, P. Nikravesh, NATO ASI Troia 1993, vol. II, 505-526, eqs 38, 42, 54, 55, 61.  Where the slip
          reverses this law may gain energy (Kane 1984).
poisson   The normal impulse grows from zero; friction follows Coulomb's law at every instant, so slip may end, stick
          and reverse within the blow.  The impulse of restitution is e times that of compression (Routh 1905; Wang &
          Mason, J. Appl. Mech. 59 (1992), 635-642).
stronge   Likewise, but restitution gives back e^2 of the work of compression (Stronge, Proc. R. Soc. A 431 (1990),
          169-181).

With a tangential restitution e_t, surfaces that stick rebound tangentially with e_t times the slip before the blow
(R.L. Garwin, Am. J. Phys. 37 (1969), 88-92; R. Cross, Am. J. Phys. 70 (2002), 1093-1102).  With the impulse p_C = -A^-1
v of sticking without restitution

    p = ((1 + e) p_Cn, (1 + e_t) p_Ct), with "newton" p = -A^-1 ((1 + e) v_n, (1 + e_t) v_t)

if |p_t| <= mu_s p_n.  Otherwise the contact slips, with friction in the direction of this p_t.  If the contact would
slip during the whole blow without e_t, then e_t changes nothing.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.late import dataclass

__all__ = ["FRICTIONLESS", "LAWS", "REVERSE", "SLIP", "STICK", "Blow", "ending", "single_blow"]

LAWS = ("poisson", "stronge", "newton")
#: How a blow ends.
FRICTIONLESS, STICK, SLIP, REVERSE = "frictionless", "stick", "slip", "reverse slip"
_TINY = 1e-12  # of speeds over those before the blow
_STILL = 1e-9  # of slip, likewise
_STRAIGHT = 1e-9  # across the slip, over the rate of slip
_ANGLES = 720  # directions of slip that are tried
_PIECES = 50  # of the path of a blow


@dataclass(frozen=True)
class Blow:
    """The law of a blow: its name, the coefficients of restitution ``e``, of sliding friction ``mu`` and of static
    friction ``static`` >= mu, and the coefficient of tangential restitution ``back``."""

    law: str
    e: float
    mu: float
    static: float
    back: float = 0.0


def single_blow(A: np.ndarray, v: np.ndarray, blow: Blow) -> tuple[np.ndarray, str]:
    """Return the impulse (dim,) [N s] of a blow, and how it ends.

    Args:
        A: (dim, dim) changes of speeds by impulses [1/kg], the normal first, then orthonormal tangents.
        v: (dim,) speeds before [m/s], v[0] < 0.

    Raises:
        ValueError: friction lets the blow never end.
    """
    if blow.mu == 0.0 and blow.static == 0.0:
        p = np.zeros(v.size)
        p[0] = -(1.0 + blow.e) * v[0] / A[0, 0]
        return p, FRICTIONLESS
    p, how = _newton(A, v, blow) if blow.law == "newton" else _routh(A, v, blow)
    return (p, how) if blow.back == 0.0 or how == SLIP else _bouncing(A, v, blow)


def ending(before: np.ndarray, after: np.ndarray, reference: float) -> str:
    """Return how a blow with friction ends, from the slip (dim - 1,) before and after it."""
    if np.linalg.norm(after) <= 1e-9 * reference:
        return STICK
    return REVERSE if before @ after < 0.0 else SLIP


def _bouncing(A: np.ndarray, v: np.ndarray, blow: Blow) -> tuple[np.ndarray, str]:
    """Return the impulse (dim,) [N s] with tangential restitution, and how the blow ends (`ending`)."""
    factors = np.full(v.size, 1.0 + blow.back)
    factors[0] = 1.0 + blow.e
    p = -np.linalg.solve(A, factors * v) if blow.law == "newton" else -factors * np.linalg.solve(A, v)
    pull = float(np.linalg.norm(p[1:]))
    if pull > blow.static * p[0]:
        p = _sliding(A, v, blow, p[None, 1:] / pull)[0]
        if not (np.isfinite(p).all() and p[0] >= 0.0):
            raise ValueError("no impulse of sliding")
    return p, ending(v[1:], v[1:] + (A @ p)[1:], float(np.linalg.norm(v)))


# --- Pereira & Nikravesh ---------------------------------------------------------------------------------------------
def _newton(A: np.ndarray, v: np.ndarray, blow: Blow) -> tuple[np.ndarray, str]:
    p = np.linalg.solve(A, -np.concatenate(([(1.0 + blow.e) * v[0]], v[1:])))
    if np.linalg.norm(p[1:]) <= blow.static * p[0]:
        return p, STICK
    if v.size == 2:
        # against the slip before; without any, what sticking would need
        sign = -np.sign(v[1]) if abs(v[1]) > _TINY * abs(v[0]) else np.sign(p[1])
        direction = np.array([sign])
    else:
        direction = _most_lossy(A, v, blow)
    p = _sliding(A, v, blow, direction[None])[0]
    if not (np.isfinite(p).all() and p[0] >= 0.0):
        raise ValueError("no impulse of sliding")
    return p, ending(v[1:], v[1:] + (A @ p)[1:], float(np.linalg.norm(v)))


def _sliding(A: np.ndarray, v: np.ndarray, blow: Blow, directions: np.ndarray) -> np.ndarray:
    """Return impulses (n, dim) of slip with friction along directions (n, dim - 1), eq. 38."""
    along = np.hstack((np.ones((len(directions), 1)), blow.mu * directions))
    return along * (-(1.0 + blow.e) * v[0] / (along @ A[0]))[:, None]


def _most_lossy(A: np.ndarray, v: np.ndarray, blow: Blow) -> np.ndarray:
    """Return the direction (2,) of friction with the largest loss, eq. 61."""

    from scipy.optimize import minimize_scalar

    def loss(angle: np.ndarray) -> np.ndarray:
        p = _sliding(A, v, blow, np.column_stack((np.cos(angle), np.sin(angle))))
        lost = -0.5 * np.einsum("ni,ij,nj->n", p, A, p) - p @ v
        return np.where(p[:, 0] > 0.0, lost, -np.inf)

    step = 2.0 * np.pi / _ANGLES
    angles = step * np.arange(_ANGLES)
    best = float(angles[np.argmax(loss(angles))])
    found = minimize_scalar(
        lambda x: -loss(np.array([x]))[0], bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-12}
    )
    return np.array([np.cos(found.x), np.sin(found.x)])


# --- along the normal impulse ----------------------------------------------------------------------------------------
class _Path:
    """The course of a blow: speeds v (dim,), impulse p (dim,), the work of the normal impulse."""

    def __init__(self, A: np.ndarray, v: np.ndarray, blow: Blow) -> None:
        self.A, self.blow = A, blow
        self.v, self.p, self.work = v.astype(float), np.zeros(v.size), 0.0
        self.size = float(np.linalg.norm(v))
        self.compressed = 0.0  # normal impulse (or work) of compression, when it has ended
        self.restituting = False
        self.done = False

    def friction(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the friction (dim - 1,) per normal impulse, and the direction of slip; None: sticking."""
        slip = np.linalg.norm(self.v[1:])
        if slip > _STILL * self.size:
            s = self.v[1:] / slip
            return -self.blow.mu * s, s
        self.v[1:] = 0.0
        holds = -np.linalg.solve(self.A[1:, 1:], self.A[1:, 0])
        if np.linalg.norm(holds) <= self.blow.static * (1.0 + 1e-12):
            return holds, None
        s = _starting(self.A, self.blow.mu)
        return -self.blow.mu * s, s

    def left(self, rate: float) -> float:
        """Return the normal impulse to the end of the phase at the rate of the normal speed."""
        if not self.restituting:
            return -self.v[0] / rate if rate > 0.0 else np.inf
        if self.blow.law == "poisson":
            return self.blow.e * self.compressed - (self.p[0] - self.compressed)
        # v x + rate x^2/2 = what is still to be given back
        wanted = self.blow.e**2 * self.compressed - self.work
        if wanted <= 0.0:
            return 0.0
        root = self.v[0] ** 2 + 2.0 * rate * wanted
        return 2.0 * wanted / (self.v[0] + np.sqrt(root)) if root > 0.0 else np.inf

    def go(self, x: float, rates: np.ndarray, f: np.ndarray) -> None:
        """Pass the normal impulse x at constant rates of the speeds."""
        self.work += self.v[0] * x + 0.5 * rates[0] * x * x
        self.v = self.v + rates * x
        self.p[0] += x
        self.p[1:] += f * x

    def end_phase(self) -> None:
        """Begin restitution, or end."""
        if self.restituting:
            self.done = True
            return
        self.v[0] = 0.0
        self.restituting = True
        self.compressed = self.p[0] if self.blow.law == "poisson" else -self.work
        self.work = 0.0
        self.done = self.blow.e == 0.0


def _routh(A: np.ndarray, v: np.ndarray, blow: Blow) -> tuple[np.ndarray, str]:
    path = _Path(A, v, blow)
    for _ in range(_PIECES):
        f, s = path.friction()
        rates = A[:, 0] + A[:, 1:] @ f
        straight = s is None or _across(rates[1:], s) <= _STRAIGHT * float(np.linalg.norm(rates[1:]))
        if not straight:
            _bend(path)
        else:
            phase = path.left(float(rates[0]))
            slip = np.inf
            if s is not None and rates[1:] @ s < 0.0:
                slip = float(path.v[1:] @ s) / -float(rates[1:] @ s)
            if not np.isfinite(min(phase, slip)):
                break
            path.go(min(phase, slip), rates, f)
            if slip <= phase:
                path.v[1:] = 0.0
            if phase <= slip:
                path.end_phase()
        if path.done:
            return path.p, ending(v[1:], path.v[1:], path.size)
    raise ValueError("friction lets the blow never end")


def _across(rate: np.ndarray, s: np.ndarray) -> float:
    return float(np.linalg.norm(rate - (rate @ s) * s))


def _starting(A: np.ndarray, mu: float) -> np.ndarray:
    """Return the direction (dim - 1,) in which slip starts from rest: the one that it keeps and in which it grows."""
    from scipy.optimize import brentq

    if A.shape[0] == 2:
        return np.sign(A[1:, 0])

    def rate(angle: float) -> np.ndarray:
        return A[1:, 0] - mu * A[1:, 1:] @ np.array([np.cos(angle), np.sin(angle)])

    def turning(angle: float) -> float:
        r = rate(angle)
        return float(r[1] * np.cos(angle) - r[0] * np.sin(angle))

    angles = np.linspace(0.0, 2.0 * np.pi, _ANGLES + 1)
    values = np.array([turning(a) for a in angles])
    found = []
    for i in np.flatnonzero(values[:-1] * values[1:] <= 0.0):
        a = float(brentq(turning, angles[i], angles[i + 1], xtol=1e-15))
        s = np.array([np.cos(a), np.sin(a)])
        found.append((float(rate(a) @ s), s))
    return max(found, key=lambda item: item[0])[1]


def _bend(path: _Path) -> None:
    """Pass a part of a blow in space in which the direction of slip turns: to the end of the phase or of the slip."""
    from scipy.integrate import solve_ivp

    A, mu = path.A, path.blow.mu

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        s = y[1:3] / np.linalg.norm(y[1:3])
        dv = A[:, 0] - mu * A[:, 1:] @ s
        return np.concatenate((dv, -mu * s, [y[0]]))

    def stopped(_: float, y: np.ndarray) -> float:
        return float(np.linalg.norm(y[1:3])) - 0.5 * _STILL * path.size

    def finished(x: float, y: np.ndarray) -> float:
        if not path.restituting:
            return float(y[0])
        if path.blow.law == "poisson":
            return path.p[0] + x - (1.0 + path.blow.e) * path.compressed
        return float(y[5]) - path.blow.e**2 * path.compressed

    stopped.terminal = True  # type: ignore[attr-defined]
    finished.terminal = True  # type: ignore[attr-defined]
    finished.direction = 1.0  # type: ignore[attr-defined]
    reach = 100.0 * (1.0 + path.blow.e) * path.size / min(np.linalg.eigvalsh(A)[0], A[0, 0])
    start = np.concatenate((path.v, path.p[1:], [path.work]))
    if path.restituting and finished(0.0, start) >= 0.0:
        path.end_phase()
        return
    events, atol = (stopped, finished), 1e-14 * path.size
    out = solve_ivp(rates, (0.0, reach), start, "DOP853", events=events, rtol=1e-12, atol=atol)
    y = out.y[:, -1]
    path.p[0] += out.t[-1]
    path.v, path.p[1:], path.work = y[:3].copy(), y[3:5], float(y[5])
    if out.t_events[0].size:
        path.v[1:] = 0.0
    if out.t_events[1].size:
        path.end_phase()
    elif not out.t_events[0].size:
        raise ValueError("friction lets the blow never end")
