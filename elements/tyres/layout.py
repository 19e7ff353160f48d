"""Columns of the parameters of tyres, and numbers and vectors of their evaluation (`fem_mbs.elements.tyres.tyre`)."""

from __future__ import annotations

from fem_mbs.elements.contact.law import LAW_COLUMNS
from fem_mbs.elements.tyres.slip import SLIP_COLUMNS

#: Least speed of transport of tyres with states [m/s]: at rest deflections creep by it over the relaxation length.
FLOOR = 1e-6
MIDDLE = 2  # of a step, beside its ends 0 and 1
SHAPE = len(LAW_COLUMNS)
RADIUS, CROWN, ROLLING, SHRINKING = range(SHAPE, SHAPE + 4)
SLIP_LAW = SHAPE + 4
OPTIONS = SLIP_LAW + len(SLIP_COLUMNS)
CAMBER, TRAIL, RESISTANCE, SMOOTH, LEAST_SPEED, LARGEST_SLIP, THEORETICAL = range(OPTIONS, OPTIONS + 7)
RELAXATION, RETARDATION, ROAD = OPTIONS + 7, OPTIONS + 9, OPTIONS + 10
NORMAL, FORWARD, ORIGIN, CENTRE, AXIS = range(OPTIONS + 11, OPTIONS + 26, 3)
#: Names of the parameters; the table of the normal force and that of the road follow, then the sizes of states.
COLUMNS = (
    *LAW_COLUMNS, "radius [m]", "crown radius [m]", "rolling radius [m]", "shrinking", *SLIP_COLUMNS,
    "camber thrust", "trail [m]", "rolling resistance", "smoothing speed [m/s]", "least speed [m/s]", "largest slip",
    "theoretical", "relaxation length x [m]", "relaxation length y [m]", "retardation [s]", "road pieces",
    *(f"{name}{c}{u}" for name, u in (("n", ""), ("e", ""), ("o", " [m]"), ("c", " [m]"), ("a", "")) for c in "xyz"),
)  # fmt: skip

TAIL = len(COLUMNS)
ENTRIES = 9  # entries of numbers: the value, then the derivatives by dx, theta and two states
WHEEL = 6  # unknowns of the wheel's node
NUMBERS, VECTORS = 21, 13
# numbers (rows of S), and vectors (rows of W) of `evaluate` in `fem_mbs.elements.tyres.tyre`
(
    LOAD, TILTING, SLOPE, DEPTH, SPEED, SLIDING, SLIDING_Y, ROLLING_SPEED, TRANSPORT, CAMBER_SINE, ROLLING_ARM, FIRST,
    RIM_SPEED, SECOND, FORCE_X, FORCE_Y, SLIPS, SLIP_Y, TRAIL_SHARE, MORE, SLOWNESS,
) = range(NUMBERS)  # fmt: skip
PLACE, AXLE, VELOCITY, SPIN, UP, AHEAD, ROAD_UP, UNIT_AXLE, X_AXIS, Y_AXIS, DOWN, ARM, VECTOR = range(VECTORS)
# values of it that have no derivatives (entries of out)
MEAN, CHANGE, RATE = range(3)
