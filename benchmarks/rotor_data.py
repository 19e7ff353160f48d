"""The rotor of three discs in two bearings of Lalanne & Ferraris (1998), Rotordynamics Prediction in Engineering, as
`rotor.py` and its peer see it: metres, kilograms, seconds; free of both programs."""

import math

LENGTH, DIAMETER = 1.3, 0.1
E, nu, DENSITY = 2e11, 0.3, 7800.0
#: Place, width and outer diameter of each disc; the shaft runs through them.
DISCS = ((0.2, 0.05, 0.24), (0.5, 0.05, 0.40), (1.0, 0.06, 0.40))
BEARINGS, DAMPING = (5e7, 7e7), (5e2, 7e2)
TOP = 30000.0 * 2.0 * math.pi / 60.0  # [rad/s]
FREQUENCIES = 6
