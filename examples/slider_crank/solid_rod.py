"""Write the connecting rod as a deck of quadratic tetrahedra, solid_rod.inp, for solid.toml.

    python solid_rod.py [FILE] [--along 105] [--across 4]

The rod is round, 6.35 mm thick and 304.8 mm long: 105 x 4 x 4 cubes of six tetrahedra each have 51 273 degrees of
freedom.  Its sets are CRANK_END and SLIDER_END, the faces at the ends, and MIDDLE, the node half-way on the axis.
"""

import argparse
from pathlib import Path

import numpy as np

LENGTH, RADIUS = 0.3048, 0.003175
E, NU, DENSITY = 2.06843e11, 0.3, 7834.56

#: Kuhn's six tetrahedra of a cube: each goes from corner (0, 0, 0) to (1, 1, 1) along the axes, in one order of them.
_ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2))
_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))


def mesh(along: int, across: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (n, 3) [m] and tetrahedra (e, 10), nodes in the order of Abaqus."""
    shape = np.array([2 * along, 2 * across, 2 * across]) + 1
    grid = np.stack(np.meshgrid(*(np.arange(s) for s in shape), indexing="ij"), axis=-1).reshape(-1, 3)
    s, a, b = (grid / (shape - 1)).T
    a, b = 2.0 * a - 1.0, 2.0 * b - 1.0
    # squares about the axis become circles
    size, turned = np.maximum(np.abs(a), np.abs(b)), np.hypot(a, b)
    stretch = RADIUS * size / np.where(turned > 0.0, turned, 1.0)
    x = np.column_stack((LENGTH * s, stretch * a, stretch * b))
    tetrahedra = []
    for order in _ORDERS:
        corners = np.vstack((np.zeros((1, 3), int), np.cumsum(2 * np.eye(3, dtype=int)[list(order)], axis=0)))
        if np.linalg.det(np.diff(corners, axis=0)) < 0:
            corners[[1, 2]] = corners[[2, 1]]
        tetrahedra.append(np.vstack((corners, [(corners[i] + corners[j]) // 2 for i, j in _EDGES])))
    cubes = np.stack(np.meshgrid(*(2 * np.arange(n) for n in (along, across, across)), indexing="ij"), axis=-1)
    at = cubes.reshape(-1, 1, 1, 3) + np.array(tetrahedra)
    index = (at[..., 0] * shape[1] + at[..., 1]) * shape[2] + at[..., 2]
    return x, index.reshape(-1, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).with_name("solid_rod.inp"))
    parser.add_argument("--along", type=int, default=105, help="cubes along the rod")
    parser.add_argument("--across", type=int, default=4, help="cubes across it, an even number")
    given = parser.parse_args()
    path = given.file
    x, cells = mesh(given.along, given.across)
    middle = np.argmin(np.linalg.norm(x - (LENGTH / 2.0, 0.0, 0.0), axis=1))
    sets = {
        "CRANK_END": np.flatnonzero(x[:, 0] == 0.0),
        "SLIDER_END": np.flatnonzero(x[:, 0] == LENGTH),
        "MIDDLE": np.array([middle]),
    }
    with path.open("w", encoding="ascii") as out:
        out.write("*HEADING\nconnecting rod of a slider-crank mechanism, SI units\n*NODE, NSET=NALL\n")
        np.savetxt(out, np.column_stack((np.arange(1, len(x) + 1), x)), fmt="%d, %.12g, %.12g, %.12g")
        out.write("*ELEMENT, TYPE=C3D10, ELSET=ROD\n")
        np.savetxt(out, np.column_stack((np.arange(1, len(cells) + 1), cells + 1)), fmt="%d", delimiter=", ")
        for name, nodes in sets.items():
            out.write(f"*NSET, NSET={name}\n")
            np.savetxt(out, nodes[:, None] + 1, fmt="%d")
        out.write(f"*MATERIAL, NAME=STEEL\n*ELASTIC\n{E:g}, {NU:g}\n*DENSITY\n{DENSITY:g}\n")
        out.write("*SOLID SECTION, ELSET=ROD, MATERIAL=STEEL\n")
    print(f"{path}: {len(x)} nodes, {len(cells)} tetrahedra, {3 * len(x)} degrees of freedom")


if __name__ == "__main__":
    main()
