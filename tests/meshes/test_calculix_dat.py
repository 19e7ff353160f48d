"""Printed results of CalculiX as arrays."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from places import SHARED_DECKS

from fem_mbs.errors import MeshError
from fem_mbs.meshes.abaqus.calculix_dat import read_dat

# Made by hand in CalculiX's layout; the numbers mean nothing.
DAT = """
                        S T E P       1


                                INCREMENT     3


 displacements (vx,vy,vz) for set TIP and time  0.5000000E+00

        12  1.000000E-01 -2.000000E-02  3.000000-103
         7  0.000000E+00           NaN  0.000000E+00

 forces (fx,fy,fz) for set BASE and time  0.5000000E+00

         1 -1.000000E+00 -2.000000E+00-3.000000E+00

 total force (fx,fy,fz) for set BASE and time  0.5000000E+00

       -1.000000E+00 -2.000000E+00 -3.000000E+00

 stresses (elem, integ.pnt.,sxx,syy,szz,sxy,sxz,syz) for set EALL and time  0.5000000E+00

         4   1  1.000000E+00  2.000000E+00  3.000000E+00  4.000000E+00  5.000000E+00  6.000000E+00 ROUND
         4   2  7.000000E+00  8.000000E+00  9.000000E+00  1.000000E+01  1.100000E+01  1.200000E+01 ROUND

 internal energy density (elem, integ.pnt.,energy) for set EALL and time  0.5000000E+00

         4   1  1.500000E+00

 internal energy (element, energy) for set EALL and time  0.5000000E+00

         4  2.500000E+00
         5  3.500000E+00

 total internal energy for set EALL and time  0.5000000E+00

        6.000000E+00

 center of gravity for set EALL and time  0.5000000E+00

        1.000000E+00  2.000000E+00  3.000000E+00

 novel things (node, a, b) for set EALL and time  0.5000000E+00

         9  1.000000E+00  2.000000E+00

                        S T E P       2


     E I G E N V A L U E   O U T P U T

 MODE NO    EIGENVALUE                       FREQUENCY
                                     REAL PART            IMAGINARY PART
                           (RAD/TIME)      (CYCLES/TIME     (RAD/TIME)

      1  -0.4000000E+01   0.0000000E+00   0.0000000E+00   0.2000000E+01
      2   0.9000000E+01   0.3000000E+01   0.4774648E+00   0.0000000E+00

     P A R T I C I P A T I O N   F A C T O R S

MODE NO.   X-COMPONENT     Y-COMPONENT     Z-COMPONENT     X-ROTATION      Y-ROTATION      Z-ROTATION

      1   0.1000000E+00   0.2000000E+00   0.3000000E+00   0.4000000E+00   0.5000000E+00   0.6000000E+00
      2   0.7000000E+00   0.8000000E+00   0.9000000E+00   0.1000000E+01   0.1100000E+01   0.1200000E+01

     E F F E C T I V E   M O D A L   M A S S

MODE NO.   X-COMPONENT     Y-COMPONENT     Z-COMPONENT     X-ROTATION      Y-ROTATION      Z-ROTATION

      1   0.1000000E-01   0.4000000E-01   0.9000000E-01   0.1600000E+00   0.2500000E+00   0.3600000E+00
      2   0.4900000E+00   0.6400000E+00   0.8100000E+00   0.1000000E+01   0.1210000E+01   0.1440000E+01
TOTAL     0.5000000E+00   0.6800000E+00   0.9000000E+00   0.1160000E+01   0.1460000E+01   0.1800000E+01

     T O T A L   E F F E C T I V E   M A S S

           X-COMPONENT     Y-COMPONENT     Z-COMPONENT     X-ROTATION      Y-ROTATION      Z-ROTATION

          0.1000000E+01   0.1000000E+01   0.1000000E+01   0.2000000E+01   0.2000000E+01   0.2000000E+01

     F R A C T I O N   O F   T O T A L S

           X-COMPONENT     Y-COMPONENT     Z-COMPONENT     X-ROTATION      Y-ROTATION      Z-ROTATION

          0.5000000E+00   0.6800000E+00   0.9000000E+00   0.5800000E+00   0.7300000E+00   0.9000000E+00

     E I G E N V A L U E    N U M B E R     2

 displacements (vx,vy,vz) for set TIP and time  0.4774648E+00

        12  1.000000E+00  2.000000E+00  3.000000E+00

                        S T E P       3


     B U C K L I N G   F A C T O R   O U T P U T

 MODE NO       BUCKLING
                FACTOR

      1   0.5000000E+01
      2  -0.7000000E+01

                        S T E P       4


     E I G E N V A L U E   O U T P U T

 MODE NO                     FREQUENCY
                      REAL PART         IMAGINARY PART
             (RAD/TIME)   (CYCLES/TIME)   (RAD/TIME)

      1   0.6283185E+01   0.1000000E+01   0.2500000E+00
"""


def write(folder: Path, text: str, name: str = "deck.dat") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def dat(tmp_path):
    return read_dat(write(tmp_path, DAT))


def test_tables(dat):
    assert [p.quantity for p in dat.prints] == [
        "U", "RF", "RFT", "S", "ENER", "ELSE", "ELSET", "COG", "", "U",
    ]  # fmt: skip
    u, rf, rft, s, ener, energy, total, cog, novel, shape = dat.prints
    assert (u.set_name, u.time, u.step, u.increment, u.mode, u.columns) == ("TIP", 0.5, 1, 3, 0, ("vx", "vy", "vz"))
    assert_array_equal(u.ids, [12, 7])  # in the order of the file
    assert_allclose(u.values, [[0.1, -0.02, 3e-103], [0, np.nan, 0]])
    assert_allclose(rf.values, [[-1, -2, -3]])  # without a blank between the numbers
    assert len(rft.ids) == 0
    assert_allclose(rft.values, [[-1, -2, -3]])
    assert_array_equal(s.ids, [4, 4])
    assert_array_equal(s.points, [1, 2])
    assert_allclose(s.values, np.arange(1.0, 13).reshape(2, 6))
    assert ener.values.shape == (1, 1)
    assert_array_equal(energy.ids, [4, 5])
    assert energy.columns == ("energy",)
    assert_allclose(energy.values[:, 0], [2.5, 3.5])
    assert total.values[0, 0] == 6
    assert_allclose(cog.values, [[1, 2, 3]])
    assert (novel.heading, novel.ids.tolist()) == ("novel things", [9])
    assert (shape.step, shape.increment, shape.mode) == (2, 0, 2)
    assert [p.step for p in dat.find("U", "TIP")] == [1, 2]
    assert dat.find("U", time=0.5) == [u]
    assert dat.find("U", "BASE") == []


def test_modes(dat):
    real, buckling, gyroscopic = dat.modes
    assert (real.kind, real.step) == ("frequency", 2)
    assert_allclose(real.eigenvalue, [-4, 9])
    assert_allclose(real.omega, [2j, 3])
    assert_allclose(real.frequency, [0, 3 / (2 * np.pi)], rtol=1e-6)
    assert_allclose(real.participation[1], [0.7, 0.8, 0.9, 1, 1.1, 1.2])
    assert_allclose(real.effective_mass, real.participation**2, atol=1e-12)
    assert_allclose(real.total_mass, [1, 1, 1, 2, 2, 2])
    assert (buckling.kind, buckling.step) == ("buckling", 3)
    assert_allclose(buckling.factor, [5, -7])
    assert np.isnan(buckling.participation).all()
    assert gyroscopic.kind == "complex"
    assert_allclose(gyroscopic.omega, [6.283185 + 0.25j])
    assert dat.skipped == ("line 80: 'F R A C T I O N   O F   T O T A L S'",)


def test_empty_file(tmp_path):
    dat = read_dat(write(tmp_path, ""))
    assert (dat.prints, dat.modes) == ((), ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-2.000000E-02  3.000000-103", "-2.0", r"line 11: 4 numbers where"),
        ("TIP and time  0.5000000E+00", "TIP and time  soon", r"line 8: the time 'soon'"),
        ("        12  1.000000E-01", "      12.5  1.000000E-01", r"line 8: .* not whole"),
        ("        12  1.000000E-01", "        12 x1.000000E-01", r"line 10: 'x1.000000E-01' is not a number"),
        ("   0.4774648E+00   0.0000000E+00\n", "\n", r"line 57: 3 numbers where"),
    ],
)
def test_broken_tables(tmp_path, old, new, message):
    assert old in DAT
    with pytest.raises(MeshError, match=r"^deck\.dat, (" + message + ")"):
        read_dat(write(tmp_path, DAT.replace(old, new, 1)))


def test_number_too_wide_for_its_column(tmp_path):
    dat = read_dat(write(tmp_path, DAT.replace("1.000000E-01 -2", "************ -2", 1)))
    assert_allclose(dat.prints[0].values[0], [np.nan, -0.02, 3e-103])


def test_no_such_file(tmp_path):
    with pytest.raises(MeshError, match="cannot be read"):
        read_dat(tmp_path / "none.dat")


def shared_results() -> list:
    found = sorted(SHARED_DECKS.glob("*.dat.ref")) if SHARED_DECKS.is_dir() else []
    return found or [pytest.param(None, marks=pytest.mark.skip(reason=f"no results in {SHARED_DECKS}"))]


@pytest.mark.parametrize("path", shared_results(), ids=lambda p: p.name if p else "none")
def test_results_of_calculix(path):
    dat = read_dat(path)
    text = path.read_text()
    assert len(dat.prints) == len(re.findall(r"(?m)^ .* for set .* and time", text))
    assert len(dat.modes) == len(re.findall(r"E I G E N V A L U E   O U T P U T|B U C K L I N G", text))
    assert all(p.quantity and p.step and len(p.values) for p in dat.prints)
    assert all(len(m.mode) and np.array_equal(m.mode, np.arange(1, len(m.mode) + 1)) for m in dat.modes)
    for m in dat.modes:
        if m.kind == "frequency":
            assert_allclose(np.real(m.omega**2), m.eigenvalue, rtol=1e-5, atol=1e-5 * np.abs(m.eigenvalue).max())
    # every row of numbers is in a table, but for sums and what `skipped` names
    rows = sum(len(p.values) for p in dat.prints)
    rows += sum(len(m.mode) * (3 if np.isfinite(m.participation).all() and len(m.eigenvalue) else 1) for m in dat.modes)
    numbers = len(re.findall(r"(?m)^ +[-0-9.E+ ]+$", text))
    assert rows <= numbers
    if not dat.skipped:
        assert rows == numbers - len(re.findall(r"(?m)^ +\S+(?: +\S+){5}$(?=\n\n\n? +F R A C)", text))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_mutated_file_is_read_or_refused(tmp_path, data):
    lines = DAT.splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        i = data.draw(st.integers(0, len(lines) - 1))
        at = data.draw(st.integers(0, len(lines[i])))
        what = data.draw(st.sampled_from(["delete", "cut", "copy", "word"]))
        if what == "delete":
            del lines[i]
        elif what == "copy":
            lines.insert(data.draw(st.integers(0, len(lines))), lines[i])
        elif what == "cut":
            lines[i] = lines[i][:at]
        else:
            word = data.draw(st.sampled_from(["1", "x", "nan", "-", "E", "*****", " for set A and time 1", "é"]))
            lines[i] = lines[i][:at] + word + lines[i][at:]
    try:
        dat = read_dat(write(tmp_path, "\n".join(lines)))
    except MeshError as error:
        assert re.match(r"deck\.dat, line \d+: [^\n]+$", str(error))
    else:
        assert all(p.values.ndim == 2 for p in dat.prints)


SURFACE = """
                        S T E P       2
                                INCREMENT     1

 statistics for surface set S1 and time  0.1000000E+01

   total surface force (fx,fy,fz) and moment about the origin(mx,my,mz)

    1.000000E+00  2.000000E+00  3.000000E+00  4.000000E+00-5.000000E+00  6.000000E+00

   center of gravity and mean normal

    5.000000E-01  5.000000E-01  6.000000E+00  0.000000E+00  0.000000E+00  1.000000E+00

   moment about the center of gravity(mx,my,mz)

   -1.000000E+01  0.000000E+00  2.000000E+00

   area, normal force (+ = tension), shear force (size), torque and bending moment (size)

    7.000000E-01  3.000000E+00  2.236068E+00  2.000000E+00  1.000000E+01

 displacements (vx,vy,vz) for set N1 and time  0.1000000E+01

       100  3.000000E+00  2.000000E+00  1.000000E+00
"""


def test_forces_of_a_surface(tmp_path):
    (tmp_path / "a.dat").write_text(SURFACE)
    found = {p.quantity: p for p in read_dat(tmp_path / "a.dat").prints}
    assert list(found) == ["SOF", "SOM", "SOCG", "SOMCG", "SOAREA", "U"]
    assert found["SOM"].values.tolist() == [[4.0, -5.0, 6.0]]
    assert (found["SOM"].set_name, found["SOM"].step, found["SOM"].time) == ("S1", 2, 1.0)
    assert found["SOAREA"].values[0, 0] == 0.7 and not len(found["SOAREA"].ids)
    for old, new in (
        ("  3.000000E+00  4.00", "  4.00"),
        ("area, normal", "a, normal"),
        ("0.1000000E+01\n\n   tot", "x\n\n   tot"),
    ):
        (tmp_path / "a.dat").write_text(SURFACE.replace(old, new, 1))
        with pytest.raises(MeshError, match=r"a\.dat, line \d+: "):
            read_dat(tmp_path / "a.dat")
