"""The contract that every registered element type keeps: exactness between two states, tangents, limits, frames.

The tests take the types from the registry and only their parameters from `contract_cases`; a new type needs an entry
there and nothing else.  Rotations of the harness are made with numpy, independently of `fem_mbs.elements.kinematics`.

Everyday tests run the kernels as Python functions, with one seed and tangents along some directions: a wrong index is
an error there, and to compile all kernels takes minutes.  Long tests run compiled kernels, with several seeds and all
columns of the tangents.
"""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from contract_cases import CASES, Case

from fem_mbs.contract import (
    COMMIT,
    DECAY,
    DISSIPATED,
    DRIVER_WORK,
    FORCE,
    GX,
    KINETIC,
    LEDGER,
    LOAD_WORK,
    LX,
    LZ,
    N_CTL,
    N_LEDGER,
    ONE_STATE,
    OUTPUT,
    POTENTIAL,
    PX,
    RULE,
    SF,
    SIGNATURE,
    SK,
    START,
    STRAIN,
    STRESSES,
    T0,
    T1,
    TANGENT,
    TM,
    TWO,
    TWO_STATE,
    WA,
    WATCH,
    WV,
    ElementKernel,
    H,
    address,
)
from fem_mbs.elements.registry import ElementType, element_type, element_types
from fem_mbs.model.sensors.kinds import make_sensor
from fem_mbs.solvers.stepping.layout import REC_OUT

GRAVITY = (0.7, -9.81, 2.1)


# --- rotations, independently of the code under test -----------------------------------------------------------------
def tilde(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0.0]])


def cay(theta):
    t = tilde(theta)
    return np.eye(3) + (t + t @ t / 2) / (1 + theta @ theta / 4)


def exp_so3(a):
    """Rotation matrix of the rotation vector a [rad]."""
    angle = np.linalg.norm(a)
    return cay(2 * np.tan(angle / 2) * a / angle) if angle > 0 else np.eye(3)


def turn2(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


_ARRAYS = ("ctl", "par", "dof", "rot", "hist", "fun", "Q", "D", "V", "DD", "U")


# --- a block of elements with its state ------------------------------------------------------------------------------
@dataclass
class State:
    """A block of elements (each with nodes of its own) and the arrays of the contract."""

    type: ElementType
    case: Case
    ctl: np.ndarray
    par: np.ndarray
    dof: np.ndarray
    rot: np.ndarray
    hist: np.ndarray
    fun: np.ndarray
    Q: np.ndarray
    D: np.ndarray
    V: np.ndarray
    DD: np.ndarray
    U: np.ndarray
    python: bool = False  # whether kernels run as Python functions

    def __post_init__(self):
        t = self.type
        self.n = len(self.par)
        self.dim = t.dimension
        states = t.scalars if t.states else 0
        self.nodes = np.arange(t.node_dofs - states)  # local indices
        self.states = np.arange(t.node_dofs - states, t.node_dofs)
        self.multipliers = np.arange(t.node_dofs, t.local_dofs)

    def only(self, e) -> State:
        """One element of the block, with rows of its own alone."""
        rows = {name: getattr(self, name)[e : e + 1].copy() for name in ("par", "dof", "rot", "hist")}
        return replace(self.copy(), **rows)

    def copy(self) -> State:
        made = copy.copy(self)
        for name in _ARRAYS:
            setattr(made, name, getattr(self, name).copy())
        return made

    def ends(self):
        """(x dofs, rotation dofs, row of D) of every end of every element."""
        t = self.type
        for e in range(self.n):
            for k in range(t.ends):
                d = self.dof[e, k * t.end_dofs : (k + 1) * t.end_dofs]
                yield d[: self.dim], d[self.dim :], self.rot[e, k]

    def scalars(self):
        """Dofs (n, scalars) of coordinates that belong to no node."""
        return self.dof[:, self.type.node_dofs - self.type.scalars : self.type.node_dofs]

    # --- moving ---
    def advance(self, U):
        """Two-state: state 1 and its velocities from state 0 by the mid-point rule."""
        h = self.ctl[H]
        self.U[:] = U
        self.Q[1] = self.Q[0] + U
        self.V[1] = 2 * U / h - self.V[0]
        self.D[1], self.DD[1] = self.D[0], self.DD[0]
        for _, r, n in self.ends():
            if len(r) == 1:
                angle = 2 * np.arctan(U[r[0]] / 2)
                self.Q[1, r] = self.Q[0, r] + angle
                self.D[1, n] = turn2(angle) @ self.D[0, n]
            elif len(r) == 3:
                R0 = self.D[0, n].reshape(3, 3)
                self.Q[1, r] = self.Q[0, r]
                self.D[1, n] = (cay(U[r]) @ R0).ravel()
                self.V[1, r] = 2 * R0.T @ U[r] / h - self.V[0, r]
            self.DD[1, n] = 2 * (self.D[1, n] - self.D[0, n]) / h - self.DD[0, n]
        return self

    def spin_directors(self, row):
        """DD = w x d at a state."""
        for _, r, n in self.ends():
            if len(r) == 1:
                c, s = self.D[row, n]
                self.DD[row, n] = self.V[row, r[0]] * np.array([-s, c])
            elif len(r) == 3:
                R = self.D[row, n].reshape(3, 3)
                self.DD[row, n] = (R @ tilde(self.V[row, r])).ravel()

    def one_state(self, row=1, rule_h=0.05):
        """The state of that row alone, as a Newmark step with the size rule_h sees it; None: statics."""
        s = self.copy()
        s.Q[:], s.D[:], s.V[0], s.V[1] = self.Q[row], self.D[row], self.V[row], self.V[row]
        mult = self.dof[:, self.multipliers]
        s.U[:] = 0
        s.U[mult] = self.U[mult]
        s.fun[:] = self.fun[:, [T1 if row else T0]]
        s.ctl[RULE], s.ctl[TWO] = ONE_STATE, 2
        if rule_h is None:
            s.ctl[SF], s.ctl[WV], s.ctl[WA] = 1, 0, 0
            s.V[:] = 0
        else:
            s.ctl[SF], s.ctl[WV], s.ctl[WA] = rule_h**2 / 2, 2 / rule_h, 4 / rule_h**2
        s.ctl[SK] = 2 * s.ctl[SF]
        if self.type.reads:
            s.Q[:, mult] = s.U[mult] / s.ctl[SF]  # what is read of a step's ends is what forces see
        s.spin_directors(0)
        s.spin_directors(1)
        return s

    def moved(self, dU, rows=(0, 1)):
        """One-state: moved on the group by dU, velocities and accelerations following the rule."""
        s = self.copy()
        rows = list(rows)
        mult = self.dof[:, self.multipliers]
        s.U[mult] += dU[mult]
        step = dU.copy()
        step[mult] = 0
        for k in self.scalars().ravel():
            s.Q[rows, k] += step[k]
        for x, r, n in self.ends():
            if step[x].any():
                s.Q[rows, x[:, None]] += step[x][:, None]
            if not step[r].any():  # (differences move one unknown)
                s.D[rows, n] = self.D[1, n]
            elif len(r) == 1:
                angle = 2 * np.arctan(step[r[0]] / 2)
                s.Q[rows, r[0]] += angle
                s.D[rows, n] = turn2(angle) @ self.D[1, n]
            elif len(r) == 3:
                R = self.D[1, n].reshape(3, 3)
                s.D[rows, n] = (cay(step[r]) @ R).ravel()
                step[r] = R.T @ step[r]
        s.V[1] += self.ctl[WV] * step
        s.V[2] += self.ctl[WA] * step
        s.spin_directors(1)
        return s

    # --- asking ---
    def force(self, job=FORCE, e0=0, e1=None):
        e1 = self.n if e1 is None else e1
        n = self.type.local_dofs
        fe = np.full((e1 - e0, n), np.nan)
        ke = np.full((e1 - e0, n, n), np.nan) if job == TANGENT else np.empty((0, 0, 0))
        self._call(self.type.force, job, e0, e1, fe, ke)
        return (fe, ke) if job == TANGENT else fe

    def report(self, job, e0=0, e1=None):
        e1 = self.n if e1 is None else e1
        width = N_LEDGER if job == LEDGER else max(1, len(self.type.outputs))
        fe = np.zeros((e1 - e0, width))
        self._call(self.type.report, job, e0, e1, fe, np.empty((0, 0, 0)))
        return fe

    def _call(self, kernel, job, e0, e1, fe, ke):
        s = self
        kernel = getattr(kernel, "py_func", kernel) if s.python else kernel
        with np.errstate(divide="ignore", invalid="ignore"):  # as in compiled code
            kernel(job, e0, e1, s.ctl, s.par, s.dof, s.rot, s.hist, s.fun, s.Q, s.D, s.V, s.DD, s.U, fe, ke)

    def start(self):
        """Fills hist from state 0."""
        s = self.at_start()
        s.report(START)
        self.hist[:] = s.hist
        return self

    def at_start(self):
        """State 0 in both rows, as a step of no movement."""
        s = self.copy()
        s.Q[1], s.D[1], s.V[1], s.DD[1] = s.Q[0], s.D[0], s.V[0], s.DD[0]
        mult = self.dof[:, self.multipliers]
        s.U[:] = 0
        s.U[mult] = self.U[mult]
        s.fun[:] = self.fun[:, [T0]]
        return s


def make_state(type_name, case, rng, n=1, h=0.3, turn=150.0, python=False) -> State:
    """Two random states of n elements, ends turned by up to `turn` degrees, with all velocities (mid-point rule)."""
    t = element_type(type_name)
    dim = t.dimension
    turn = np.radians(turn)
    n_nodes = n * t.ends
    extra = t.multipliers + t.reads
    N = n * (t.node_dofs + extra) + 1
    nr = n_nodes + 1
    dof = np.empty((n, t.local_dofs), np.int32)
    rot = np.full((n, t.ends), nr - 1, np.int32)
    for e in range(n):
        dof[e, : t.node_dofs] = np.arange(e * t.node_dofs, (e + 1) * t.node_dofs)
        dof[e, t.node_dofs :] = n * t.node_dofs + e * extra + np.arange(extra)
        if t.rotational:
            rot[e] = np.arange(e * t.ends, (e + 1) * t.ends)
    ctl = np.zeros(N_CTL)
    ctl[H], ctl[SF], ctl[SK], ctl[RULE], ctl[TWO] = h, h * h / 2, h * h / 2, TWO_STATE, 1
    ctl[GX : GX + dim] = GRAVITY[:dim]
    identity = np.array([1.0, 0.0]) if dim == 2 else np.eye(3).ravel()
    s = State(
        type=t,
        case=case,
        ctl=ctl,
        par=np.array([case.par(rng) for _ in range(n)], float),
        dof=dof,
        rot=rot,
        hist=np.zeros((n, t.hist)),
        fun=rng.uniform(0.5, 1.5, size=(1, 3)),
        Q=np.zeros((2, N)),
        D=np.tile(identity, (2, nr, 1)),
        V=np.zeros((3, N)),
        DD=np.zeros((2, nr, len(identity))),
        U=np.zeros(N),
        python=python,
    )
    assert s.par.shape[1] == len(t.par) or (t.tables and s.par.shape[1] > len(t.par)), (
        f"{type_name}: contract_cases must give {len(t.par)} parameters"
    )
    U = np.zeros(N)
    ends = list(s.ends())
    for e in range(n):
        mine = ends[e * t.ends : (e + 1) * t.ends]
        if case.reference is None:
            for x, r, k in mine:
                s.Q[0, x], U[x] = rng.normal(size=dim), rng.normal(size=dim)
                if len(r) == 1:
                    s.Q[0, r] = rng.uniform(-4, 4)
                    U[r] = 2 * np.tan(rng.uniform(-turn, turn) / 2)
                elif len(r) == 3:
                    s.D[0, k] = random_rotation(rng).ravel()
                    U[r] = 2 * np.tan(rng.uniform(-turn, turn) / 2) * unit(rng)
                if len(r) == 1:
                    s.D[0, k] = np.cos(s.Q[0, r[0]]), np.sin(s.Q[0, r[0]])
        else:
            deformed_states(s, U, mine, case, rng, turn)
    s.Q[0, s.scalars()], U[s.scalars()] = rng.normal(size=(2, n, t.scalars))
    s.V[0, :-1] = rng.normal(size=N - 1)
    s.V[2, :-1] = rng.normal(size=N - 1)
    U[dof[:, t.node_dofs :]] = rng.normal(size=(n, extra))
    s.spin_directors(0)
    s.DD[0, :-1] += 0.1 * rng.normal(size=s.DD[0, :-1].shape)  # director velocities are free: d.d' may drift
    mult = dof[:, t.node_dofs :]
    s.Q[0, mult] = rng.normal(size=mult.shape)
    if case.vector_multipliers:
        close(s, U)
    s.advance(U)
    s.Q[1, mult] = U[mult] / ctl[SF]
    s.start()
    if case.memory is not None:
        turns = 1 if t.ends == 2 else 0
        s.hist[:, turns:] = case.memory(rng, s.hist[:, turns:].size).reshape(n, -1)
    if t.states:
        settle(s)
    return s


def settle(s):
    """Let the state variables fulfil the equations of the step, as the energy balance needs."""
    for _ in range(30):
        fe, ke = s.force(TANGENT)
        rows, x = fe[:, s.states], s.dof[:, s.states]
        if np.abs(rows).max() <= 1e-15 * max(1.0, np.abs(s.Q[:, x]).max()):
            return
        U = s.U.copy()
        U[x] -= np.linalg.solve(ke[:, s.states[:, None], s.states], rows[..., None])[..., 0]
        s.advance(U)


def close(s, U):
    """Shifts the last end of each element, at both states, so that the joint is closed (rows: scale times distance)."""
    n = s.type.ends - 1
    last = s.dof[:, n * s.type.end_dofs : n * s.type.end_dofs + s.dim]
    scale = s.par[:, [s.type.scale]]
    s.U[:] = U
    s.Q[0, last] -= s.at_start().force()[:, s.multipliers] / scale
    U[last] -= s.advance(U).force()[:, s.multipliers] / scale


def unit(rng, dim=3):
    a = rng.normal(size=dim)
    return a / np.linalg.norm(a)


def random_rotation(rng):
    return exp_so3(rng.uniform(0, np.pi) * unit(rng))


def deformed_states(s, U, ends, case, rng, turn):
    """State 0 and the step of one element whose states are rigid motions of the reference plus a deformation."""
    X = np.array(case.reference, float)
    size = np.ptp(X, axis=0).max()
    turn -= case.deformation
    base = rng.normal(size=(2, s.dim))
    if s.dim == 2:
        a0 = rng.uniform(-4, 4)
        a1 = a0 + rng.uniform(-turn, turn)
        S = [turn2(a0), turn2(a1)]
    else:
        S0 = random_rotation(rng)
        S = [S0, exp_so3(rng.uniform(-turn, turn) * unit(rng)) @ S0]
    for (x, r, k), Xk in zip(ends, X, strict=True):
        x0, x1 = (base[i] + S[i] @ (Xk + case.deformation * size * rng.uniform(-0.5, 0.5, s.dim)) for i in range(2))
        s.Q[0, x], U[x] = x0, x1 - x0
        if len(r) == 1:
            b0, b1 = (a + case.deformation * rng.uniform(-0.5, 0.5) for a in (a0, a1))
            s.Q[0, r], U[r] = b0, 2 * np.tan((b1 - b0) / 2)
            s.D[0, k] = np.cos(b0), np.sin(b0)
        elif len(r) == 3:
            R0, R1 = (S[i] @ exp_so3(case.deformation * rng.uniform(0, 0.5) * unit(rng)) for i in range(2))
            R = R1 @ R0.T
            U[r] = 2 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (1 + np.trace(R))
            s.D[0, k] = R0.ravel()


# --- collection ------------------------------------------------------------------------------------------------------
#: Continua of all cells share one piece of code: in everyday tests these cells stand for the others, but for those of
#: the force and its tangent.
_CONTINUA = ("solid_", "plane_", "axisymmetric_", "pressure_", "traction_")
_STAND_IN = ("tetra10", "quad8_reduced", "incompatible")


def stands(name):
    return not name.startswith(_CONTINUA) or any(cell in name for cell in _STAND_IN)


@dataclass(frozen=True)
class Subject:
    """A case of a registered type, and how its kernels run.

    Attributes:
        place: of the type in the registry; `tests/conftest.py` sorts the tests by it, and so compilation.
        python: whether kernels run as Python functions, else compiled.
    """

    place: int
    name: str
    case: Case
    python: bool

    @property
    def type(self) -> ElementType:
        return element_type(self.name)

    def state(self, rng, **options) -> State:
        """Return two random states, see `make_state`."""
        return make_state(self.name, self.case, rng, python=self.python, **options)


def collect():
    """Yield all cases with their names: kernels as Python functions, and compiled."""
    for place, name in enumerate(element_types()):
        entry = CASES.get(name, {})  # a missing one fails in test_contract_table_is_complete
        variants = entry if isinstance(entry, dict) else {"": entry}
        for variant, case in variants.items():
            for python in (True, False):
                words = (name, variant, "python" if python else "compiled")
                yield "-".join(filter(None, words)), Subject(place, name, case, python)


SUBJECTS = dict(collect())


def subjects(needs=lambda subject: True, everyday=stands):
    """Run a check for the cases that it is about; with compiled kernels and for some types it is long.

    Args:
        needs: returns whether the check is about a case.
        everyday: returns whether everyday tests run it for a type.
    """
    params = [
        pytest.param(subject, id=name, marks=() if subject.python and everyday(subject.name) else pytest.mark.long)
        for name, subject in SUBJECTS.items()
        if needs(subject)
    ]
    return pytest.mark.parametrize("subject", params)


def seeds(n=4):
    """Run a check of Python functions with seed 0, of compiled ones with n seeds; the traceback shows which fails."""

    def many(check):
        @functools.wraps(check)
        def test(subject):
            for seed in range(1 if subject.python else n):
                check(subject, seed)

        del test.__wrapped__  # pytest reads the arguments of what it wraps
        return test

    return many


def small(value, scale, tolerance):
    """|value| <= tolerance * scale, elementwise."""
    worst = np.max(np.abs(value), initial=0.0)
    assert worst <= tolerance * scale, f"{worst:.3g} > {tolerance:g} * {scale:.3g}"


def test_contract_table_is_complete():
    """Every registered type is tested."""
    assert set(CASES) == set(element_types())


# --- exactness between two states ------------------------------------------------------------------------------------
def test_contract_names_of_kernels_are_their_own():
    """Kernels that a factory makes for several types would share symbols of machine code under one name."""
    seen = {}
    for name in element_types():
        t = element_type(name)
        for kernel in (t.force, t.report):
            function = getattr(kernel, "py_func", kernel)
            key = function.__module__, function.__qualname__
            assert seen.setdefault(key, function) is function, f"{name}: {key} names two kernels"


@subjects(lambda s: s.type.watched)
def test_contract_watched_quantities(subject):
    """The job WATCH writes one finite value per watch, of the end of the step alone, and nothing else."""
    s = subject.state(np.random.default_rng(0), n=2)
    width = s.type.watched
    found = []
    for at in (s, s.copy()):
        if found:
            at.Q[0], at.D[0] = at.Q[1], at.D[1]
        fe = np.zeros((2, width + 1))
        fe[:, width] = 7.0
        at._call(s.type.report, WATCH, 0, 2, fe, np.empty((0, 0, 0)))
        assert np.isfinite(fe).all() and (fe[:, width] == 7.0).all()
        found.append(fe)
    assert np.array_equal(*found)


@subjects()
@seeds()
def test_contract_work(subject, seed):
    """Work of the forces over a step = change of energy + dissipation - work of loads and drivers, to round-off."""
    s = subject.state(np.random.default_rng(seed))
    fe = s.force()[0]
    U = s.U[s.dof[0]]
    m = s.multipliers
    start = s.at_start()
    before, after = start.report(LEDGER)[0], s.report(LEDGER)[0]
    work = fe[s.nodes] @ U[s.nodes] / s.ctl[SF]
    # states that do not satisfy the constraints: the multipliers work on what they change
    constraint = U[m] @ (fe[m] - start.force()[0][m]) / s.ctl[SF]
    energy = after[[KINETIC, STRAIN, POTENTIAL]] - before[[KINETIC, STRAIN, POTENTIAL]]
    booked = after[DISSIPATED] - after[LOAD_WORK] - after[DRIVER_WORK]
    scale = np.abs(fe[s.nodes] * U[s.nodes]).sum() / s.ctl[SF] + np.abs(after[: POTENTIAL + 1]).max()
    small(work - energy.sum() - booked - constraint, scale, 1e-12)
    if not s.case.running:
        assert np.all(before[[DISSIPATED, LOAD_WORK, DRIVER_WORK]] == 0)


@subjects()
@seeds()
def test_contract_decay(subject, seed):
    """The damping that a decaying rule asks for acts in every elastic element: booked, never gaining, tangent exact."""
    s = subject.state(np.random.default_rng(seed), turn=120)
    plain, fe0 = s.report(LEDGER)[0], s.force()[0]
    start = s.at_start()
    # (with all six strains fixed there is no stiffness left, only initial stresses)
    elastic = not s.type.states and plain[STRAIN] != start.report(LEDGER)[0, STRAIN] and s.type.multipliers < 6
    # (nor is there a force in a contact that parts so fast that its damper would pull)
    elastic = elastic and not ("contact" in s.type.name and not fe0[s.nodes].any())
    s.ctl[DECAY] = 0.3 * s.ctl[H]
    fe, ke = (a[0] for a in s.force(TANGENT))
    loss = s.report(LEDGER)[0, DISSIPATED] - plain[DISSIPATED]
    scale = np.abs(fe[s.nodes] * s.U[s.dof[0, s.nodes]]).sum() / s.ctl[SF] + np.abs(plain[: POTENTIAL + 1]).max()
    small((fe - fe0)[s.nodes] @ s.U[s.dof[0, s.nodes]] / s.ctl[SF] - loss, scale, 1e-12)
    assert loss >= 0.0
    assert not elastic or loss > 0.0, "the rule's damping is missing"
    U = s.U.copy()
    compare_blocks(ke, differences(lambda d: s.copy().advance(U + d).force()[0], s), s, 1e-7)


@subjects(lambda s: s.case.isolated)
@seeds()
def test_contract_momentum(subject, seed):
    """The rows add up to the change of linear momentum, their moments (mid-positions) to that of angular momentum."""
    s = subject.state(np.random.default_rng(seed))
    s.ctl[GX : GX + 3] = 0
    fe = s.force()[0]
    change = (s.report(LEDGER) - s.at_start().report(LEDGER))[0] * s.ctl[SF] / s.ctl[H]
    force, moment, arms = np.zeros(3), np.zeros(3), 1.0
    for k, (x, r, _) in enumerate(s.ends()):
        f = np.zeros(3)
        xm = np.zeros(3)
        local = fe[k * s.type.end_dofs : (k + 1) * s.type.end_dofs]
        f[: s.dim] = local[: s.dim]
        xm[: s.dim] = s.Q[:, x].mean(axis=0)
        force += f
        moment += np.cross(xm, f)
        if len(r):
            moment[-len(r) :] += local[s.dim :]
        arms = max(arms, np.abs(xm).max())
    scale = np.abs(fe[s.nodes]).sum() * arms
    small(force - change[PX : PX + 3], scale, 1e-13)
    small(moment - change[LX : LX + 3], scale, 1e-13)


@subjects(lambda s: s.case.isolated)
@seeds(2)
def test_contract_rigid_step(subject, seed):
    """A rigid motion over the step dissipates nothing and leaves the strain energy."""
    rng = np.random.default_rng(seed)
    s = subject.state(rng)
    angle, axis, shift = np.radians(140), unit(rng), rng.normal(size=s.dim)
    S = turn2(angle) if s.dim == 2 else exp_so3(angle * axis)
    U = s.U.copy()
    for x, r, _ in s.ends():
        U[x] = S @ s.Q[0, x] + shift - s.Q[0, x]
        U[r] = 2 * np.tan(angle / 2) * (axis if len(r) == 3 else 1.0)
    U[s.scalars()] = 0.0
    s.fun[:] = s.fun[:, [T0]]
    s.advance(U)
    before, after = s.at_start().report(LEDGER)[0], s.report(LEDGER)[0]
    scale = 1 + before[STRAIN]
    small(after[STRAIN] - before[STRAIN], scale, 1e-12)
    if not s.case.running:
        small(after[[DISSIPATED, LOAD_WORK, DRIVER_WORK]], scale, 1e-12)
    if not s.type.inertia:
        # a force field of constant strain turns with the body half-way: with no work on a rigid motion
        fe = s.force()[0]
        small(fe[s.nodes] @ U[s.dof[0, s.nodes]], np.abs(fe[s.nodes] * U[s.dof[0, s.nodes]]).sum(), 1e-12)


@subjects(lambda s: s.case.isolated)
@seeds(2)
def test_contract_frame(subject, seed):
    """Seen in a turned and shifted frame: the same energies, turned forces."""
    rng = np.random.default_rng(seed)
    s = subject.state(rng)
    s.ctl[GX : GX + 3] = 0
    t = s.copy()
    angle, shift = 2.5, rng.normal(size=s.dim)
    S = turn2(angle) if s.dim == 2 else exp_so3(angle * unit(rng))
    fe = s.force()[0]
    turned = fe.copy()
    if s.case.vector_multipliers:
        mult = s.dof[0, s.multipliers]
        t.U[mult] = S @ s.U[mult]
        turned[s.multipliers] = S @ fe[s.multipliers]
    for k, (x, r, n) in enumerate(s.ends()):
        j = k * s.type.end_dofs
        t.Q[:, x] = s.Q[:, x] @ S.T + shift
        t.V[:2, x] = s.V[:2, x] @ S.T
        t.U[x] = S @ s.U[x]
        turned[j : j + s.dim] = S @ fe[j : j + s.dim]
        if len(r) == 1:
            t.Q[:, r] = s.Q[:, r] + angle
            t.D[:, n], t.DD[:, n] = s.D[:, n] @ S.T, s.DD[:, n] @ S.T
        elif len(r) == 3:
            t.U[r] = S @ s.U[r]
            turned[j + 3 : j + 6] = S @ fe[j + 3 : j + 6]
            for row in range(2):
                t.D[row, n] = (S @ s.D[row, n].reshape(3, 3)).ravel()
                t.DD[row, n] = (S @ s.DD[row, n].reshape(3, 3)).ravel()
    t.start()
    # (rows of state variables are zero but for the round-off of numbers of the order 1)
    small(t.force()[0] - turned, max(np.abs(fe).max(), float(s.type.states)), 1e-12)
    energies = slice(KINETIC, DRIVER_WORK + 1)
    a, b = s.report(LEDGER)[0, energies], t.report(LEDGER)[0, energies]
    small(a - b, 1 + np.abs(a).max(), 1e-12)


# --- tangents --------------------------------------------------------------------------------------------------------
def directions(s):
    """Directions (unknowns, k) of element 0, and their numbers k for each kind of unknowns: those of nodes, state
    variables and multipliers.  They are all unknowns, or of kernels that run as Python functions one of each kind."""
    kinds = (s.nodes, s.states, s.multipliers)
    if not s.python:
        return np.eye(s.dof.shape[1]), kinds
    rng = np.random.default_rng(0)
    made = np.zeros((s.dof.shape[1], len(kinds)))
    for column, some in zip(made.T, kinds, strict=True):
        column[some] = rng.uniform(0.3, 1.0, len(some)) * rng.choice((-1.0, 1.0), len(some)) / max(len(some), 1) ** 0.5
    return made, [[k] for k in range(len(kinds))]


def differences(function, s, step=1e-3):
    """Derivative of function(increment of U) by central differences of order 6, along the directions of element 0."""
    columns = []
    for direction in directions(s)[0].T:
        total = 0
        for k, w in ((1, 45), (2, -9), (3, 1)):
            d = np.zeros_like(s.U)
            d[s.dof[0]] = k * step * direction
            total = total + w * (function(d) - function(-d))
        columns.append(total / (60 * step))
    return np.stack(columns, axis=-1)


def compare_blocks(ke, reference, s, tolerance):
    """Each block (node-node, node-multiplier, ...) against its own size."""
    along, kinds = directions(s)
    along = ke @ along
    for rows in (s.nodes, s.states, s.multipliers):
        for columns in kinds:
            a, b = along[np.ix_(rows, columns)], reference[np.ix_(rows, columns)]
            small(a - b, max(np.abs(b).max(initial=0.0), 1e-4 * np.abs(ke).max()), tolerance)


@pytest.mark.everyday
@subjects(everyday=lambda name: True)
@seeds()
def test_contract_tangent_two_state(subject, seed):
    """ke = d fe/d U between two states."""
    s = subject.state(np.random.default_rng(seed), turn=120)
    U = s.U.copy()
    fe, ke = (a[0] for a in s.force(TANGENT))
    assert np.array_equal(fe, s.force(FORCE)[0])
    compare_blocks(ke, differences(lambda d: s.copy().advance(U + d).force()[0], s), s, 1e-7)


@subjects()
@seeds()
def test_contract_tangent_one_state(subject, seed):
    """ke of a one-state rule: differences on the group, velocities and accelerations following the unknowns."""
    s = subject.state(np.random.default_rng(seed)).one_state()
    fe, ke = (a[0] for a in s.force(TANGENT))
    assert np.array_equal(fe, s.force(FORCE)[0])
    tolerance = 1e-7 if s.case.rate_tangent else 0.3
    compare_blocks(ke, differences(lambda d: s.moved(d).force()[0], s), s, tolerance)


@pytest.mark.everyday
@subjects(everyday=lambda name: True)
@seeds(2)
def test_contract_statics(subject, seed):
    """At rest f = d(energy - work of loads + multipliers . constraints)/dq, and the tangent is a second
    derivative."""
    s = subject.state(np.random.default_rng(seed)).one_state(rule_h=None)
    fe, ke = (a[0] for a in s.force(TANGENT))
    Lambda = s.U[s.dof[0, s.multipliers]]

    def potential(d):
        ledger = s.moved(d, rows=(1,)).report(LEDGER)[0]
        held = Lambda @ s.moved(d).force()[0][s.multipliers] if len(Lambda) else 0.0
        return ledger[STRAIN] + ledger[POTENTIAL] - ledger[LOAD_WORK] + held

    scale = np.abs(fe).max() + np.abs(ke).max()
    if not s.case.path:  # (their work is that of the mean force of the path, whose derivative is another force)
        along, kinds = directions(s)
        small((differences(potential, s) - fe @ along)[kinds[0]], scale, 1e-8)
    # the constraint rows and the columns of the multipliers are the same gradient
    if not s.type.reads:
        small(ke[np.ix_(s.multipliers, s.nodes)] - ke[np.ix_(s.nodes, s.multipliers)].T, np.abs(ke).max(), 1e-13)
    if s.case.potential:
        # on the rotation group a second derivative has the skew part -f~ (order of two turns)
        K = ke[np.ix_(s.nodes, s.nodes)].copy()
        for k in range(s.type.ends):
            if s.type.rotational and s.dim == 3:
                j = slice(k * s.type.end_dofs + 3, k * s.type.end_dofs + 6)
                K[j, j] += tilde(fe[j]) / 2
        small(K - K.T, np.abs(ke).max(), 1e-13)


@subjects(lambda s: not s.type.inertia)
# --- limits ----------------------------------------------------------------------------------------------------------
@seeds(2)
def test_contract_vanishing_step(subject, seed):
    """Between two states 1e-9 apart the force is that of one state to 1e-7: no quotient cancels.

    Inertia, 2 (dx - h v)/h^2, needs a step: see test_contract_short_step.
    """
    rng = np.random.default_rng(seed)
    s = subject.state(rng, h=1e-9)
    U = 1e-9 * rng.normal(size=len(s.U))
    U[-1] = 0
    mult = s.dof[:, s.multipliers]
    U[mult] = s.U[mult]
    s.fun[:] = s.fun[:, [T0]]
    s.V[0] = 0
    s.advance(U)
    s.V[1] /= 2  # the rate of the step
    one = s.one_state(rule_h=1e-9)
    fe, ref = s.force()[0], one.force()[0]
    small(fe[s.nodes] - ref[s.nodes], np.abs(ref[s.nodes]).max(), 1e-7)
    out, ref = s.report(OUTPUT)[0], one.report(OUTPUT)[0]
    small(out - ref, np.abs(ref).max(initial=1e-300), 1e-7)


@subjects()
@seeds(2)
def test_contract_short_step(subject, seed):
    """A step of 1 ms is the one-state force at its middle but for O(h^2), also of inertia; works likewise."""
    rng = np.random.default_rng(seed)
    h = 1e-3
    s = subject.state(rng, h=h)
    mult = s.dof[:, s.multipliers]
    s.fun[:] = s.fun[0, T0] + np.array([0, h / 2, h]) * 3
    s.spin_directors(0)
    if s.type.inertia:
        s.start()  # (what it remembers of velocities is that of spinning directors)
    U = h * s.V[0] + h * h / 2 * s.V[2]
    for _, r, n in s.ends():
        if len(r) == 3:
            U[r] = s.D[0, n].reshape(3, 3) @ U[r]
    U[mult] = s.U[mult]
    s.advance(U)
    s.Q[0, mult] = s.Q[1, mult] = U[mult] / s.ctl[SF]
    half = s.copy()
    half.ctl[H] = h / 2
    half.advance(np.where(np.isin(np.arange(len(U)), mult), U, U / 2))
    mid = half.one_state(rule_h=h)
    mid.fun[:] = s.fun[:, [TM]]
    mid.V[1], mid.V[2] = (s.V[0] + s.V[1]) / 2, (s.V[1] - s.V[0]) / h
    fe, ref = s.force()[0] / s.ctl[SF], mid.force()[0] / s.ctl[SF]
    small(fe[s.nodes] - ref[s.nodes], np.abs(ref[s.nodes]).max(), s.case.short_step)

    # one-state rules book the works by the trapezoidal rule, from both states
    end = s.copy()
    end.ctl[RULE], end.ctl[WV] = ONE_STATE, 2 / h
    works = slice(DISSIPATED, DRIVER_WORK + 1)
    a, b = s.report(LEDGER)[0, works], end.report(LEDGER)[0, works]
    small(a - b, np.abs(a).max(initial=0.0), 1e-4)
    a, b = s.report(OUTPUT)[0], end.report(OUTPUT)[0]
    small(a - b, np.abs(a).max(initial=0.0), 5e-2)


@subjects(lambda s: s.type.inertia and s.case.rigid)
# --- inertia ---------------------------------------------------------------------------------------------------------
@seeds(2)
def test_contract_rigid_velocity(subject, seed):
    """In rigid motion T = (v.P + w.L)/2, and P, L follow from mass, centre and inertia tensor (symmetric, positive).

    Masses that depend on the direction have no centre.
    """
    rng = np.random.default_rng(seed)
    s = subject.state(rng)

    def ledger(v, w):
        t = s.copy()
        for x, r, n in s.ends():
            position = np.zeros(3)
            position[: s.dim] = s.Q[1, x]
            t.V[1, x] = (v + np.cross(w, position))[: s.dim]
            if len(r) == 1:
                t.V[1, r] = w[2]
            elif len(r) == 3:
                t.V[1, r] = s.D[1, n].reshape(3, 3).T @ w
        t.spin_directors(1)
        return t.report(LEDGER)[0]

    v, w = rng.normal(size=3), rng.normal(size=3)
    if s.dim == 2:
        v[2] = w[0] = w[1] = 0
    row = ledger(v, w)
    P, L = row[PX : PX + 3], row[LX : LX + 3]
    small(row[KINETIC] - (v @ P + w @ L) / 2, row[KINETIC], 1e-13)
    # 6x6 matrix of rigid inertia: mass times identity in the corner, symmetric, positive
    axes = [0, 1, 5] if s.dim == 2 else range(6)
    I6 = np.array([ledger(e[:3], e[3:])[PX : LZ + 1] for e in np.eye(6)])[np.ix_(axes, axes)]
    small(I6 - I6.T, np.abs(I6).max(), 1e-13)
    assert np.linalg.eigvalsh(I6)[0] > -1e-13 * np.abs(I6).max()
    small(I6[: s.dim, : s.dim] - I6[0, 0] * np.eye(s.dim), I6[0, 0], 1e-13)
    assert I6[0, 0] == pytest.approx(s.par[0, s.type.column("mass")], rel=1e-13)
    # gravity's potential belongs to the same mass and centre: dV = -m g . shift
    t = s.copy()
    shift = rng.normal(size=s.dim)
    for x, _, _ in s.ends():
        t.Q[1, x] += shift
    change = t.report(LEDGER)[0, POTENTIAL] - s.report(LEDGER)[0, POTENTIAL]
    assert change == pytest.approx(-I6[0, 0] * shift @ GRAVITY[: s.dim], rel=1e-12)


@subjects()
# --- bookkeeping -----------------------------------------------------------------------------------------------------
def test_contract_block(subject):
    """A part of a block is what the whole block has there; every entry is written."""
    n = 2 if subject.python else 4
    s = subject.state(np.random.default_rng(7), n=n)
    fe, ke = s.force(TANGENT)
    assert np.isfinite(fe).all()
    assert np.isfinite(ke).all()
    last = max(n - 1, 2)
    part = s.force(TANGENT, 1, last)
    assert np.array_equal(part[0], fe[1:last])
    assert np.array_equal(part[1], ke[1:last])
    one = s.one_state()
    assert all(np.isfinite(a).all() for a in one.force(TANGENT))
    for state in (s, one):
        for job in (LEDGER, OUTPUT):
            whole = state.report(job)
            assert np.isfinite(whole).all()
            assert np.array_equal(state.report(job, 1, last), whole[1:last])


@subjects()
def test_contract_elements_of_a_block_differ(subject):
    """An element reads its own parameters, nodes and history: it gives in a block of others what it gives alone."""
    rng = np.random.default_rng(9)
    n = 2 if subject.python else 3
    s = subject.state(rng, n=n)
    s.fun = rng.uniform(0.5, 1.5, size=(n, 3))
    if "function" in s.type.par:  # each has a time function of its own
        column = s.par[:, s.type.par.index("function")]
        column[column == 0] = np.flatnonzero(column == 0)
    for state in (s, s.one_state()):
        fe, ke = state.force(TANGENT)
        reports = {job: state.report(job) for job in (LEDGER, OUTPUT)}
        for e in range(state.n):
            alone = state.only(e)
            a, b = alone.force(TANGENT)
            assert np.array_equal(a[0], fe[e], equal_nan=True)
            assert np.array_equal(b[0], ke[e], equal_nan=True)
            for job, rows in reports.items():
                assert np.array_equal(alone.report(job)[0], rows[e], equal_nan=True)


@subjects(lambda s: s.python and any(f".{kind}." in s.type.force.__module__ for kind in ("shells", "solids", "beams")))
def test_contract_stresses_of_two_state_rules_do_not_look_at_velocities(subject):
    """Strain rates of damping are differences of strains over the step."""
    rng = np.random.default_rng(9)
    s = subject.state(rng)
    found = s.report(OUTPUT)
    s.V += rng.normal(size=s.V.shape)
    assert np.array_equal(s.report(OUTPUT), found)


def is_first(subject):
    """Return whether this is the first case of its type, with kernels as Python functions."""
    first = next(other for other in SUBJECTS.values() if other.name == subject.name)
    return subject.python and subject.case is first.case


@subjects(
    lambda s: "damping" in s.type.parameters and is_first(s),
    everyday=lambda name: stands(name) and "_fixed" not in name,
)
def test_contract_damping_is_proportional(subject):
    """What a damping of 1 adds is half of what one of 2 adds, and none adds nothing."""
    s = subject.state(np.random.default_rng(9))
    for state in (s, s.one_state()):
        found = []
        for damping in (0.0, 1.0, 2.0):
            state.par[:, s.type.parameters.index("damping")] = damping
            found.append([state.force(), state.report(LEDGER), state.report(OUTPUT)])
        for none, one, two in zip(*found, strict=True):
            small(one - 0.5 * (none + two), max(np.abs(none).max(initial=0.0), np.abs(two).max(initial=0.0)), 1e-12)


@subjects(lambda s: s.python and s.type.multipliers > 0 and s.type.outputs[:1] == ("force x [N]",))
def test_contract_reported_forces_of_joints_act_on_their_first_end(subject):
    """Over a step, and at a state of one-state rules."""
    s = subject.state(np.random.default_rng(9))
    for state in (s, s.one_state()):
        acting = state.force()[0, : s.dim] / state.ctl[SF]
        found = state.report(OUTPUT)[0, : s.dim]
        assert min(np.abs(found - acting).max(), np.abs(found + acting).max()) <= 1e-12 * np.abs(acting).max()


@subjects(is_first)
def test_contract_reports_do_not_know_the_scale_of_equations(subject):
    """Equations twice as large, with their multipliers, are those of the same forces, stresses and energies."""
    s = subject.state(np.random.default_rng(9))
    for state in (s, s.one_state()):
        found = [state.report(job) for job in (LEDGER, OUTPUT)]
        state.ctl[[SF, SK]] *= 2.0
        state.U[state.dof[:, state.multipliers]] *= 2.0
        for one, job in zip(found, (LEDGER, OUTPUT), strict=True):
            small(state.report(job) - one, np.abs(one).max(initial=0.0), 1e-12)


@subjects(lambda s: s.python and s.type.stresses > 0 and s.case.reference is not None)
def test_contract_mean_stresses_do_the_work_of_the_strains(subject):
    """Of a linear law, from a rigid state to a deformed one; stresses given as initial ones add their work."""
    deformed = subject.state(np.random.default_rng(9)).one_state(rule_h=None)
    rigid = replace(subject, case=replace(subject.case, deformation=0.0)).state(np.random.default_rng(8))
    rigid = rigid.one_state(rule_h=None)
    rigid.par, rigid.fun = deformed.par, deformed.fun

    def rise(stresses):
        """Return how much larger the energy of the deformed state is, with further initial stresses."""
        energies = []
        for state in (deformed, rigid):
            given = state.copy()
            given.par = subject.type.prestress(state.par, stresses, 1.0)
            energies.append(given.report(LEDGER)[0, STRAIN])
        return energies[0] - energies[1]

    without, work = rise(np.zeros((1, subject.type.stresses))), 0.0
    for state in (rigid, deformed):
        stresses = np.zeros((1, subject.type.stresses))
        state._call(subject.type.report, STRESSES, 0, 1, stresses, np.empty((0, 0, 0)))
        work += 0.5 * (rise(stresses) - without)
    assert work == pytest.approx(without, rel=1e-9)


@subjects(
    lambda s: is_first(s) and any(f".{kind}." in s.type.force.__module__ for kind in ("shells", "solids", "beams"))
)
def test_contract_stresses_of_one_state_rules_are_those_of_the_end(subject):
    s = subject.state(np.random.default_rng(9))
    one = s.one_state()
    found = one.report(OUTPUT)
    one.Q[0], one.D[0] = s.Q[0], s.D[0]
    small(one.report(OUTPUT) - found, np.abs(found).max(initial=0.0), 1e-12)


@subjects(lambda s: s.python and ".contact." in s.type.force.__module__)
def test_contract_contacts_of_a_block_are_open_or_closed(subject):
    """What is far away has no force, whatever the element before it in the block has."""
    s = subject.state(np.random.default_rng(9), n=2)
    last = s.dof[1, (s.type.ends - 1) * s.type.end_dofs :][: s.type.dimension]
    s.Q[:, last] += 1e3
    fe, ke = s.force(TANGENT)
    alone = s.only(1).force(TANGENT)
    assert np.array_equal(fe[1], alone[0][0])
    assert np.array_equal(ke[1], alone[1][0])


def may_stand_on_the_ground(subject):
    """Return whether an end can be the ground: the element has another one, no inertia and no shape of its own."""
    return subject.type.ends > 1 and not subject.type.inertia and subject.case.reference is None


@subjects(may_stand_on_the_ground)
def test_contract_ground(subject):
    """An end on the dummy entry and the identity row is an end that does not move, at the origin."""
    s = subject.state(np.random.default_rng(8))
    _x, _r, n = next(s.ends())
    first = s.dof[0, : s.type.end_dofs].copy()
    for array in (s.Q, s.V):
        array[:, first] = 0
    s.U[first] = 0
    s.D[:, n] = s.D[0, -1]
    s.DD[:, n] = 0
    s.start()
    t = s.copy()
    t.dof[0, : s.type.end_dofs] = len(s.U) - 1
    t.rot[0, 0] = s.D.shape[1] - 1
    for a, b in zip(s.force(TANGENT), t.force(TANGENT), strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(s.report(LEDGER), t.report(LEDGER))
    one, two = s.one_state(), t.one_state()
    for a, b in zip(one.force(TANGENT), two.force(TANGENT), strict=True):
        assert np.array_equal(a, b)


@subjects()
@seeds(2)
def test_contract_history(subject, seed):
    """COMMIT carries on: the next step starts with the energy at which this one ended, and steps stay exact."""
    rng = np.random.default_rng(seed)
    s = subject.state(rng)
    end = s.report(LEDGER)[0]
    s.report(COMMIT)
    s.Q[0], s.D[0], s.V[0], s.DD[0] = s.Q[1], s.D[1], s.V[1], s.DD[1]
    s.fun[:, T0] = s.fun[:, T1]
    start = s.at_start()
    small(start.report(LEDGER)[0, :DISSIPATED] - end[:DISSIPATED], 1 + np.abs(end).max(), 1e-12)


@subjects(lambda s: not s.python)
def test_contract_kernels_have_the_signature(subject):
    """The assembler calls all types by their addresses, with one signature."""
    assert len(SIGNATURE.args) == 16
    t = element_type(subject.name)
    if not isinstance(t.force, ElementKernel):
        pytest.skip("compilation is switched off")
    assert address(t.force) and address(t.report) and address(t.force) != address(t.report)
    assert t.scale == -1 or t.par[t.scale] == "scale"


@pytest.mark.parametrize("name", [n for n in element_types() if element_type(n).outputs])
def test_every_output_can_be_a_sensor(name):
    """By its name without the unit; the sensor's unit is the one in brackets, or "-" where there is none."""
    t = element_type(name)
    bare = [entry.split("[")[0].strip() for entry in t.outputs]
    assert len(set(bare)) == len(bare)
    model = SimpleNamespace(
        groups={"some": [0, 1]}, single_elements={}, pair_counts={}, find=lambda _what, key, known, _owner: known[key]
    )
    block = SimpleNamespace(type=t, groups=[("some", 3, 5)], first_output=100, reads=None)
    watched = []
    compiled = SimpleNamespace(system=SimpleNamespace(blocks=[block], watch=watched.append))
    for column, (entry, quantity) in enumerate(zip(t.outputs, bare, strict=True)):
        sensor = make_sensor(model, "s", "element", {"on": "some", "element": 1, "quantity": quantity})
        assert sensor.bind(compiled) == [(REC_OUT, 100 + 4 * len(bare) + column)]
        assert sensor.unit == (entry[entry.index("[") + 1 : -1] if entry.endswith("]") else "-")
        assert sensor.evaluate(np.ones((2, 1)), np.zeros((2, 0))).shape == (2, 1)
    assert watched == [block] * len(bare)


@pytest.mark.parametrize("name", ["spring2", "spring3"])
def test_springs_of_length_zero_have_a_tangent(name):
    """Ends that coincide at both states; without a length that is free the force is k times the distance."""
    s = next(subject for subject in SUBJECTS.values() if subject.name == name and subject.python).state(
        np.random.default_rng(9)
    )
    s.par[0, s.type.parameters.index("length") :] = 0.0  # and no arms
    (x, *_), (y, *_) = s.ends()
    s.Q[:, y] = s.Q[:, x]
    for state in (s, s.one_state(rule_h=None)):
        force, tangent = state.force(TANGENT)
        assert np.isfinite(tangent).all()
        assert np.abs(force).max() < 1e-12
