"""Campbell diagram of the rotor of three discs with ROSS, run with the interpreter of its environment; prints one line
for `rotor.py`.

python peer_rotor_ross.py --n 13 --speeds 50
"""

import argparse
import json
import time
import warnings

import numpy as np
from rotor_data import BEARINGS, DAMPING, DENSITY, DIAMETER, DISCS, FREQUENCIES, LENGTH, TOP, E, nu

warnings.filterwarnings("ignore")

import ross as rs  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=13)
    parser.add_argument("--speeds", type=int, default=50)
    given = parser.parse_args()
    n = given.n
    steel = rs.Material("steel", rho=DENSITY, E=E, Poisson=nu)
    shaft = [
        rs.ShaftElement(
            L=LENGTH / n, idl=0, odl=DIAMETER, material=steel, shear_effects=True, rotary_inertia=True, gyroscopic=True
        )
        for _ in range(n)
    ]
    discs = [
        rs.DiskElement.from_geometry(n=round(x / LENGTH * n), material=steel, width=w, i_d=DIAMETER, o_d=outer)
        for x, w, outer in DISCS
    ]
    bearings = [
        rs.BearingElement(n=i, kxx=BEARINGS[0], kyy=BEARINGS[1], cxx=DAMPING[0], cyy=DAMPING[1]) for i in (0, n)
    ]
    rotor = rs.Rotor(shaft, discs, bearings)
    wall, cpu = time.perf_counter(), time.process_time()
    found = np.asarray(rotor.run_campbell(np.linspace(0.0, TOP, given.speeds), frequencies=FREQUENCIES).wd)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rows = {f"{k}_hz": (np.sort(found[i]) / (2.0 * np.pi)).tolist() for k, i in (("first", 0), ("last", -1))}
    print("JSON " + json.dumps({"wall_s": wall, "cpu_s": cpu, "dofs": int(rotor.ndof), "results": rows}))


if __name__ == "__main__":
    main()
