"""Mutated decks become a model, or end in one error with file and line."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from deck_text import MUTATIONS, at, brick, mesh_text, nset, steel, step

from fem_mbs.decks.abaqus.run import convert
from fem_mbs.decks.notes import Accept
from fem_mbs.errors import InputError
from fem_mbs.meshes.abaqus.reader import read_deck


def solids() -> str:
    """Two blocks that are tied, with couplings, a rigid body, local axes, temperatures and all kinds of loads."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0))
    other, second = brick((1, 1, 1), (1.0, 1.0, 1.0), first=101, origin=(2.0, 0.0, 0.0), element=11)
    extra = {201: (3.5, 0.5, 0.5), 202: (5.0, 0.0, 0.0), 203: (6.0, 0.0, 0.0), 204: (0.5, 0.5, 0.5)}
    text = "*HEADING\nblocks\n" + mesh_text(nodes | other | {k: np.array(v) for k, v in extra.items()}, elements)
    text += "*ELEMENT, TYPE=C3D8I, ELSET=EB\n" + "".join(f"{e}, {', '.join(map(str, c))}\n" for e, c in second.items())
    text += nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(other, 0, 3.0)) + "*NSET, NSET=MID, GENERATE\n101, 104, 1\n"
    text += "*SURFACE, NAME=SA\n2, S4\n*SURFACE, NAME=SB\n11, S6\n*SURFACE, NAME=SC\n11, S4\n"
    text += "*SURFACE, NAME=N, TYPE=NODE\nTIP\n"
    text += "*ORIENTATION, NAME=OR, SYSTEM=RECTANGULAR\n0., 1., 0., 0., 0., 1.\n1, 30.\n"
    text += steel().replace("*DENSITY", "*EXPANSION, ZERO=20.\n1.2e-5\n*DAMPING, ALPHA=.1, BETA=1e-5\n*DENSITY")
    text += "*MATERIAL, NAME=W\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n"
    text += "1e10, 5e8, 5e8, .3, .3, .3, 7e8, 7e8\n7e8\n*DENSITY\n500.\n"
    text += "*SOLID SECTION, ELSET=EB, MATERIAL=W, ORIENTATION=OR\n"
    text += "*TIE, NAME=T1, POSITION TOLERANCE=.1\nSB, SA\n*TRANSFORM, NSET=MID, TYPE=C\n0., 0., 0., 1., 0., 0.\n"
    text += "*COUPLING, REF NODE=201, SURFACE=SC, CONSTRAINT NAME=C1\n*DISTRIBUTING\n1, 3\n"
    text += (
        "*RIGID BODY, NSET=FIX, REF NODE=202, ROT NODE=203\n*EQUATION\n2\n204, 1, 1., 3, 1, -1.\n*MPC\nBEAM, 2, 204\n"
    )
    text += "*AMPLITUDE, NAME=RAMP\n0., 0., .5, 1., 1., 1.\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 0.\n"
    text += "*BOUNDARY\n202, 1, 3\n203, 1, 3\n204, 2, 3\n"
    first = "*STATIC\n.5, 1.\n*CLOAD, AMPLITUDE=RAMP\nTIP, 2, 10.\n201, 3, 1.\n"
    first += "*DLOAD\nEALL, P1, 5.\nEB, GRAV, 9.81, 0., 0., -1.\n"
    first += "*DSLOAD\nSC, P, 3.\n*TEMPERATURE\nNALL, 10.\n*NODE PRINT, NSET=TIP\nU, RF\n*EL PRINT, ELSET=EB\nS, E\n"
    return text + step(first, "NLGEOM") + step("*FREQUENCY\n3, 0., 1e6\n", "PERTURBATION")


def frame() -> str:
    """Beams, a truss, springs, dashpots, masses, MPCs; transients and buckling."""
    text = (
        "*NODE, NSET=NALL\n"
        + "".join(f"{i}, {0.5 * i}, 0., 0.\n" for i in range(1, 8))
        + "8, 2., 1., 0.\n9, 3., 1., 0.\n"
    )
    text += "*ELEMENT, TYPE=B31, ELSET=B\n1, 1, 2\n2, 2, 3\n*ELEMENT, TYPE=B32R, ELSET=C\n3, 3, 4, 5\n4, 5, 6, 7\n"
    text += "*ELEMENT, TYPE=T3D2, ELSET=T\n5, 4, 8\n*ELEMENT, TYPE=SPRINGA, ELSET=SP\n6, 7, 8\n"
    text += "*ELEMENT, TYPE=DASHPOTA, ELSET=DP\n7, 7, 8\n*ELEMENT, TYPE=MASS, ELSET=M\n8, 7\n"
    text += "*ELEMENT, TYPE=SPRING1, ELSET=S1\n9, 3\n*ELEMENT, TYPE=ROTARYI, ELSET=R\n10, 7\n"
    text += "*MATERIAL, NAME=A\n*ELASTIC\n7e10, .3, 0.\n6e10, .3, 100.\n*DENSITY\n2700.\n"
    text += "*BEAM SECTION, ELSET=B, MATERIAL=A, SECTION=PIPE\n.02, .002\n0., 1., 0.\n"
    text += "*BEAM SECTION, ELSET=C, MATERIAL=A, SECTION=RECT, OFFSET1=.5\n.02, .03\n0., 0., 1.\n"
    text += "*SOLID SECTION, ELSET=T, MATERIAL=A\n1e-4\n*SPRING, ELSET=SP, NONLINEAR\n\n-1., -.1\n0., 0.\n2., .1\n"
    text += "*DASHPOT, ELSET=DP\n\n5.\n*MASS, ELSET=M\n2.\n*SPRING, ELSET=S1\n2\n100.\n"
    text += "*ROTARY INERTIA, ELSET=R\n.1, .1, .1\n"
    text += "*MPC\nPIN, 9, 8\n*INITIAL CONDITIONS, TYPE=VELOCITY\n7, 2, 1.\n*BOUNDARY\n1, 1, 6\n8, PINNED\n"
    motion = "*DYNAMIC, ALPHA=-.1, DIRECT\n.01, .1\n*CLOAD\n7, 3, 5.\n*DLOAD\nB, PY, 2.\n"
    motion += "*NODE PRINT, NSET=NALL, FREQUENCY=2\nU, V\n"
    return text + step(motion) + step("*BUCKLE\n2\n*CLOAD\n7, 1, -1.\n")


def plane() -> str:
    """Plane stress and axes of the material."""
    text = "*NODE, NSET=NALL\n1, 0., 0.\n2, 1., 0.\n3, 2., 0.\n4, 0., 1.\n5, 1., 1.\n6, 2., 1.\n"
    text += "*ELEMENT, TYPE=CPS4, ELSET=EALL\n1, 1, 2, 5, 4\n2, 2, 3, 6, 5\n" + steel().replace(
        "=STEEL\n*EL", "=STEEL\n*EL"
    )
    return text + "*BOUNDARY\n1, 1, 2\n4, 1\n" + step("*STATIC\n*DLOAD\n2, P2, -1e5\n*EL PRINT, ELSET=EALL\nS, ENER\n")


def parts() -> str:
    """Parts of shells that are tied, with a stiffness of their own, loads on edges, driven supports and matrices."""
    text = "*PART, NAME=P\n*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 0., 1., 0.\n4, 1., 1., 0.\n"
    text += "*ELEMENT, TYPE=S4R, ELSET=E\n1, 1, 2, 4, 3\n*NSET, NSET=LEFT\n1, 3\n*NSET, NSET=RIGHT\n"
    text += "2, 4\n*SHELL GENERAL SECTION, ELSET=E, DENSITY=8.\n"
    text += "8e6, 2e6, 6e6, 0., 0., 3e6, 0., 0.\n0., 700., 0., 0., 0., 100., 500., 0.\n0., 0., 0., 0., 250.\n"
    text += "*TRANSVERSE SHEAR\n4e3, 4e3, 0.\n*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I, PART=P\n*END INSTANCE\n"
    text += "*INSTANCE, NAME=J, PART=P\n1., 0., 0.\n*END INSTANCE\n*INSTANCE, NAME=K, PART=P\n2., 0., .001\n"
    text += "*END INSTANCE\n*ELSET, ELSET=EI, INSTANCE=I\n1\n*ELSET, ELSET=EJ, INSTANCE=J\n1\n"
    text += "*SURFACE, NAME=ONE\nEI, E2\n*SURFACE, NAME=TWO\nEJ, E4\n*SURFACE, NAME=TOP\nEJ, SPOS\n"
    text += "*SURFACE, TYPE=NODE, NAME=NJ\nJ.RIGHT\n*SURFACE, TYPE=NODE, NAME=NK\nK.LEFT\n"
    text += "*TIE, NAME=T1\nTWO, ONE\n*TIE, NAME=T2, POSITION TOLERANCE=.1, NO ROTATION\nNK, NJ\n*END ASSEMBLY\n"
    text += "*AMPLITUDE, NAME=R\n0., 0., 1., 1.\n*BOUNDARY\nI.LEFT, ENCASTRE\nK.RIGHT, 3, 6\n"
    text += step("*STATIC\n*DSLOAD\nONE, EDNOR, 5.\nTWO, EDLD, 5., 0., 0., 1.\nTOP, TRVEC, 2., 1., 0., 0.\n")
    text += step("*DYNAMIC, EXPLICIT\n, .1\n*BULK VISCOSITY\n.06, 1.2\n*BOUNDARY, TYPE=ACCELERATION, AMPLITUDE=R\n"
                 "I.LEFT, 1, 1, 2.\n", "NLGEOM=NO")  # fmt: skip
    return text + step("*MATRIX GENERATE, STIFFNESS, MASS\n*MATRIX OUTPUT, STIFFNESS\n")


SOURCES = [text.splitlines() for text in (solids(), frame(), plane(), parts())]
WORDS = [
    "*", "**", ",", "=", '"', "", "0", "-1", "7", "1e9", "1e-300", "1e300", "99999999999999999999", "nan", "NALL",
    "EALL", "TIP", "SA", "STEEL", "GENERATE", "S1", "P9", "*STEP", "*END STEP", "*STATIC", "*NODE",
    "*ELEMENT, TYPE=C3D8", "*EQUATION", "*COUPLING", "*KINEMATIC", "*SURFACE, NAME=LID", "*MATERIAL, NAME=M",
    "*ELASTIC, TYPE=ORTHO",
    "*BOUNDARY", "*BEAM SECTION", "*RIGID BODY", "*TIE", "\u00e9", "\t", "NLGEOM", "TYPE=",
]  # fmt: skip
TABLE = re.compile(r"\d+(, -?[\d.]+){3,}")


def mutated(seed: int) -> str:
    """A deck with one to three lines, fields, numbers or names dropped, doubled, exchanged or garbled.

    Three of four changes are outside of the tables of nodes and elements.
    """
    rng = np.random.default_rng(seed)
    lines = list(SOURCES[seed % len(SOURCES)])

    def word() -> str:
        return WORDS[rng.integers(len(WORDS))]

    for _ in range(rng.integers(1, 4)):
        chosen = (
            [k for k, line in enumerate(lines) if not TABLE.fullmatch(line)] if rng.integers(4) else range(len(lines))
        )
        i, what = int(rng.choice(chosen)), rng.integers(9)
        fields = lines[i].split(",")
        k = int(rng.integers(len(fields)))
        if what == 0 and len(lines) > 1:
            del lines[i]
        elif what == 1:
            lines.insert(int(rng.integers(len(lines))), lines[i])
        elif what == 2:
            j = int(rng.integers(len(lines)))
            lines[i], lines[j] = lines[j], lines[i]
        elif what == 3:
            lines[i] = lines[i][: rng.integers(len(lines[i]) + 1)]
        elif what == 4:
            lines.insert(i, word())
        elif what == 5:
            fields[k] = word()
            lines[i] = ",".join(fields)
        elif what == 6:
            lines[i] = ",".join(fields[:k] + fields[k + 1 :])
        elif what == 7:  # another number of the deck
            other = str(rng.choice(re.findall(r"[-\d.e]+", " ".join(lines))))
            lines[i] = re.sub(r"\d+\.?\d*", other, lines[i], count=1)
        else:
            at_ = int(rng.integers(len(lines[i]) + 1))
            lines[i] = lines[i][:at_] + word() + lines[i][at_:]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("text", [solids(), frame(), plane(), parts()], ids=["solids", "frame", "plane", "parts"])
def test_the_decks_themselves_are_accepted(tmp_path, text):
    path = tmp_path / "d.inp"
    path.write_text(text, encoding="utf-8")
    assert convert(read_deck(path)).steps


def test_mutated_decks_become_a_model_or_one_error(tmp_path):
    path = tmp_path / "d.inp"
    accepted = 0
    for seed in range(MUTATIONS):
        path.write_text(mutated(seed), encoding="utf-8")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of numbers near the ends of their range
                convert(read_deck(path), accept=Accept.ALLOW if seed % 2 else Accept.NORMAL)
            accepted += 1
        except InputError as error:
            message = str(error)
            assert "\n" not in message, f"seed {seed}: {message!r}"
            assert re.match(r"d\.inp, line \d+: ", message), f"seed {seed}: {message}"
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
    assert 0.02 * MUTATIONS < accepted < 0.98 * MUTATIONS
