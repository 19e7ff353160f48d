"""Parts of Nastran decks that tests share: a bar, a cube, their material and supports."""

from __future__ import annotations

import numpy as np

CASE = "SPC = 1\nLOAD = 2\nDISPLACEMENT = ALL\nSPCFORCES = ALL\nFORCE = ALL\n"
E, G, NU = 1000.0, 400.0, 0.25
STEEL = f"MAT1,1,{E},{G},{NU}\n"
#: A bar of length 2 along x: A = .5, I1 = .02 (bending in x-y), I2 = .03, J = .04.
BAR = STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nCBAR,1,1,1,2,0.,1.,0.\n"
PBAR = "PBAR,1,1,.5,.02,.03,.04\n"
HELD = "SPC1,1,123456,1\n"
L = 2.0
CUBE = STEEL + (
    "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,1.,1.,0.\nGRID,4,,0.,1.,0.\nGRID,5,,0.,0.,1.\nGRID,6,,1.,0.,1.\n"
    "GRID,7,,1.,1.,1.\nGRID,8,,0.,1.,1.\nCHEXA,1,1,1,2,3,4,5,6,+\n+,7,8\nPSOLID,1,1,0,,,FULL\n"
)


def close(a, b, rtol=1e-8, atol=1e-10):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
