"""Natural strains of shell elements: their table of products, and the parameters that the kernel reads.

A shell element has nodes with positions x and rotations R.  Its lines join two nodes: the sides, and the diagonals of a
quadrilateral.  With places P = x + R o (o an offset along the normal), chords l = P_j - P_i, normals d = R D, and
directions t = R T of the line (D, T: normal and direction of the line at the reference), L = |l| at the reference, the
natural strains are

    s  membrane, per line:    [l.l + L^2/12 psi^2]/2 - r^2 |d_j - d_i|^2,
                              psi^2 = [|t_j - t_i|^2 + |n_j - n_i|^2 - |m_j - m_i|^2]/2
    a  drilling, per node:    l_1.(R v_1) + l_2.(R v_2), the rotation of the surface at the node less that of the node
    b  bending, per line:     2 l.(d_j - d_i) - L (t_i.d_j - d_i.t_j)/2
    g  shear, per side:       l.(d_i + d_j)/2

less their values at the reference, with the normal n of each end, across the line, and m = n x t, which turn with the
nodes: of sides n is d.  All are sums of products of vectors that are linear in positions and directors, so
they are quadratic, do not change in rigid motions, and have exact quotients (docs/theory.md, section 1).  The second
terms make s and b those of an arc of constant curvature: with psi the angle between its ends, s = 0 and b = L psi but
for terms psi^4/360.  psi is the angle about m, out of the surface: |t_j - t_i|^2 alone would count turns of the nodes
about the normal as bending in the surface, too.  Alternating ones hardly strain quadrilaterals, so compressive forces
of 0.1 E h (h/L)^2 would make them unstable, below the buckling of cylinders with less than six elements per half wave.

Along a line that is stretched by the factor 1 + e, b is 1 + 2 e times the change of the angle per length, k.  With the
first term of s alone the energy of a section would be A e^2/2 + (1 + 4 e) D k^2/2: membrane forces would change the
stiffness of bending, and a strip under a moment M would bend by k = M/D (1 + 8 r^2 k^2), r^2 = D/A = h^2/12, 0.7 % too
far at h k = 0.1.  The last term of s leaves (1 + 2 e) D k^2/2, as the tied strains of shells with nodes on their sides
have it, and k = M/D.

A change of temperature gives the strains ``T`` of a free element, times a function of time; a negative ``function`` is
the constant 1.

Lines of a triangle: sides 01, 12, 20.  Of a quadrilateral: sides 01, 12, 23, 30, diagonals 02, 13.  The order of the
strains is that of the table, 12 of a triangle and 20 of a quadrilateral.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "CELLS", "LINES", "Columns", "Terms", "lines_of", "membrane_strains", "normals", "reference_values", "shell_rows",
    "uniform_strains",
]  # fmt: skip

CELLS = {"triangle": 3, "quad": 4}
LINES = {3: ((0, 1), (1, 2), (2, 0)), 4: ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3))}


def lines_of(n: int) -> np.ndarray:
    """Return the nodes of the lines (k, 2) of an element of n nodes; its sides come first."""
    return np.array(LINES[n])


class Columns:
    """Columns of the parameter table of an element of ``n`` nodes, and the rows of its vectors.

    ``strains`` is the number of natural strains.  Vectors of the nodes in body axes are one table of rows (x, y, z):
    offsets o, normals D, drilling vectors v (two per node), directions T of lines, vectors
    across them in the surface, and normals of diagonals (of these three two per line, one per end).
    """

    def __init__(self, n: int) -> None:
        k = len(LINES[n])
        self.nodes, self.lines, self.strains = n, k, 2 * (k + n)
        self.arm, self.normal, self.drill, self.direction = 0, n, 2 * n, 4 * n
        self.across = 4 * n + 2 * k
        self.upright = self.across + 2 * k
        self.vectors = self.upright + 2 * (k - n)
        self.damping = 0
        self.vector = 1
        self.curve = self.vector + 3 * self.vectors
        self.length = self.curve + k
        self.gyration = self.length + k
        self.reference = self.gyration + 1
        self.stress = self.reference + self.strains
        self.stiffness = self.stress + self.strains
        self.resultants = self.stiffness + self.strains * (self.strains + 1) // 2
        self.function = self.resultants + 8 * self.strains
        self.thermal = self.function + 1
        self.count = self.thermal + self.strains

    def names(self) -> tuple[str, ...]:
        """Return the names of the columns, units in square brackets."""
        s = range(1, self.strains + 1)
        return (
            "damping [s]",
            *(f"V{i}{c}" for i in range(1, self.vectors + 1) for c in "xyz"),
            *(f"curve{i} [m^2]" for i in range(1, self.lines + 1)),
            *(f"length{i} [m]" for i in range(1, self.lines + 1)),
            "gyration [m^2]",
            *(f"p{i}" for i in s),
            *(f"s{i}" for i in s),
            *(f"S{i}_{j}" for i in s for j in s if j >= i),
            *(f"R{i}_{j}" for i in range(1, 9) for j in s),
            "function",
            *(f"T{i}" for i in s),
        )


class Terms:
    """The products that make up the natural strains, as arrays.

    ``strain`` (m,) number of the strain; ``factor`` (m,); ``column`` (m,) of a parameter that multiplies the factor, or
    -1; ``node``, ``row``, ``sign`` (m, 2, 2): node, vector and sign of both parts of both factors (sign 0: no part);
    ``place`` (m, 2): 1 where the factor holds the position of its nodes besides the vector.
    """

    def __init__(self, n: int) -> None:
        columns, lines = Columns(n), LINES[n]
        k = len(lines)
        rows: list[tuple] = []

        def part(node, row, sign):
            return node, row, sign

        def chord(line):
            i, j = lines[line]
            return 1, (part(j, columns.arm + j, 1.0), part(i, columns.arm + i, -1.0))

        def at(line, weights, kind):
            ends = []
            for end in (1, 0):
                node = lines[line][end]
                row = {
                    "normal": columns.normal + node,
                    "direction": columns.direction + 2 * line + end,
                    "across": columns.across + 2 * line + end,
                    "upright": columns.upright + 2 * (line - n) + end,
                }[kind]
                ends.append(part(node, row, weights[end]))
            return 0, tuple(ends)

        for line in range(k):
            rows.append((line, 0.5, -1, chord(line), chord(line)))
            for kind, sign in (("direction", 1.0), ("normal" if line < n else "upright", 1.0), ("across", -1.0)):
                # |v_j - v_i|^2 is 2 - 2 v_i.v_j of unit vectors, and a constant counts for nothing
                ends = (at(line, weights, kind) for weights in ((1.0, 0.0), (0.0, 1.0)))
                rows.append((line, -0.5 * sign, columns.curve + line, *ends))
            bent = at(line, (-1.0, 1.0), "normal")
            rows.append((line, -1.0, columns.gyration, bent, bent))
        for node in range(n):
            for side, line in enumerate((node, (node - 1) % n)):
                u = 0, (part(node, columns.drill + 2 * node + side, 1.0), part(node, 0, 0.0))
                rows.append((k + node, 1.0, -1, chord(line), u))
        for line in range(k):
            b = k + n + line
            rows.append((b, 2.0, -1, chord(line), at(line, (-1.0, 1.0), "normal")))
            first, second = (1.0, 0.0), (0.0, 1.0)
            length = columns.length + line
            rows.append((b, -0.5, length, at(line, first, "direction"), at(line, second, "normal")))
            rows.append((b, 0.5, length, at(line, first, "normal"), at(line, second, "direction")))
        rows += [(2 * k + n + side, 1.0, -1, chord(side), at(side, (0.5, 0.5), "normal")) for side in range(n)]
        self.strain = np.array([r[0] for r in rows])
        self.factor = np.array([r[1] for r in rows])
        self.column = np.array([r[2] for r in rows])
        self.place = np.array([(r[3][0], r[4][0]) for r in rows])
        table = np.array([(r[3][1], r[4][1]) for r in rows])
        self.node, self.row = table[..., 0].astype(np.int64), table[..., 1].astype(np.int64)
        self.sign = np.ascontiguousarray(table[..., 2])


def normals(X: np.ndarray) -> np.ndarray:
    """Return unit normals (e, n, 3) at the nodes of elements with nodes at X (e, n, 3) [m].

    Those of a quadrilateral are the normals of the bilinear surface, which differ where it is warped.
    """
    n = X.shape[1]
    D = np.stack([np.cross(X[:, (a + 1) % n] - X[:, a], X[:, a - 1] - X[:, a]) for a in range(n)], axis=1)
    return D / np.linalg.norm(D, axis=2)[..., None]


def _vectors(X: np.ndarray, offset) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return arms o and normals D (e, n, 3), chords l (e, k, 3) and drilling vectors v (e, n, 2, 3) of elements with
    nodes at X (e, n, 3) and an offset as in `shell_rows`."""
    e, n, _ = X.shape
    lines, D = lines_of(n), normals(X)
    offset = np.broadcast_to(np.asarray(offset, float).reshape(np.shape(offset) + (1,) * (2 - np.ndim(offset))), (e, n))
    arms = offset[..., None] * D
    P = X + arms
    chord = P[:, lines[:, 1]] - P[:, lines[:, 0]]
    # half the curl of a field with the gradients along both sides of a corner
    ahead, behind = chord[:, :n], chord[:, (np.arange(n) - 1) % n]  # along side a; towards node a
    N = np.cross(ahead, -behind)
    square = (N * N).sum(axis=2)[..., None]
    unit = N / np.sqrt(square)
    drill = 0.5 * np.stack(
        (np.cross(unit, np.cross(-behind, N) / square), -np.cross(unit, np.cross(N, ahead) / square)), axis=2
    )
    return arms, D, chord, drill


def _stretched(chord: np.ndarray, axes: np.ndarray, strain: np.ndarray) -> np.ndarray:
    """Return changes (e, k, 3) of chords (e, k, 3) by strains 11, 22, 12 (e, 3) in the axes (e, 3, 3), along the normal
    by the mean of 11 and 22, so that equal ones dilate curved surfaces too."""
    E = np.zeros((len(chord), 3, 3))
    E[:, 0, 0], E[:, 1, 1], E[:, 2, 2] = strain[:, 0], strain[:, 1], 0.5 * (strain[:, 0] + strain[:, 1])
    E[:, 0, 1] = E[:, 1, 0] = 0.5 * strain[:, 2]
    return chord @ (np.swapaxes(axes, 1, 2) @ E @ axes)


def uniform_strains(X, offset, axes, strain) -> np.ndarray:
    """Return natural strains (e, m) of shells whose strains and curvatures are the same everywhere in an element.

    Args:
        X: positions (e, n, 3) [m] of the nodes.
        offset: as in `shell_rows`.
        axes: (e, 3, 3) axes of the elements in rows.
        strain: (e, 6) membrane strains 11, 22, 12 (gamma) and curvatures [1/m] in the axes.
    """
    e, n, _ = X.shape
    c = Columns(n)
    k, lines = c.lines, lines_of(n)
    _, D, chord, drill = _vectors(X, offset)
    # of the nodes: the offset counts as if it stretched too, so that bodies that expand evenly stay similar
    change = _stretched(X[:, lines[:, 1]] - X[:, lines[:, 0]], axes, strain[:, :3])
    found = np.zeros((e, c.strains))
    found[:, :k] = (chord * change).sum(axis=2)
    behind = change[:, (np.arange(n) - 1) % n]
    found[:, k : k + n] = (change[:, :n] * drill[:, :, 0] + behind * drill[:, :, 1]).sum(axis=2)
    found[:, k + n : 2 * k + n] = 2.0 * (change * (D[:, lines[:, 1]] - D[:, lines[:, 0]])).sum(axis=2)
    x, y = np.moveaxis(np.einsum("eki,eai->eka", chord, axes[:, :2]), 2, 0)
    curvature = strain[:, 3:, None]
    found[:, k + n : 2 * k + n] += curvature[:, 0] * x**2 + curvature[:, 1] * y**2 + curvature[:, 2] * x * y
    found[:, 2 * k + n :] = 0.5 * (change[:, :n] * (D[:, lines[:n, 0]] + D[:, lines[:n, 1]])).sum(axis=2)
    return found


def membrane_strains(X, axes, strain) -> np.ndarray:
    """Return natural strains (e, k) of membranes whose strains 11, 22, 12 (gamma) (e, 3) in the axes (e, 3, 3) are the
    same everywhere in an element; nodes at X (e, n, 3) [m]."""
    lines = lines_of(X.shape[1])
    chord = X[:, lines[:, 1]] - X[:, lines[:, 0]]
    return (chord * _stretched(chord, axes, strain)).sum(axis=2)


def shell_rows(X, offset, stiffness, resultants, damping=0.0, rotation=None, gyration=0.0) -> np.ndarray:
    """Return parameter rows (e, n_par) of shell elements.

    Args:
        X: positions (e, n, 3) [m] of the nodes.
        offset: distance [m] of the reference surface of the stiffness from the nodes along the normals, a number, (e,)
            or (e, n).
        stiffness: (e, m, m) matrix over the natural strains.
        resultants: (e, 8, m) membrane forces, moments and shear forces at the middle, by the natural strains.
        damping: ratio beta [s] of damping to stiffness.
        rotation: (e, n, 3, 3) rotation matrices of the nodes at the reference; None: identities.
        gyration: (e,) [m^2] stiffness of bending over that of the membrane, r^2 = h^2/12.
    """
    e, n, _ = X.shape
    c, lines = Columns(n), lines_of(n)
    arms, D, chord, drill = _vectors(X, offset)
    length = np.linalg.norm(chord, axis=2)
    T = chord / length[..., None]
    vectors = np.empty((e, c.vectors, 3))
    vectors[:, c.arm : c.arm + n] = arms
    vectors[:, c.normal : c.normal + n] = D
    vectors[:, c.drill : c.drill + 2 * n] = drill.reshape(e, 2 * n, 3)
    for end in range(2):
        normal = D[:, lines[:, end]]
        upright = normal - (normal * T).sum(axis=2)[..., None] * T
        upright /= np.linalg.norm(upright, axis=2)[..., None]
        vectors[:, c.direction + end : c.across : 2] = T
        vectors[:, c.across + end : c.upright : 2] = np.cross(upright, T)
        vectors[:, c.upright + end :: 2] = upright[:, n:]
    par = np.zeros((e, c.count))
    par[:, c.damping] = damping
    par[:, c.curve : c.curve + c.lines] = length**2 / 12.0
    par[:, c.length : c.length + c.lines] = length
    par[:, c.gyration] = gyration
    par[:, c.vector : c.vector + 3 * c.vectors] = vectors.reshape(e, -1)
    par[:, c.reference : c.reference + c.strains] = reference_values(par, X)
    if rotation is not None:
        nodes = np.arange(n)
        owner = np.concatenate((
            nodes, nodes, np.repeat(nodes, 2), lines.ravel(), lines.ravel(), lines[n:].ravel()
        ))  # fmt: skip
        turned = np.einsum("eaji,eaj->eai", rotation[:, owner], vectors)
        par[:, c.vector : c.vector + 3 * c.vectors] = turned.reshape(e, -1)
    rows, columns = np.triu_indices(c.strains)
    par[:, c.stiffness : c.resultants] = stiffness[:, rows, columns]
    par[:, c.resultants : c.function] = resultants.reshape(e, -1)
    par[:, c.function] = -1.0
    return par


def reference_values(par: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return the sums of products (e, m) at the reference, where all vectors are those of the table ``par``."""
    e, n, _ = X.shape
    c, terms = Columns(n), Terms(n)
    vectors = par[:, c.vector : c.curve].reshape(e, c.vectors, 3)
    found = np.zeros((e, c.strains))
    for m, k in enumerate(terms.strain):
        a, b = (
            sum(
                terms.sign[m, f, i] * (vectors[:, terms.row[m, f, i]] + terms.place[m, f] * X[:, terms.node[m, f, i]])
                for i in range(2)
            )
            for f in range(2)
        )
        weight = terms.factor[m] * (par[:, terms.column[m]] if terms.column[m] >= 0 else 1.0)
        found[:, k] += weight * (a * b).sum(axis=1)
    return found
