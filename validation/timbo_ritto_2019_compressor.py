"""A centrifugal compressor on tilting pads with labyrinth seals: whirling frequencies and their damping.

      pads                balance piston and six impellers, a seal on either side             pads
       ||     ____________ | | | | | | ______________
      =================================================       1.653 m, 246.9 kg, steel 206.84 GPa; sleeves only add mass
       ||     piston seal  (destabilising cross couplings)    ||

Source: R. Timbo, T.G. Ritto, "Impact of damper seal coefficients uncertainties in rotor dynamics", J. Braz. Soc. Mech.
Sci. Eng. 41 (2019), 165, doi:10.1007/s40430-019-1652-8, the compressor of the examples of ROSS
(`ross.compressor_example`).  Lengths, diameters, masses and coefficients are those of the file of ROSS 2.3.0; the
coefficients at the two speeds are as ROSS interpolates them.  ROSS computed the eigenvalues with one and with two
elements from station to station.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs, published
from fem_mbs.validation.kinds import program

CAPABILITY = "rotors"
CASES = {"B-COMPRESSOR": "whirling frequencies and their damping of a compressor with seals, at 4000 and 8000 rpm"}

AXIS = (1.0, 0.0, 0.0)
E, G, DENSITY = 206.8423e9, 82.73694e9, 7833.412
NU = E / (2.0 * G) - 1.0
SPEEDS = (418.87902047863906, 837.7580409572781)
#: From station to station: length, diameter, diameter of the bore, and outer diameter of a sleeve, 0 if none [mm].
SHAFT = (
    (35.5, 151.003, 140.9954, 0), (36, 151.003, 140.9954, 0), (54, 80, 0, 0), (43, 80, 0, 0), (16.5, 88, 0, 0),
    (14, 88, 0, 0), (36.5, 90, 0, 0), (51, 90, 0, 0), (25, 103, 0, 138), (16, 85, 0, 138), (24.2, 104, 0, 174),
    (4.5, 98.2, 0, 174), (12.57, 104, 0, 174), (20, 106, 0, 184), (62.73, 108, 0, 184), (38, 110, 0, 184),
    (38, 122, 0, 139), (30, 135, 0, 175), (53, 117.7, 0, 196.5), (19.49, 122.35, 0, 127), (13.51, 122.35, 0, 127),
    (49.5, 117.7, 0, 0), (19.59, 122.35, 0, 127), (12.41, 122.35, 0, 127), (49, 117.7, 0, 0), (19.7, 122.35, 0, 127),
    (12.3, 122.35, 0, 127), (49.5, 117.7, 0, 0), (19.83, 122.35, 0, 127), (11.67, 122.35, 0, 127), (49.5, 117.7, 0, 0),
    (19.98, 122.35, 0, 127), (12.02, 122.35, 0, 127), (49.5, 117.7, 0, 0), (20.1, 122.35, 0, 127),
    (12.4, 122.35, 0, 127), (57, 117.7, 0, 0), (26, 135, 0, 175), (38, 122, 0, 139), (38, 110, 0, 184),
    (62.73, 108, 0, 184), (20, 106, 0, 184), (12.57, 104, 0, 174), (4.5, 98.2, 0, 174), (24.2, 104, 0, 174),
    (16, 85, 0, 138), (25, 103, 0, 138), (51, 90, 0, 0), (50.5, 90, 0, 0), (36.375, 90, 0, 0), (36.375, 90, 0, 0),
    (13.5, 90, 0, 0), (35, 90, 0, 245), (24, 87.2, 0, 112), (32, 85, 0, 113),
)  # fmt: skip
COUPLING = (3, 15.119982)
#: Station of an impeller, mass [kg], moments of inertia across and about the axis [kg m^2].
IMPELLERS = (
    (20, 6.909991782, 0.02499983979, 0.04699969881), (23, 6.929991758, 0.02499983979, 0.04699969881),
    (26, 6.949991735, 0.02499983979, 0.04799969240), (29, 6.979991699, 0.02499983979, 0.04799969240),
    (32, 6.939991747, 0.02499983979, 0.04799969240), (35, 6.959991723, 0.02499983979, 0.04799969240),
)  # fmt: skip
#: Stations of equal bearings, and at each speed stiffnesses xx, xy, yx, yy [N/m], then dampings [N s/m].
PADS = (
    (7, 48),
    (114058356.5, -578233.5327, -520564.2635, 122826957.1, 189136.8626, -550.9982893, -593.7994163, 199661.9277),
    (182482160.7, -351478.6581, -122642.1896, 188156270.2, 148348.4365, -76.14138261, -156.8930411, 151558.7482),
)
PISTON = (
    (18,),
    (145439999.4, 2937801.583, 2937801.583, 145439999.4, 73866.03968, -693.6843651, -693.6843651, 73866.03968),
    (145879998.4, 6003500.097, 6003500.097, 145879998.4, 72946.07937, -1429.825873, -1429.825873, 72946.07937),
)
#: Station of a seal, and at each speed stiffness, cross coupling xy = -yx [N/m], then dampings [N s/m].
SEALS = (
    (21, (298251.4942, 1242499.992, 2290.150398, 208.0430663), (533166.9919, 2850214.141, 2339.962215, 95.73963078)),
    (22, (212004.5954, 438140.48, 844.3487156, 42.31992176), (299441.0193, 1000383.187, 831.7622366, -12.69507563)),
    (24, (252812.0187, 1196154.62, 2236.309606, 229.4837188), (470611.8663, 2738753.92, 2313.960774, 144.769492)),
    (25, (180839.3979, 424916.481, 827.719832, 57.02977099), (259898.3665, 968281.3671, 829.4178822, 16.61649876)),
    (27, (205853.0533, 1147712.452, 2177.274767, 251.0834236), (405945.4746, 2622602.534, 2284.742728, 193.8804345)),
    (28, (162080.0868, 406978.0959, 805.0038995, 63.95490629), (234826.6157, 924346.4322, 816.3706153, 33.17388638)),
    (30, (152572.9488, 1098257.01, 2113.419037, 276.7846684), (332925.6909, 2505190.644, 2255.576232, 249.9116979)),
    (31, (140050.221, 388401.2457, 779.7657798, 72.21875552), (205774.5713, 879261.8004, 802.2917073, 51.95159881)),
    (33, (99565.70134, 1045693.576, 2041.953227, 301.1966439), (260118.7221, 2381000.601, 2221.069182, 303.1616437)),
    (34, (117359.3487, 368248.8626, 750.6040831, 80.06917553), (175870.9176, 830722.5197, 784.7614908, 69.99478549)),
    (36, (42737.0872, 990797.8019, 1962.467689, 327.7722574), (182193.675, 2252993.142, 2183.969851, 359.4698867)),
)


def build(parts: int = 2) -> Model:
    """Return the compressor, with a number of elements from station to station, without steps."""
    model = Model(3, "compressor")
    x = np.concatenate(([0.0], np.cumsum([row[0] for row in SHAFT]))) / 1000.0
    for k, place in enumerate(x):
        model.node(f"station {k}", (place, 0.0, 0.0))
    for k, (_, *diameters) in enumerate(SHAFT):
        _section(model, f"shaft {k}", *(d / 1000.0 for d in diameters))
        names = [f"station {k}", *(f"{k}, {j}" for j in range(1, parts)), f"station {k + 1}"]
        for j, name in enumerate(names[1:-1], 1):
            model.node(name, (x[k] + j / parts * (x[k + 1] - x[k]), 0.0, 0.0))
        for j, ends in enumerate(pairwise(names)):
            model.beams(f"shaft {k}, {j}", list(ends), f"shaft {k}")
    model.point_mass("coupling", f"station {COUPLING[0]}", COUPLING[1])
    for at, mass, diametral, polar in IMPELLERS:
        model.disc(f"impeller {at}", f"station {at}", mass, polar=polar, diametral=diametral, axis=AXIS)
    for name, (stations, *tables) in (("pads", PADS), ("piston", PISTON)):
        for at in stations:
            _bearing(model, f"{name} {at}", at, [table[:4] for table in tables], [table[4:] for table in tables])
    for station, *seals in SEALS:
        stiffness, damping = ([(row[i], row[i + 1], -row[i + 1], row[i]) for row in seals] for i in (0, 2))
        _bearing(model, f"seal {station}", station, stiffness, damping)
    model.fix("station 0", ["x"])
    model.rotor("rotor", axis=AXIS)
    return model


def _section(model: Model, name: str, outer: float, inner: float, sleeve: float) -> None:
    """Add the section of a shaft with a sleeve that adds mass; the shear coefficient is that of Cowper (1966)."""
    area, inertia = np.pi * (outer**2 - inner**2) / 4.0, np.pi * (outer**4 - inner**4) / 64.0
    r = (inner / outer) ** 2
    kappa = 6.0 * (1.0 + NU) * (1.0 + r) ** 2 / ((7.0 + 6.0 * NU) * (1.0 + r) ** 2 + (20.0 + 12.0 * NU) * r)
    wide = max(sleeve, outer)
    model.section(
        name, "stiffness", EA=E * area, GA=kappa * G * area, EI=E * inertia, GJ=2.0 * G * inertia,
        rhoA=DENSITY * np.pi * (wide**2 - inner**2) / 4.0, rhoI=DENSITY * np.pi * (wide**4 - inner**4) / 64.0,
    )  # fmt: skip


def _bearing(model: Model, name: str, at: int, stiffness: list, damping: list) -> None:
    model.bearing(
        name, f"station {at}", stiffness=[list(k) for k in stiffness], damping=[list(c) for c in damping],
        axis=AXIS, direction=(0.0, 1.0, 0.0), speeds=list(SPEEDS),
    )  # fmt: skip


def reference() -> dict[float, tuple[tuple[complex, complex], ...]]:
    """Return eigenvalues [1/s] by the speed [rad/s], with one and with two elements from station to station."""
    return {
        SPEEDS[0]: (
            (-239.720644 + 1020.107820j, -239.704688 + 1020.093350j),
            (-181.057164 + 1043.101084j, -181.049309 + 1043.093664j),
            (-247.033571 + 2212.588006j, -247.011762 + 2212.260899j),
            (-237.983743 + 2271.448633j, -237.949067 + 2271.222504j),
            (-632.390389 + 3531.395311j, -632.168469 + 3530.294974j),
            (-620.084335 + 3642.020040j, -619.861083 + 3641.294242j),
        ),
        SPEEDS[1]: (
            (-277.274989 + 1007.468421j, -277.255643 + 1007.452419j),
            (-134.605643 + 1038.378895j, -134.601741 + 1038.374295j),
            (-1276.611328 + 1453.183757j, -1276.625089 + 1453.255031j),
            (-1296.547039 + 1479.071983j, -1296.540830 + 1479.152915j),
            (-993.008625 + 1620.285564j, -992.856730 + 1620.522736j),
            (-1038.631564 + 1651.527278j, -1038.454885 + 1651.677174j),
            (-280.155864 + 2193.742846j, -280.217248 + 2193.354511j),
            (-245.276241 + 2307.206863j, -245.250502 + 2307.024095j),
        ),
    }


def check(f: Findings) -> None:
    ross = program("ROSS 2.3.0, Rotor.run_modal of its compressor")
    model = build()
    known = reference()
    for speed in known:
        model.complex_modes_step(name=f"{speed:.0f}", count=24, rotor="rotor", speed=speed, frame="fixed")
    curves = []
    for (speed, pairs), step in zip(known.items(), solve(model).steps, strict=True):
        good_pairs(f, "B-COMPRESSOR", f"{speed:.0f} rad/s", step.summary)
        values = np.array(step.summary["eigenvalues"]) @ (1.0, 1j)
        found = []
        for k, (coarse, fine) in enumerate(pairs, 1):
            value = values[np.argmin(np.abs(values - fine))]
            found.append(value)
            for part, what in ((np.imag, "circular frequency"), (np.real, "real part")):
                f.row(
                    "B-COMPRESSOR", f"{what} {k} at {speed:.0f} rad/s [1/s]", part(value), part(fine),
                    "the change from one to two elements in ROSS", ross, tolerance=abs(fine - coarse),
                )  # fmt: skip
        curves.append(Curve(np.real(found), np.imag(found), f"{speed:.0f} rad/s", "o"))
        curves.append(
            published("ROSS" if len(curves) == 1 else "", *(part([b for _, b in pairs]) for part in (np.real, np.imag)))
        )
    f.figure("Eigenvalues", curves, "Real part [1/s]", "Circular frequency [rad/s]")
