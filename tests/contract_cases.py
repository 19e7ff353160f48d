"""What the contract tests must know of each element type beyond the registry: random valid parameters.

One entry per registered type (or several, named variants).  `Case.par(rng)` returns one row of the parameter table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from fem_mbs.elements.contact.triangles import TRIANGLE, tree_table
from fem_mbs.elements.flexible import body as flexible_body
from fem_mbs.elements.flexible import load as flexible_load
from fem_mbs.elements.laws import piecewise
from fem_mbs.elements.shells import membrane, tying
from fem_mbs.elements.shells import natural as shell
from fem_mbs.elements.shells import quadratic_stiffness as quadratic_shell
from fem_mbs.elements.solids import centrifugal as solid_centrifugal
from fem_mbs.elements.solids import condensed as solid_condensed
from fem_mbs.elements.solids import loads as solid_loads
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.shapes import local_nodes
from fem_mbs.elements.tyres.tyre import road_table
from fem_mbs.parts.part import Moments


@dataclass(frozen=True)
class Case:
    """Parameters of one element type, and what may be asked of it.

    ``isolated``     knows no direction or point of space: no resultant, no moment, the same in every frame
    ``potential``    its force at rest is a gradient, so its static tangent is a second derivative
    ``vector_multipliers``  the multipliers are a force in space between two points: balanced where these coincide
    ``rate_tangent`` False: the one-state tangent leaves out how the rate of a damper changes with the geometry
    ``short_step``   relative difference of a step of 1 ms from its middle; director velocities that start on the group
                     follow it to first order only
    ``reference``    positions of the ends, shape (ends, dim) [m], where the element is unstrained; None: fully random
                     states are meaningful.  Otherwise both states are rigid motions of the reference plus a deformation
    ``rigid``        its inertia is that of masses in space: the same in all directions, with a centre
    ``running``      a surface of it runs, or oil flows: it loses or takes energy where its ends rest
    ``memory``       of n numbers: what `hist` holds after its first, turns, if that comes from outside
    ``path``         its history remembers where the last step ended, and forces depend on the path from there; or its
                     constraints bind velocities, which have no potential
    ``deformation``  of displacements relative to the size of the element, and of rotations [rad] (with `reference`)
    """

    par: Callable[[np.random.Generator], Sequence[float]]
    isolated: bool = True
    potential: bool = True
    vector_multipliers: bool = False
    rate_tangent: bool = True
    short_step: float = 1e-4
    reference: Sequence[Sequence[float]] | None = None
    deformation: float = 0.3
    rigid: bool = True
    running: bool = False
    path: bool = False
    memory: Callable[[np.random.Generator, int], Sequence[float]] | None = None


def triad(rng):
    """A random right-handed orthonormal triad: 3x3, vectors in columns."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 2] = -q[:, 2]
    return q


def inertia(rng):
    """Inertia tensor of four random point masses: xx, yy, zz, xy, yz, zx."""
    x = rng.normal(size=(4, 3))
    J = sum(np.eye(3) * (p @ p) - np.outer(p, p) for p in x)
    return J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[1, 2], J[2, 0]


def _torsion3(rng):
    u, v, _ = triad(rng).T
    b, c, _ = triad(rng).T
    return (3.0, 0.4, 0.2, *u, *v, *b, *c)


def _coordinate(kind, dimension, rng):
    """The parameters of a coordinate."""
    if kind == "torsion":
        return _torsion3(rng)[3:] if dimension == 3 else ()
    return _off(rng, (2 if kind == "spring" else 3) * dimension)


def _nonlinear(kind, dimension, interpolation, damped=True, stops=False):
    """See `fem_mbs.elements.springs.nonlinear`; knots and stops where random states lie on both sides of them."""
    table = ((-2.1, -9.0), (-0.4, -1.0), (0.3, 0.5), (1.7, 1.2), (2.9, 7.0))

    def par(rng):
        rows = piecewise(table, interpolation) if interpolation else piecewise((), "linear", 3.0, 0.4)
        rate_rows = piecewise((), "linear", 0.7, 0.02) if damped else np.zeros((0, 6))  # (smooth, for differences)
        interval = (0.21, 1.13, 7.0, 0.05) if stops else (-np.inf, np.inf, 0.0, 0.0)
        first = _coordinate(kind, dimension, rng)
        return (0.17, 0.6, *interval, len(rows), len(rate_rows), *first, *rows.ravel(), *rate_rows.ravel())

    return par


def _plastic(kind, dimension, hardening, limit=1.3):
    """A spring that yields within random steps, from a plastic part of its own."""
    return lambda rng: (0.17, 3.0, 0.2, limit, hardening, *_coordinate(kind, dimension, rng))


def _bouc_wen(kind, dimension, exponent, unloading):
    return lambda rng: (0.17, 3.0, 0.2, 0.15, 1.1, exponent, unloading, *_coordinate(kind, dimension, rng))


def _iwan(kind, dimension):
    """A spring beside two sliders, of which random steps move one or both."""
    return lambda rng: (0.17, 2.0, 0.2, *_coordinate(kind, dimension, rng), 3.0, 0.9, 1.5, 2.2)


def _motor(kind, dimension, numbers, start=0.3):
    """A motor or a user's force on a coordinate: its start, numbers, then the coordinate."""
    kind = {"length": "spring", "offset": "slide", "angle": "torsion"}[kind]
    return lambda rng: (start, *numbers, *_coordinate(kind, dimension, rng))


def _servo(kind, dimension, numbers):
    """A controller with memory: gains, limit, times, the coordinate, sizes of its state variables."""
    motor = _motor(kind, dimension, (0, 0, 0, *numbers))
    return lambda rng: (*motor(rng), 1.0, 0.5, 2.0)


def _hydraulic(kind, dimension, numbers, limit=np.inf):
    """A hydraulic actuator: law of the valve, cylinder, the coordinate, sizes of its state variables."""
    motor = _motor(kind, dimension, (0, 0, 0, 0.8, 0.3, 0.1, limit, 1.3, 0.6, 0.9, 0.2, *numbers))
    return lambda rng: (*motor(rng), 2.0, 0.5)


def _cylinder(kind, dimension, numbers):
    """A cylinder with two chambers, likewise."""
    motor = _motor(kind, dimension, (0, 0, 0, 0.8, 0.3, 0.1, np.inf, 1.3, 0.9, 0.6, 0.5, 0.9, 0.2, 0.05, *numbers))
    return lambda rng: (*motor(rng), 2.0, 1.5, 0.5)


def _user_states(kind, dimension):
    motor = _motor(kind, dimension, (0, 0), 0.3)
    return lambda rng: (*motor(rng), 2.0, 0.5)


def _friction(kind, function=-1, speed=-1, along=0):
    """Law with a falling branch, smooth enough for differences; the multipliers' scales come last."""
    law = (0.3, 0.5, 15.0, 20.0, 0.4 if kind.startswith(("angle", "ball")) else 1.0, function, speed, along)
    scales = (1.7, 0.9, 1.3)

    def par(rng):
        if kind == "plane3":
            axes, points = triad(rng), _off(rng, 6)
            return (*law, *axes[:, 0], *points, *axes[:, 1], *points, *scales)
        if kind == "ball3":
            return (*law, *scales)
        return (*law, *_coordinate({"offset": "slide", "angle": "torsion"}[kind[:-1]], int(kind[-1]), rng), *scales)

    return par


def _turning_friction(slides, size, function=-1, speed=-1):
    """The same law between surfaces that slide and turn; ``size``: inner radius of a disc, length of a bearing.

    Discs have a smoother one, since the points of their sums move with the slip.
    """
    speeds = (15.0, 20.0) if slides == 1 else (60.0, 80.0)
    law = (0.3, 0.5, *speeds, 0.4, function, speed, size)
    scales = (1.7, 0.9, 1.3, 0.8)[: 4 if slides == 1 else 3]

    def par(rng):
        axes, points = triad(rng), _off(rng, 6)
        offsets = [number for k in range(slides) for number in (*axes[:, k], *points)]
        return (*law, *offsets, *_coordinate("torsion", 3, rng), *scales)

    return par


def _surface(dimension, shape, rng, line=False):
    """Columns of a surface near the ball, or the place of a line, or around it, and of its random axes."""
    # ball, surface, radius, side, half sizes
    surfaces = {
        "plane": (6.0, 0, 0, 1, 0, 0, 0),
        "crossed": (0.3, 0, 0, 1, 0, 0, 0),
        "sphere": (0.7, 1, 6.0, 1, 0, 0, 0),
        "bowl": (0.4, 1, 0.5, -1, 0, 0, 0),
        "box": (0.4, 1, 7.0, 1, 0.6, 0.3, 0.2),
        "cylinder": (0.4, 1, 7.0, 1, 0, *((0, np.inf) if dimension == 3 else (np.inf, 0))),
    }
    axes = triad(rng).T if dimension == 3 else _turn(rng.uniform(0, 6))
    points = _off(rng, 2 * dimension)
    if line:
        points = (*points[:dimension], 0.3, 0.8, 0.0)[: 2 * dimension]
    return surfaces[shape], [number for axis in axes for number in (*axis, *points)]


def _contact(dimension, shape="sphere", loss=0, amount=0.0, friction=0.3, exponent=1.5, table=(), line=False):
    """A ball, or a place of a line, in deep contact with a surface, or on both sides of it, in random axes (see
    `fem_mbs.elements.contact`)."""

    def par(rng):
        rows = piecewise(((-1.0, 0.0), (0.0, 0.0), *table), "linear") if table else np.zeros((0, 6))
        surface, frame = _surface(dimension, shape, rng, line)
        law = (3.0, exponent, loss, amount, len(rows))
        return (*law, *surface, friction, 1.6 * friction, 15.0, 20.0, *frame, *rows.ravel())

    return par


def _tyre(curve, peak=0.0, table=(), states=False, theoretical=0.0, crown=0.3):
    """A tyre that is pressed deep into a bumpy road in random axes, with all that it may have."""

    def par(rng):
        law = piecewise(((-1.0, 0.0), (0.0, 0.0), *table), "linear") if table else np.zeros((0, 6))
        knots = np.linspace(-9.0, 9.0, 6)
        road = road_table(knots, 0.6 * rng.normal(size=6))
        shape = (5.0, crown, 4.6, 0.3)
        slips = (curve, peak, 0.8, 0.7, *((1.3, 1.6) if peak < 0 else (5.0, 4.0)), 1.6, 1.3, -0.4, 0.2)
        options = (0.2, 0.6, 0.02, 0.2, 0.1, 4.0, theoretical, 9.5, 11.5, 0.05, len(road))
        axes = triad(rng)
        frame = (*axes[:, 2], *axes[:, 0], *_off(rng, 9))
        axle = triad(rng)[:, 1]
        sizes = (0.6, 0.3) if states else ()
        return (
            20.0,
            1.0,
            1,
            0.02,
            len(law),
            *shape,
            *slips,
            *options,
            *frame[:12],
            *axle,
            *law.ravel(),
            *road.ravel(),
            *sizes,
        )

    return par


def _tyres(states):
    kinds = {"linear": (0,), "brush": (1, 3.0, ((0.7, 1.2), (3.0, 8.0))), "magic": (2, -1.0)}
    return {
        name: Case(_tyre(*kind, states=states, theoretical=float(name == "brush"), crown=0.3 * (name != "magic")),
                   isolated=False, potential=not states)
        for name, kind in kinds.items()
    }  # fmt: skip


def _disc(rng, crown, axis, last):
    """Columns of a disc on a plane; ``last``: a point of the plane, or the directions in which it does not slip."""
    axes = triad(rng)
    n = axes[:, 2]
    own = unit(rng) if axis is None else axis
    return (1.7, 0.6, crown, *n, *_off(rng, 3), *own, *(_off(rng, 3) if last == "place" else axes[:, :2].T.ravel()))


def _discs(last, **more):
    return {
        name: Case(lambda rng, crown=crown: _disc(rng, crown, None, last), isolated=False, **more)
        for name, crown in (("", 0.3), ("thin", 0.0))
    }


def _impact(status, **more):
    """What a unilateral constraint remembers: its status, an axis of its surface, a direction of slip."""
    one = (status, 1.0, 0.6, -0.8, 0.3, *np.zeros(10))
    return dict(memory=lambda rng, n: np.tile(one, n // len(one)), **more)


def _impacts(par):
    """Cases of unilateral constraints; ``par(friction)`` returns their parameters."""
    return {
        "open": Case(par(0.3), **_impact(0.0)),
        "smooth": Case(par(0.0), **_impact(1.0)),
        "sliding": Case(par(0.3), **_impact(1.0, potential=False)),
        "sticking": Case(par(0.3), **_impact(2.0, potential=False)),
    }


def _impact_on(dimension, shape):
    def of(friction):
        def par(rng):
            surface, frame = _surface(dimension, shape, rng)
            return (1.3, 0.5, 1.0, 0.0, 0.0, *surface, friction, 1.6 * friction, 1e-12, 0.0, *frame)

        return par

    return of


def _mesh_impact(friction):
    contact = _mesh_contact(6.0, 0.8, friction)

    def par(rng):
        row = np.array(contact(rng))
        row[:5] = 1.3, 0.5, 1.0, 0.0, 0.0
        row[12:14] = 1e-12, 0.0
        return row

    return par


def _mesh_contact(ball, size, friction=0.3, loss=0, amount=0.0, table=(), line=False):
    """A ball, or a place of a line, in deep contact with a body of triangles: outside of a small one, or inside of a
    large one."""

    def par(rng):
        rows = piecewise(((-1.0, 0.0), (0.0, 0.0), *table), "linear") if table else np.zeros((0, 6))
        corners = size * np.array(((1.0, 0.1, 0), (-1, 0, 0.2), (0, 1.1, 0), (0.1, -1, 0), (0, 0.2, 0.9), (0, 0, -1)))
        faces = np.array(((0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)))
        tree, first, closed = tree_table(corners, faces)
        assert closed
        width = -(-len(tree) // TRIANGLE) * TRIANGLE
        points = (*_off(rng, 3), 0.3, 0.8, 0.0) if line else _off(rng, 6)
        frame = [number for axis in triad(rng).T for number in (*axis, *points)]
        law = (3.0, 1.5, loss, amount, len(rows), ball, 0, width, first, np.inf)
        return (
            *law,
            friction,
            1.6 * friction,
            15.0,
            20.0,
            *frame,
            *rows.ravel(),
            *np.pad(tree, (0, width - len(tree))),
        )

    return par


def _tubes(
    dimension, ball=0.0, ends=(0.2, 0.0, 0.0, 0.3), sines=(-2.0, -1.0), loss=0, amount=0.0, table=(), friction=None
):
    """Two tubes, or a tube and a ball, in deep contact; all ends, angles between which the lines of both blend.
    ``friction``: the coefficient, and the share of the distance from the axis of a to where it acts."""

    def par(rng):
        rows = piecewise(((-1.0, 0.0), (0.0, 0.0), *table), "linear") if table else np.zeros((0, 6))
        shares = (0.0, 1.0) if ball else (0.4, 0.7)
        rubs = () if friction is None else (friction[0], 1.4 * friction[0], 5.0, 3.0, friction[1], 1.0 - friction[1])
        return (
            3.0, 1.5, loss, amount, len(rows), 12.0, 1.0, ball, *ends, *shares, *sines, 3.0, 5.0, *rubs, *rows.ravel(),
        )  # fmt: skip

    return par


def _face(amount=0.0, corner=0.4, friction=0.0, place=()):
    """A triangle and a ball, or a place of a line, in deep contact, where all windows and corners act."""
    return lambda rng: (
        3.0, 1.5, 1.0, amount, 0, 12.0, 1.0, 9.0, 8.0, 11.0, corner, -0.3, 0.2, 3.0, 5.0, friction, 1.4 * friction, 0.5,
        0.3, *place,
    )  # fmt: skip


def _bushing(dimension, weight, damping=1.0):
    """Random positive matrices between random frames."""
    n = 3 * (dimension - 1)

    def par(rng):
        axes = [triad(rng).T if dimension == 3 else _turn(rng.uniform(0, 6)) for _ in range(2)]
        return (
            weight, *_off(rng, 2 * dimension), *axes[0].ravel(), *axes[1].ravel(), *_off(rng, 2 * n),
            *symmetric(rng, n),
            *(damping * np.array(symmetric(rng, n))),
        )  # fmt: skip

    return par


# A triangle and a line on one side of its plane, where the gap has a kink: displacements of up to 0.2 in each direction
# leave a gap of 0.5 at least (0.7 for the second one, whose foot is beyond the edge between the corners 2 and 3).
_CORNERS = ((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 2.0, 0.0))
_ABOVE = (*_CORNERS, (0.5, 0.65, 1.0), (0.65, 0.55, 1.1))
_BEYOND = (*_CORNERS, (1.2, 1.3, -1.8), (1.4, 1.2, -1.7))


def _bearing(dimension, speeds, skew=1.0):
    """Random matrices, unsymmetric by ``skew``, in random directions."""

    def par(rng):
        rows = []
        for speed in speeds:
            K, C = (np.array((a, b, b, c)) for a, b, c in (symmetric(rng, 2), symmetric(rng, 2)))
            twist = skew * rng.normal() * np.array((0, 1, -1, 0))
            rows += [speed, *(K + twist), *(0.2 * C + 0.1 * twist)]
        axes = triad(rng).T.ravel() if dimension == 3 else ()
        return (*axes, *_off(rng, 2), len(speeds), *rows)

    return par


def _turn(angle):
    return np.array(((np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))))


def _beam2(second_order, damping=0.0):
    """EA, S11, S12, length, chord direction, second order, rule, damping, scale; the chord lies at 0.3 rad."""
    return lambda rng: (9.0, 2.1, 0.9, 1.3, np.cos(0.3), np.sin(0.3), second_order, 0, damping, 1.7, 0.3, -0.2, 0.4)


def _exact_beam2(second_order, damping=0.0):
    """As `_beam2`, without a rule."""
    return lambda rng: (9.0, 2.1, 0.9, 1.3, np.cos(0.3), np.sin(0.3), second_order, damping, 1.7, 0.3, -0.2, 0.4)


def _strain_beam2(second_order, damping=0.0):
    """EA, S11, S12, length, chord direction, second order, damping, scale."""
    return lambda rng: (9.0, 2.1, 0.9, 1.3, np.cos(0.3), np.sin(0.3), second_order, damping, 1.7, 0.3, -0.2, 0.4)


def symmetric(rng, n):
    """Upper triangle of a random symmetric positive matrix, row by row."""
    A = rng.normal(size=(n, n))
    return (A @ A.T + np.eye(n))[np.triu_indices(n)]


_CHORD3 = np.array(((0.2, -0.1, 0.3), (1.1, 0.5, 0.9)))  # ends of the beam; the nodes stand off by the offsets
_OFFSETS = np.array(((0.1, -0.2, 0.05), (-0.15, 0.1, 0.2)))


def _beam3(second_order, damping=0.0, fixed=(), offsets=False, shares=False):
    """See `fem_mbs.elements.beams.beam3d_common.PAR`; ``shares``: with those of bending."""

    def par(rng):
        chord = _CHORD3[1] - _CHORD3[0]
        length = np.linalg.norm(chord)
        ex = chord / length
        ey = np.cross(ex, unit(rng))
        ey /= np.linalg.norm(ey)
        A = np.column_stack((ex, ey, np.cross(ex, ey)))
        S = symmetric(rng, 6)
        held = np.array([k in fixed for k in range(6)])
        rows, cols = np.triu_indices(6)
        S[held[rows] | held[cols]] = 0.0
        arms = _OFFSETS if offsets else np.zeros((2, 3))
        return (
            1.7, length, second_order, damping, *S, *(0.1 * rng.normal(size=6)), *(0.1 * length * rng.normal(size=6)),
            *arms.ravel(), *A.ravel(), *A.ravel(), *fixed, *[-1] * (6 - len(fixed)),
            *((0.7, 0.1, -0.2, 0.4) if shares else ()),
        )  # fmt: skip

    return Case(
        par, reference=_CHORD3 - (_OFFSETS if offsets else 0.0), rate_tangent=damping == 0.0,
    )  # fmt: skip


def unit(rng):
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


_HELD = {1: (0,), 2: (0, 1), 3: (0, 4, 5), 4: (2, 3, 4, 5), 5: (0, 2, 3, 4, 5), 6: (0, 1, 2, 3, 4, 5)}


def _beams3(name, shares=False):
    cases = {
        "": _beam3(0, shares=shares),
        "second_order": _beam3(1, shares=shares),
        "offsets": _beam3(1, offsets=True, shares=shares),
        "damped": _beam3(1, 0.05, offsets=True, shares=shares),
    }
    fixed = {f"{name}_fixed{m}": _beam3(1, fixed=f, offsets=m % 2 == 1, shares=shares) for m, f in _HELD.items()}
    return {name: cases, **fixed}


def _director_mass(damping=0.0):
    """A random positive mass matrix over (x, d1, d2, d3) of both ends."""

    def par(rng):
        M = symmetric(rng, 8)
        return (M[0] + 2 * M[4] + M[26], damping, *M)  # M11 + 2 M15 + M55

    return Case(par, isolated=damping == 0.0, short_step=1e-3)


def _distorted(rng, cell, amount=0.1):
    """Nodes of a cell, shifted at random."""
    X = local_nodes(cell)
    return X + amount * rng.uniform(-1, 1, X.shape)


def _matrix(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + np.eye(n)


def _solid(name, nonlinear=1, damping=0.0, stressed=False, function=-1):
    """A distorted cell of an anisotropic, heated material, with initial stresses or without, the heat as a function of
    time and different at each point, or constant."""
    points = len(solid.TYPES[name].outputs) // 12

    def par(rng):
        X = _distorted(rng, solid.KINDS[name][0])
        row = solid.parameters(X[None], _matrix(rng, 6), nonlinear, damping, 0.1 * rng.normal(size=6), function)[0]
        share = rng.normal(size=points) if function >= 0 else ()
        return (*row, *share, *(rng.normal(size=6 * points) if stressed else ()))

    return Case(par, isolated=nonlinear == 1)


def _plane(name, nonlinear=1, damping=0.0, stressed=False, function=-1):
    cell, _, ring = solid_plane.KINDS[name]
    points = len(solid_plane.TYPES[name].outputs) // 8

    def par(rng):
        X = _distorted(rng, cell)[None] + np.array((1.5, 0.0))
        row = solid_plane.parameters(X, _matrix(rng, 4), 0.7, nonlinear, damping, 0.1 * rng.normal(size=4), function)[0]
        share = rng.normal(size=points) if function >= 0 else ()
        return (*row, *share, *(rng.normal(size=4 * points) if stressed else ()))

    return Case(par, isolated=nonlinear == 1 and not ring)


def _face_load(name):
    """A pressure with a function of time, or a traction without; both with random numbers."""
    t = solid_loads.TYPES[name]
    traction = name.startswith("traction")
    return Case(
        lambda rng: (-1 if traction else 0, *rng.uniform(0.5, 1.5, len(t.par) - 1)), isolated=False, potential=traction
    )


def _solid_mass(name, damping=0.0):
    form, cell = name.split("_")[1:]

    def par(rng):
        X = _distorted(rng, cell)[None]
        return solid_mass.mass_parameters(cell, X, 2.3, damping, thickness=0.4, lumped=form == "lumped")[0]

    return Case(par, isolated=damping == 0.0)


def _condensed_mass(damping=0.0):
    """It knows the directions of the body, and a centre only while that is as it was given."""

    def par(rng):
        X = _distorted(rng, "hexahedron")[None]
        return solid_condensed.condensed_parameters(solid.parameters(X, _matrix(rng, 6)), 2.3, damping)[0]

    return Case(par, isolated=False, rigid=False)


def _solid_centrifugal(name):
    """About a random axis, in the plane across it; the square of the speed follows the function."""
    t = solid_centrifugal.TYPES[name]
    cell = name.split("_")[-1]

    def par(rng):
        M = solid_mass.mass_matrices(cell, _distorted(rng, cell)[None], 2.3, thickness=0.4)
        axis = unit(rng) if t.dimension == 3 else np.zeros(2)
        return solid_centrifugal.centrifugal_parameters(M, axis, rng.normal(size=t.dimension), 0)[0]

    return par


_SHELLS = {
    "triangle": np.array(((0.2, -0.1, 0.3), (1.1, 0.2, 0.1), (0.4, 0.9, 0.5))),
    "quad": np.array(((0.2, -0.1, 0.3), (1.1, 0.2, 0.1), (1.3, 1.1, 0.6), (0.1, 0.9, 0.4))),
}


def _shell(cell, damping=0.0):
    """A warped cell with a random stiffness, offsets, initial stresses, thermal strains and nodes that are turned."""

    def par(rng):
        X, c = _SHELLS[cell], shell.Columns(shell.CELLS[cell])
        S, R = _matrix(rng, c.strains), rng.normal(size=(8, c.strains))
        turned = np.array([triad(rng) for _ in X]) if damping else np.tile(np.eye(3), (len(X), 1, 1))
        row = shell.shell_rows(
            X[None], 0.1 * rng.normal(size=(1, len(X))), S[None], R[None], damping, turned[None], 0.01
        )[0]
        row[c.stress : c.stress + c.strains] = rng.normal(size=c.strains)
        row[c.function], row[c.thermal :] = 0.0, 0.1 * rng.normal(size=c.strains)
        return row

    return Case(par, reference=_SHELLS[cell])


def _membrane(cell, damping=0.0):
    """A warped cell with a random stiffness, initial stresses and thermal strains."""

    def par(rng):
        X, c = _SHELLS[cell], membrane.MembraneColumns(shell.CELLS[cell])
        S, R = _matrix(rng, c.strains), rng.normal(size=(1, 3, c.strains))
        row = membrane.membrane_rows(X[None], S[None], R, damping)[0]
        row[c.stress : c.stress + c.strains] = rng.normal(size=c.strains)
        row[c.function], row[c.thermal :] = 0.0, 0.1 * rng.normal(size=c.strains)
        return row

    return Case(par, reference=_SHELLS[cell])


_QUADRATIC_SHELLS = {
    cell: np.concatenate((X, 0.5 * (X + np.roll(X, -1, axis=0)) + np.array(((0.05, -0.04, 0.03),))))
    for cell, X in (("triangle6", _SHELLS["triangle"]), ("quad8", _SHELLS["quad"]))
}


def _quadratic_shell(cell, damping=0.0):
    """A curved cell with a random stiffness, offsets, initial stresses and nodes that are turned at the reference."""

    def par(rng):
        X, c = _QUADRATIC_SHELLS[cell], quadratic_shell.QuadraticColumns(cell)
        S, R = _matrix(rng, c.strains), rng.normal(size=(8, c.strains))
        turned = np.array([triad(rng) for _ in X]) if damping else np.tile(np.eye(3), (len(X), 1, 1))
        offset = 0.1 * rng.normal(size=(1, len(X)))
        row = quadratic_shell.quadratic_rows(X[None], offset, S[None], R[None], damping, turned[None])[0]
        row[c.stress : c.stress + c.strains] = rng.normal(size=c.strains)
        row[c.function], row[c.thermal :] = 0.0, 0.1 * rng.normal(size=c.strains)
        return row

    return Case(par, reference=_QUADRATIC_SHELLS[cell])


_CHORD = ((0.2, -0.1), (0.2 + 1.3 * np.cos(0.3), -0.1 + 1.3 * np.sin(0.3)))


def _truss(strain=0, tension_only=0, damping=0.0):
    return lambda rng: (9.0, 1.3, strain, tension_only, 0.4, damping)


def _small_rotation(rng):
    """Coefficients of the directors, l_k = c x D_k / 2, and the reference."""
    D = triad(rng)
    return (*(0.5 * np.cross(_off(rng, 3), D.T).T).ravel(), *D.ravel())


def _off(rng, n):
    return tuple(rng.normal(size=n))


def _damped_mass(*numbers):
    """A mass with constant parameters, and the same with damping proportional to the mass."""
    return {"": Case(lambda rng: (*numbers, 0.0)), "damped": Case(lambda rng: (*numbers, 0.7), isolated=False)}


#: index 0 is the time function that the harness provides, -1 is none
def _spline(rng, dimension, closed, pieces=4):
    """Number of pieces, length and kind of a random spline; its table."""
    knots = np.concatenate(([0.0], np.cumsum(rng.uniform(0.4, 0.9, pieces))))
    values = rng.normal(size=(pieces + 1, dimension))
    if closed:
        values[-1] = values[0]
    c = CubicSpline(knots, values, bc_type="periodic" if closed else "natural").c[::-1]
    table = np.hstack((knots[:-1, None], c.transpose(1, 2, 0).reshape(pieces, -1)))
    return (pieces, knots[-1], float(closed)), table.ravel()


def _point_on_curve(dimension, closed):
    def par(rng):
        curve, table = _spline(rng, dimension, closed)
        return (1.7, *curve, *_off(rng, dimension * (dimension + 2)), *table)

    return par


def _curve_on_curve(*closed):
    def par(rng):
        (a, table_a), (b, table_b) = (_spline(rng, 2, which) for which in closed)
        return (1.7, *a, *b, 0.8, 1.0, *_off(rng, 12), *table_a, *table_b)

    return par


CASES: dict[str, Case | dict[str, Case]] = {
    "truss2": {"": Case(_truss(damping=0.2)), "green": Case(_truss(1)), "cable": Case(_truss(0, 1))},
    "truss3": {"": Case(_truss(damping=0.2)), "green": Case(_truss(1)), "cable": Case(_truss(0, 1))},
    "beam2": {
        "": Case(_beam2(0), reference=_CHORD),
        "second_order": Case(_beam2(1), reference=_CHORD),
        "damped": Case(_beam2(1, 0.05), reference=_CHORD, rate_tangent=False),
    },
    "beam2_inextensible": {
        "": Case(_beam2(1), reference=_CHORD),
        "damped": Case(_beam2(1, 0.05), reference=_CHORD, rate_tangent=False),
    },
    "exact_beam2": {
        "": Case(_exact_beam2(0.0), reference=_CHORD),
        "second_order": Case(_exact_beam2(0.47), reference=_CHORD),
        "damped": Case(_exact_beam2(0.47, 0.05), reference=_CHORD, rate_tangent=False),
        "bent": Case(_exact_beam2(0.47), reference=_CHORD, deformation=1.9),
    },
    "exact_beam2_inextensible": {
        "": Case(_exact_beam2(0.47), reference=_CHORD),
        "damped": Case(_exact_beam2(0.47, 0.05), reference=_CHORD, rate_tangent=False),
    },
    "strain_beam2": {
        "": Case(_strain_beam2(0), reference=_CHORD),
        "second_order": Case(_strain_beam2(1), reference=_CHORD),
        "damped": Case(_strain_beam2(1, 0.05), reference=_CHORD, rate_tangent=False),
    },
    "strain_beam2_inextensible": {
        "": Case(_strain_beam2(1), reference=_CHORD),
        "damped": Case(_strain_beam2(1, 0.05), reference=_CHORD, rate_tangent=False),
    },
    **_beams3("strain_beam3"),
    **_beams3("corotational_beam3", shares=True),
    **_beams3("exact_beam3", shares=True),
    "director_mass3": {"": _director_mass(), "damped": _director_mass(0.7)},
    "mass2": _damped_mass(2.3, 0.7),
    "mass3": _damped_mass(2.3),
    "linear_mass2": _damped_mass(2.3),
    "linear_mass3": _damped_mass(2.3),
    "hermite2": _damped_mass(2.3, 1.3, 0.2, np.cos(0.3), np.sin(0.3)),
    "spring2": {
        "": Case(lambda rng: (5.0, 0.7, 1.3, *_off(rng, 4))),
        "short": Case(lambda rng: (5.0, 0.0, 0.0, *_off(rng, 4))),
    },
    "spring3": Case(lambda rng: (5.0, 0.7, 1.3, *_off(rng, 6))),
    **{
        f"component_spring{d}": Case(lambda rng, d=d: (5.0, 0.7, 0.4, *_off(rng, 2 * d)), isolated=False)
        for d in (2, 3)
    },
    "torsion2": Case(lambda rng: (5.0, 0.7, 0.3)),
    "torsion3": Case(_torsion3),
    "slide2": {
        "": Case(lambda rng: (5.0, 0.7, 0.4, *_off(rng, 6))),
        "unloaded": Case(lambda rng: (0.0, 0.0, 0.0, *_off(rng, 6))),
    },
    "slide3": Case(lambda rng: (5.0, 0.7, 0.4, *_off(rng, 9))),
    **{
        f"nonlinear_{kind}{d}": {
            "table": Case(_nonlinear(kind, d, "linear")),
            "spline": Case(_nonlinear(kind, d, "spline", damped=False)),
            "polynomial": Case(_nonlinear(kind, d, None)),
            "stops": Case(_nonlinear(kind, d, None, stops=True)),
        }
        for kind in ("spring", "slide", "torsion")
        for d in (2, 3)
    },
    **{
        f"plastic_{kind}{d}": {
            "hinge": Case(_plastic(kind, d, 0.02)),
            "hardening": Case(_plastic(kind, d, 0.8)),
            "elastic": Case(_plastic(kind, d, 0.8, 1e3)),
        }
        for kind in ("spring", "slide", "torsion")
        for d in (2, 3)
    },
    **{
        f"bouc_wen_{kind}{d}": {
            "": Case(_bouc_wen(kind, d, 3.6, 0.6), path=True),
            "first_power": Case(_bouc_wen(kind, d, 1.0, 0.5), path=True),
            "bulging": Case(_bouc_wen(kind, d, 3.0, 1.4), path=True),
        }
        for kind in ("spring", "slide", "torsion")
        for d in (2, 3)
    },
    **{f"iwan_{kind}{d}_2": Case(_iwan(kind, d)) for kind in ("spring", "slide", "torsion") for d in (2, 3)},
    **{
        f"nodal_mass{d}": Case(
            lambda rng, d=d: (0.7, *_off(rng, d), *symmetric(rng, 3 * (d - 1))), rigid=False, short_step=1e-3
        )
        for d in (2, 3)
    },
    **{
        f"bushing{d}": {
            "": Case(_bushing(d, 0.0)),
            "mean_frame": Case(_bushing(d, 0.5)),
            "stiff": Case(_bushing(d, 0.5, 0)),
        }
        for d in (2, 3)
    },
    **{
        f"bearing{d}": {
            "": Case(_bearing(d, (0.0,)), isolated=False, potential=False),
            "symmetric": Case(_bearing(d, (0.0,), 0.0), isolated=False),
            "table": Case(_bearing(d, (-4.13, -1.07, 0.31, 2.6, 5.9)), isolated=False, potential=False),
        }
        for d in (2, 3)
    },
    **{
        f"brake_{kind}{d}": {
            "": Case(lambda rng, law=law, d=d: (1.3, 2.0, 0.4, 1.5, -1, *_coordinate(law, d, rng))),
            "changing": Case(lambda rng, law=law, d=d: (1.3, 2.0, 0.4, 1.5, 0, *_coordinate(law, d, rng))),
        }
        for kind, law in (("offset", "slide"), ("angle", "torsion"))
        for d in (2, 3)
    },
    **{
        f"motor_{kind}{d}": {
            "": Case(_motor(kind, d, (0, 0, 0, 3.0, 0.4, np.inf))),
            "force": Case(_motor(kind, d, (0, -1, -1, 0.0, 0.0, np.inf))),
            "cut_off": Case(_motor(kind, d, (0, 0, 0, 3.0, 0.4, 0.01))),
        }
        for kind in ("length", "offset", "angle")
        for d in (2, 3)
    },
    "tyre3": _tyres(states=False),
    "relaxing_tyre3": _tyres(states=True),
    "disc_touch3": _discs("place"),
    "disc_roll3": _discs("slip", path=True, potential=False),
    "mesh_contact3": {
        "smooth": Case(_mesh_contact(6.0, 0.8, friction=0.0)),
        "rubbed": Case(_mesh_contact(6.0, 0.8, loss=2, amount=0.4)),
        "inside": Case(_mesh_contact(0.3, 20.0, loss=1, amount=0.02, table=((0.7, 1.2), (30.0, 80.0)))),
    },
    **{
        f"tube_pair{d}": {
            **({"blended": Case(_tubes(d, ends=(4.0, 5.0, 6.0, 5.0), sines=(-0.4, 1.3)))} if d == 3 else {}),
            "points": Case(
                _tubes(d, ends=(4.0, 0.0, 0.0, 5.0), sines=(2.0, 3.0), loss=1, amount=0.02), short_step=1e-3
            ),
            "ball": Case(_tubes(d, 1.0, ends=(3.0, 0.0, 0.0, 0.0), table=((0.7, 1.2), (3.0, 8.0)))),
            **({"crossed": Case(_tubes(d, ends=(0.0, 0.0, 0.0, 6.0), loss=1, amount=0.02))} if d == 3 else {}),
        }
        for d in (2, 3)
    },
    **{
        f"rubbing_tube_pair{d}": {
            **(
                {
                    "blended": Case(_tubes(d, ends=(4.0, 5.0, 6.0, 5.0), sines=(-0.4, 1.3), friction=(0.4, 0.3))),
                    "crossed": Case(
                        _tubes(d, ends=(0.0, 0.0, 0.0, 6.0), loss=1, amount=0.02, friction=(0.4, 0.6)),
                        short_step=1e-3,
                    ),
                }
                if d == 3
                else {}
            ),
            "points": Case(_tubes(d, ends=(4.0, 0.0, 0.0, 5.0), sines=(2.0, 3.0), friction=(0.4, 0.7))),
            "ball": Case(_tubes(d, 1.0, ends=(3.0, 0.0, 0.0, 0.0), loss=1, amount=0.02, friction=(0.3, 0.0))),
        }
        for d in (2, 3)
    },
    "face_pair3": {
        "": Case(_face()),
        "damped": Case(_face(0.02)),
        "rubbed": Case(_face(friction=0.4)),
        "rubbed_damped": Case(_face(0.02, friction=0.4)),
    },
    "face_line_pair3": {
        "": Case(_face(place=(0.3,))),
        "rubbed": Case(_face(0.02, friction=0.4, place=(0.6,)), reference=_ABOVE, deformation=0.2),
        "rubbed_beyond": Case(_face(0.02, friction=0.4, place=(0.35,)), reference=_BEYOND, deformation=0.2),
    },
    "line_mesh_contact3": {
        "smooth": Case(_mesh_contact(6.0, 0.8, friction=0.0, line=True)),
        "rubbed": Case(_mesh_contact(6.0, 0.8, loss=2, amount=0.4, line=True), rate_tangent=False),
    },
    **{
        f"line_contact{d}": {
            "smooth": Case(_contact(d, "sphere", friction=0.0, line=True)),
            "plane": Case(_contact(d, "plane", 1, 0.02, line=True), rate_tangent=False),
            "rubbed": Case(_contact(d, "sphere", 2, 0.4, line=True), rate_tangent=False),
            "table": Case(_contact(d, "box", friction=0.0, table=((0.7, 1.2), (3.0, 8.0)), line=True)),
        }
        for d in (2, 3)
    },
    **{
        f"contact{d}": {
            "smooth": Case(_contact(d, "sphere", friction=0.0)),
            "plane": Case(_contact(d, "plane", 1, 0.02)),
            "crossed": Case(_contact(d, "crossed", exponent=2.5)),
            "rubbed": Case(_contact(d, "sphere", 2, 0.4)),
            "bowl": Case(_contact(d, "bowl", 3, 0.3)),
            "box": Case(_contact(d, "box", friction=0.0)),
            "cylinder": Case(_contact(d, "cylinder", friction=0.0, table=((0.7, 1.2), (3.0, 8.0)))),
        }
        for d in (2, 3)
    },
    "mesh_impact3": _impacts(_mesh_impact),
    **{
        f"impact{d}": {
            f"{status}_{shape}": case
            for shape in ("sphere", "bowl", "box", "plane")
            for status, case in _impacts(_impact_on(d, shape)).items()
        }
        for d in (2, 3)
    },
    **{
        f"servo_{kind}{d}": {
            "": Case(_servo(kind, d, (3.0, 2.0, 0.4, np.inf, 0.0, 0.0, 0.0))),
            "filtered": Case(_servo(kind, d, (3.0, 2.0, 0.4, np.inf, 0.7, 0.0, 0.0))),
            "lagging": Case(_servo(kind, d, (3.0, 2.0, 0.4, np.inf, 0.7, 0.5, 0.0))),
            "cut_off": Case(_servo(kind, d, (3.0, 2.0, 0.4, 0.01, 0.7, 0.5, 0.9))),
            "cut_off_at_once": Case(_servo(kind, d, (3.0, 2.0, 0.4, 0.01, 0.0, 0.0, 0.9))),
        }
        for kind in ("length", "offset", "angle")
        for d in (2, 3)
    },
    **{
        f"hydraulic_{kind}{d}": {
            "": Case(_hydraulic(kind, d, (np.inf, 0.2, 0.0)), running=True),
            "orifice": Case(_hydraulic(kind, d, (9.0, 0.2, 0.0)), running=True),
            "spool": Case(_hydraulic(kind, d, (9.0, 0.2, 0.4)), running=True),
            "cut_off": Case(_hydraulic(kind, d, (np.inf, 0.0, 0.4), limit=0.01), running=True),
        }
        for kind in ("length", "offset", "angle")
        for d in (2, 3)
    },
    **{
        f"cylinder_{kind}{d}": {
            "": Case(_cylinder(kind, d, (np.inf, 0.2, 0.0)), running=True),
            "orifice": Case(_cylinder(kind, d, (9.0, 0.2, 0.0)), running=True),
            "spool": Case(_cylinder(kind, d, (9.0, 0.2, 0.4)), running=True),
        }
        for kind in ("length", "offset", "angle")
        for d in (2, 3)
    },
    **{
        f"user_states_{kind}{d}_2": Case(_user_states(kind, d), memory=lambda rng, n: 0.3 * rng.normal(size=n))
        for kind in ("length", "offset", "angle")
        for d in (2, 3)
    },
    **{
        f"friction_{kind}": {
            "": Case(_friction(kind)),
            "running": Case(_friction(kind, 0, 0), isolated=False, potential=False, running=True),
            **({"along": Case(_friction(kind, along=1))} if kind.startswith("offset") else {}),
        }
        for kind in ("offset2", "offset3", "angle2", "angle3", "plane3")
    },
    "friction_cylinder3": {
        "": Case(_turning_friction(1, np.inf, 0)),
        "two_ends": Case(_turning_friction(1, 0.7)),
    },
    "friction_disc3": {
        "": Case(_turning_friction(2, 0.0)),
        "ring": Case(_turning_friction(2, 0.25)),
        "running": Case(_turning_friction(2, 0.0, 0, 0), isolated=False, potential=False, running=True),
    },
    "friction_ball3": {"": Case(_friction("ball3")), "given": Case(_friction("ball3", 0))},
    **{
        f"user_{kind}{d}": Case(_motor(kind, d, (0, 0), 0.3), memory=lambda rng, n: rng.normal(size=n))
        for kind in ("length", "offset", "angle")
        for d in (2, 3)
    },
    **{
        f"user_point{d}": Case(
            lambda rng, d=d: (*_off(rng, d), 0, 0),
            isolated=False,
            potential=False,
            memory=lambda rng, n: rng.normal(size=n),
        )
        for d in (2, 3)
    },
    **{
        f"user_states_point{d}_2": Case(
            lambda rng, d=d: (*_off(rng, d), 0, 0, 2.0, 0.5),
            isolated=False,
            potential=False,
            memory=lambda rng, n: 0.3 * rng.normal(size=n),
        )
        for d in (2, 3)
    },
    "rigid3": Case(lambda rng: (2.5, *inertia(rng))),
    "point2": Case(lambda rng: (1.7, *_off(rng, 4)), vector_multipliers=True),
    "point3": Case(lambda rng: (1.7, *_off(rng, 6)), vector_multipliers=True),
    "position2": Case(lambda rng: (1.7, 0, 0.4, *_off(rng, 4)), isolated=False),
    "position3": {
        "": Case(lambda rng: (1.7, 0, 0.4, *_off(rng, 6)), isolated=False),
        "fixed": Case(lambda rng: (1.7, -1, 0.4, *_off(rng, 6)), isolated=False),
    },
    "angle2": Case(lambda rng: (1.7, 0.4, 0)),
    "orientation3": {
        "": Case(lambda rng: (1.7, 0, *triad(rng).ravel(), *triad(rng).ravel())),
        "weld": Case(lambda rng: (1.7, -1, *triad(rng).ravel(), *triad(rng).ravel())),
    },
    "direction3": Case(lambda rng: (1.7, 0.3, *_off(rng, 6))),
    "offset2": Case(lambda rng: (1.7, 0, 0.4, *_off(rng, 6))),
    "offset3": {
        "": Case(lambda rng: (1.7, 0, 0.4, *_off(rng, 9))),
        "fixed": Case(lambda rng: (1.7, -1, 0.4, *_off(rng, 9))),
    },
    "hinge3": {
        "": Case(lambda rng: (1.7, 0, *_torsion3(rng)[2:])),
        "fixed": Case(lambda rng: (1.7, -1, *_torsion3(rng)[2:])),
        "pointer": Case(lambda rng: (1.7, 0, *_torsion3(rng)[2:12], 0.0, 0.0, 0.0)),
    },
    "distance2": Case(lambda rng: (1.7, 0, 1.3, *_off(rng, 4))),
    "distance3": {
        "": Case(lambda rng: (1.7, 0, 1.3, *_off(rng, 6))),
        "rigid": Case(lambda rng: (1.7, -1, 1.3, *_off(rng, 6))),
    },
    "constant_velocity3": Case(lambda rng: (1.7, *_off(rng, 12))),
    "coupling2": {
        "gear": Case(lambda rng: (1.7, 1, 1, 1.0, -0.4, 0.3, *_off(rng, 16))),
        "rack": Case(lambda rng: (1.7, 1, 0, 1.0, -0.4, 0.3, *_off(rng, 16))),
    },
    "coupling3": {
        "gear": Case(lambda rng: (1.7, 1, 1, 1.0, -0.4, 0.3, *_torsion3(rng)[3:], *_torsion3(rng)[3:])),
        "rack": Case(lambda rng: (1.7, 1, 0, 1.0, -0.4, 0.3, *_torsion3(rng)[3:], *_off(rng, 12))),
    },
    "pulley2": Case(lambda rng: (1.7, 0, 0, 1.0, -0.4, 0.3, *_off(rng, 16))),
    "pulley3": Case(lambda rng: (1.7, 0, 0, 1.0, -0.4, 0.3, *_off(rng, 24))),
    "equation2": {
        "": Case(lambda rng: (1.7, 0, 0.4, 1, 0, *_off(rng, 8)), isolated=False),
        "fixed": Case(lambda rng: (1.7, -1, 0.0, 1, 0, *_off(rng, 8)), isolated=False),
    },
    "equation3": {
        "": Case(lambda rng: (1.7, 0, 0.4, 1, 0, *_off(rng, 15), *triad(rng).ravel()), isolated=False),
        "small": Case(lambda rng: (1.7, 0, 0.4, 1, 1, *_off(rng, 6), *_small_rotation(rng)), isolated=False),
    },
    "mean_rotation2": Case(lambda rng: (1.7, *_off(rng, 6), 0.3)),
    "mean_rotation3": Case(lambda rng: (1.7, *_off(rng, 9), 0.3)),
    # the way along the line is a coordinate, not a place in space
    "beam_slide2": {
        "cubic": Case(lambda rng: (1.7, -0.3, 1.3, 1, 1, 1, *_off(rng, 10)), isolated=False),
        "linear": Case(lambda rng: (1.7, -0.3, 1.3, 0, 1, 1, *_off(rng, 10)), isolated=False),
    },
    "beam_slide3": Case(lambda rng: (1.7, -0.3, 1.3, 1, 1, 1, *_off(rng, 15)), isolated=False),
    # their coordinates are a node that is no place
    "prismatic_slide2": Case(lambda rng: (1.7, -0.3, 1.3, 1, 1, 1, 0.8, *_off(rng, 14)), isolated=False),
    "cylindrical_slide3": Case(lambda rng: (1.7, -0.3, 1.3, 1, 1, 1, 0.8, *_off(rng, 24)), isolated=False),
    "prismatic_slide3": Case(lambda rng: (1.7, -0.3, 1.3, 1, 1, 1, 0.8, *_off(rng, 30)), isolated=False),
    "point_on_curve2": {
        "open": Case(_point_on_curve(2, False), isolated=False),
        "closed": Case(_point_on_curve(2, True), isolated=False),
    },
    "point_on_curve3": Case(_point_on_curve(3, True), isolated=False),
    "curve_on_curve2": {
        "closed": Case(_curve_on_curve(True, True), isolated=False),
        "open": Case(_curve_on_curve(False, True), isolated=False),
    },
    "force2": Case(lambda rng: (0, *_off(rng, 4)), isolated=False),
    "force3": {
        "": Case(lambda rng: (0, *_off(rng, 6)), isolated=False),
        "constant": Case(lambda rng: (-1, *_off(rng, 6)), isolated=False),
    },
    "moment2": Case(lambda rng: (0, 2.3), isolated=False),
    "moment3": {
        "": Case(lambda rng: (0, *_off(rng, 3), 0, 0, 0), isolated=False, potential=False),
        "follower": Case(lambda rng: (0, *_off(rng, 6)), isolated=False, potential=False),
    },
    "follower2": Case(lambda rng: (0, *_off(rng, 4)), isolated=False, potential=False),
    "follower3": Case(lambda rng: (0, *_off(rng, 6)), isolated=False, potential=False),
    # a constant factor: a potential that depends on time is booked as the work of none
    "centrifugal2": Case(lambda rng: (-1, *_off(rng, 2), np.cos(0.3), np.sin(0.3), *symmetric(rng, 4)), isolated=False),
    "centrifugal3": Case(lambda rng: (-1, *unit(rng), *_off(rng, 3), *symmetric(rng, 8)), isolated=False),
    "line_load2": Case(lambda rng: (0, np.cos(0.3), np.sin(0.3), *_off(rng, 8)), isolated=False),
    "line_load3": Case(lambda rng: (0, *_off(rng, 24)), isolated=False),
    **{
        name: {
            "": _solid(name),
            "linear": _solid(name, 0, 0.05, stressed=True, function=0),
            **({"damped": _solid(name, 1, 0.05, function=0)} if "hexa" in name and "20" not in name else {}),
        }
        for name in solid.KINDS
    },
    **{name: Case(_solid_centrifugal(name), isolated=False) for name in solid_centrifugal.TYPES},
    **{name: {"": _solid_mass(name), "damped": _solid_mass(name, 0.7)} for name in solid_mass.TYPES},
    "solid_condensed_hexahedron": {"": _condensed_mass(), "damped": _condensed_mass(0.7)},
    **{
        name: {
            "": _plane(name),
            "linear": _plane(name, 0, 0.05, stressed=True, function=0),
            **({"damped": _plane(name, 1, 0.05, function=0)} if name.endswith("_quad") else {}),
        }
        for name in solid_plane.KINDS
    },
    **{f"shell_{cell}": {"": _shell(cell), "damped": _shell(cell, 0.05)} for cell in shell.CELLS},
    **{f"membrane_{cell}": {"": _membrane(cell), "damped": _membrane(cell, 0.05)} for cell in shell.CELLS},
    **{f"shell_{cell}": {"": _quadratic_shell(cell), "damped": _quadratic_shell(cell, 0.05)} for cell in tying.CELLS},
    **{name: _face_load(name) for name in solid_loads.TYPES},
}


# --- reduced parts ---------------------------------------------------------------------------------------------------
def _flexible_body(dimension, damping=0.0, loads=()):
    """Moments of random point masses with two random shapes, stiffness, damping, stiffening by loads of the frame."""

    def par(rng):
        m, c, shapes = rng.uniform(0.5, 1.5, 9), rng.normal(size=(9, dimension)), rng.normal(size=(9, dimension, 2))
        J = point_moments(m, c, 0.3 * shapes).matrix()
        K, D = (_matrix(rng, 2) for _ in range(2))
        stiffening = {name: _matrix(rng, 2) for name in loads}
        return flexible_body.parameters(J, 5.0 * K, damping * D, stiffening, slowest=0.0 if loads else 3.0)

    # (its velocities are state of their own; loads of the frame have no potential)
    return Case(par, short_step=1e-3, rigid=False, potential=not loads)


def point_moments(m, c, shapes):
    """Moments of masses m (k,) at c (k, dim) with shapes (k, dim, n)."""
    return Moments(
        m.sum(), m @ c, np.einsum("k,ka,kb->ab", m, c, c), np.einsum("k,kan->an", m, shapes),
        np.einsum("k,ka,kbn->abn", m, c, shapes), np.einsum("k,kam,kbn->abmn", m, shapes, shapes),
    )  # fmt: skip


_PLANE_LOADS = ("ax", "ay", "alphaz", "wz2")
CASES |= {
    f"flexible_body{d}_2": {
        "": _flexible_body(d),
        "damped": _flexible_body(d, 0.3),
        "stiffened": _flexible_body(d, 0.3, _PLANE_LOADS if d == 2 else flexible_body.LOADS),
    }
    for d in (2, 3)
}


def _flexible_point(dimension, components=()):
    """A tie whose place has displacements of second order."""

    def par(rng):
        rows = [value for a in components for value in (a, *_matrix(rng, 2).ravel())]
        return (1.7, *_off(rng, 3 * dimension), *((len(components), *rows) if components else ()))

    return Case(par, vector_multipliers=True)


CASES |= {
    f"flexible_point{d}_2": {"": _flexible_point(d), "second_order": _flexible_point(d, range(d))} for d in (2, 3)
}
CASES |= {f"flexible_orientation{d}_2": Case(lambda rng, k=k: (1.7, *_off(rng, 2 * k))) for d, k in ((2, 1), (3, 3))}


def _definite(n):
    """The upper triangle of a random positive definite matrix (n, n)."""

    def entries(rng):
        A = rng.normal(size=(n, n))
        return (A @ A.T + np.eye(n))[np.triu_indices(n)]

    return entries


def _translational(rng):
    a, b, c = _definite(2)(rng)
    return a + 2 * b + c, a, b, c


CASES |= {
    **{f"translational_mass{d}_2": Case(_translational) for d in (2, 3)},
    **{
        f"turning_mass{d}_2": Case(
            lambda rng, d=d: (0.7, 0.4, *_definite(6 * (d - 1))(rng)), rigid=False, short_step=2e-3
        )
        for d in (2, 3)
    },
}


def _flexible_load(dimension, turns, function=0, moment=1.0):
    """Random forces and moments on a body with two shapes, turning with it or not."""

    def par(rng):
        r = 3 if dimension == 3 else 1
        forces, moments = rng.normal(size=(1 + 3 * dimension, dimension)), rng.normal(size=(1 + 2 * r, r))
        rotation = None if turns else (triad(rng) if dimension == 3 else _turn(0.7))
        return (function, *flexible_load.parameters(forces, moment * moments, rotation))

    return par


# (fixed moments in space have no potential, unlike fixed forces)
CASES |= {
    f"flexible_load{d}_2": {
        "follower": Case(_flexible_load(d, True), isolated=False, potential=False),
        "fixed": Case(_flexible_load(d, False), isolated=False, potential=d == 2),
        "forces": Case(_flexible_load(d, False, -1, 0.0), isolated=False),
    }
    for d in (2, 3)
}
