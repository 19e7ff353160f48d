"""Results of complex modes, rotors and stability maps, made of small models that numpy solves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter

N = 9  # nodes of the shaft


def pairs(values: np.ndarray) -> list[Any]:
    """Complex numbers as a summary holds them."""
    return [[float(p.real), float(p.imag)] for p in values]


def eigenvalues(M, C, K) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues with Im >= 0 by size, and their vectors."""
    n = len(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    values, vectors = np.linalg.eig(A)
    order = np.argsort(np.abs(values))
    order = order[values.imag[order] >= -1e-9]
    return values[order], vectors[:n, order]


class Overhung:
    """A disc (mass, polar and diametral inertia) on a light shaft, which is clamped and turns; y, z, tilts about z, y.

    `outer`, `inner`: damping beside the shaft and in it [N s/m], of which the second makes forward whirl unstable.
    """

    mass, polar, diametral, length, EI = 10.0, 0.45, 0.25, 0.5, 6.0e3

    def __init__(self, outer: float = 0.0, inner: float = 0.0, softer: float = 1.0) -> None:
        self.outer, self.inner, self.softer = outer, inner, softer

    def matrices(self, speed: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        L = self.length
        plane = self.EI * np.array([[12 / L**3, -6 / L**2], [-6 / L**2, 4 / L]])
        K = np.zeros((4, 4))
        K[np.ix_([0, 2], [0, 2])] = plane
        K[np.ix_([1, 3], [1, 3])] = self.softer * plane
        M = np.diag([self.mass, self.mass, self.diametral, self.diametral])
        C = np.diag([self.outer + self.inner] * 2 + [0.0] * 2)
        # tilts are slopes dy/dx, dz/dx: the spin about x couples them
        C[2, 3], C[3, 2] = self.polar * speed, -self.polar * speed
        K[0, 1], K[1, 0] = self.inner * speed, -self.inner * speed
        return M, C, K

    def branches(self, speeds) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues (n, 4) and whirl (n, 4), by |p| at every speed."""
        values, whirl = [], []
        for speed in speeds:
            p, x = eigenvalues(*self.matrices(speed))
            turning = np.imag(np.conj(x[0]) * x[1]) + np.imag(np.conj(x[2]) * x[3])
            size = (np.abs(x) ** 2).sum(axis=0)
            # z follows y by a quarter of a turn where x turns with the spin: z = -i y
            kind = np.where(np.abs(turning) < 1e-6 * size, "mixed", np.where(turning < 0.0, "forward", "backward"))
            values.append(p[:4])
            whirl.append(kind[:4])
        return np.array(values), np.array(whirl)

    def criticals(self, top: float) -> list[dict[str, Any]]:
        """Critical speeds without damping: p = i speed makes (K - speed^2 (M - i C/speed)) x = 0 an eigenproblem."""
        M, C, K = Overhung(softer=self.softer).matrices(1.0)
        squares, vectors = np.linalg.eig(np.linalg.solve(M - 1j * C, K))
        found = []
        for square, x in zip(squares, vectors.T, strict=True):
            if square.real > 0.0 and np.sqrt(square.real) < top:
                turning = np.imag(np.conj(x[0]) * x[1]) + np.imag(np.conj(x[2]) * x[3])
                whirl = "forward" if turning < 0.0 else "backward"
                found.append({"speed": float(np.sqrt(square.real)), "branch": 0, "whirl": whirl, "order": 1})
        return sorted(found, key=lambda c: c["speed"])


def shaft_header(title: str = "Overhung rotor", dimension: int = 3) -> dict[str, Any]:
    nodes = np.zeros((N, 3))
    nodes[:, 0] = np.linspace(0.0, 0.5, N)
    cells = np.column_stack((np.arange(N - 1), np.arange(1, N)))
    return {
        "title": title,
        "version": "0",
        "dimension": dimension,
        "nodes": nodes,
        "blocks": [{"name": "shaft", "type": "beam3d", "connectivity": cells}],
        "bodies": [{"name": "disc", "node": N - 1, "points": []}],
        "supports": [{"node": 0}],
    }


def shaft_shape(vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Complex displacements and rotations (N, 3) of a shaft whose end moves by y, z, slopes."""
    s = np.linspace(0.0, 1.0, N)[:, None]
    L = Overhung.length
    y, z, by, bz = vector
    shape, slope = (3 * s**2 - 2 * s**3, s**3 - s**2), ((6 * s - 6 * s**2) / L, 3 * s**2 - 2 * s)
    u, r = np.zeros((N, 3), complex), np.zeros((N, 3), complex)
    for column, (end, tilt) in enumerate(((y, by), (z, bz)), 1):
        u[:, column] = (shape[0] * end + shape[1] * L * tilt).ravel()
        turn = (slope[0] * end + slope[1] * tilt).ravel()
        r[:, 2 if column == 1 else 1] = turn if column == 1 else -turn
    return u, r


def write_campbell(directory: Path, rotor: Overhung, top: float = 800.0, n: int = 41, **summary: Any) -> Results:
    """A diagram of four branches, and the response to an unbalance of the disc."""
    speeds = np.linspace(0.0, top, n)
    values, whirl = rotor.branches(speeds)
    writer = ResultsWriter(directory, shaft_header())
    writer.begin_step("whirl", "campbell")
    writer.append({"time": speeds})
    branches = [{"eigenvalues": pairs(values[:, k]), "whirl": list(whirl[:, k])} for k in range(4)]
    writer.end_step(
        {"type": "campbell", "name": "whirl", "rotor": "rotor", "frame": "fixed", "speeds": speeds.tolist()}
        | {"branches": branches, "critical_speeds": rotor.criticals(top), **summary}
    )
    writer.begin_step("unbalance", "unbalance")
    writer.append({"time": speeds})
    response = np.array([
        np.linalg.solve(-w * w * M + 1j * w * C + K, 1e-4 * w * w * np.array([1.0, -1.0j, 0.0, 0.0]))
        for w in speeds
        for M, C, K in [rotor.matrices(w)]
    ])  # fmt: skip
    rows = [
        {"at": "disc", "direction": name, "amplitude": np.abs(x).tolist(), "phase": np.angle(x).tolist()}
        for name, x in zip(("y", "z", "rotation z"), response.T, strict=False)
    ]
    half = np.sqrt((np.abs(response[:, :2]) ** 2).sum(axis=1) / 2 + np.abs((response[:, :2] ** 2).sum(axis=1)) / 2)
    rows.append({"at": "disc", "direction": "major", "amplitude": half.tolist(), "phase": None})
    writer.end_step(
        {"type": "unbalance", "name": "unbalance", "rotor": "rotor", "speeds": speeds.tolist(), "response": rows}
    )
    writer.close()
    return Results.open(directory)


def write_modes(directory: Path, rotor: Overhung, speed: float, bent: float = 0.0, dimension: int = 3) -> Results:
    """Complex modes of the rotor at a speed, about a state in which the shaft is bent to an arc of an angle."""
    values, vectors = eigenvalues(*rotor.matrices(speed))
    s = np.linspace(0.0, rotor.length, N)
    radius = rotor.length / bent if bent else np.inf
    state, turned = np.zeros((N, 3)), np.zeros((N, 3))
    if bent:
        state[:, 0], state[:, 1] = radius * np.sin(s / radius) - s, radius * (1.0 - np.cos(s / radius))
        turned[:, 2] = s / radius
    writer = ResultsWriter(directory, shaft_header(dimension=dimension))
    writer.begin_step("modes", "complex_modes")
    for k in range(len(values)):
        u, r = shaft_shape(vectors[:, k])
        phase = np.exp(-0.5j * np.angle((u * u).sum())) * 0.05 / np.abs(u).max()
        u, r = phase * u, phase * r
        frames = {"time": [k + 1.0], "displacement": u.real[None], "rotation": r.real[None]}
        frames |= {"displacement imaginary": u.imag[None], "rotation imaginary": r.imag[None]}
        frames |= {"state displacement": state[None], "state rotation": turned[None]}
        writer.append({"time": [k + 1.0]}, frames)
    size = np.abs(values)
    writer.end_step({
        "type": "complex_modes", "name": "modes", "eigenvalues": pairs(values),
        "frequencies_hz": (values.imag / 2 / np.pi).tolist(), "damping_ratios": (-values.real / size).tolist(),
        "residuals": [1e-12] * len(values), "biorthogonality": 1e-13, "rigid_body_modes": 0, "zeros": 0,
        "frame": "fixed", "rotor": "rotor", "speed": speed, "stable": bool((values.real < 1e-6 * size).all()),
        "warnings": [],
    })  # fmt: skip
    writer.close()
    return Results.open(directory)


def ziegler(load: float, follows: float, damping: float = 0.0) -> np.ndarray:
    """The four eigenvalues of Ziegler's double pendulum (1952) of masses 2 and 1, links and springs of 1, under a load
    that follows its end by a share of its rotation, as (k,) with Im >= 0."""
    M = np.array([[3.0, 1.0], [1.0, 1.0]])
    spring = np.array([[2.0, -1.0], [-1.0, 1.0]])
    K = spring + load * np.array([[-1.0, follows], [0.0, follows - 1.0]])
    return eigenvalues(M, damping * spring, K)[0]


def write_path(directory: Path, follows: float, damping: float = 0.0, n: int = 31, load: float = 3.0) -> Results:
    """Eigenvalues of Ziegler's pendulum under a growing load, every second row."""
    header = {"title": "Ziegler's pendulum", "version": "0", "dimension": 2, "nodes": np.zeros((1, 2))}
    factors = np.linspace(0.0, load, n)
    found = np.full((n, 4, 2), np.nan)
    for row in range(0, n, 2):
        for k, p in enumerate(ziegler(factors[row], follows, damping)):
            found[row, k] = p.real, p.imag
    writer = ResultsWriter(directory, header)
    writer.begin_step("loading", "static")
    writer.append({"time": np.zeros(n), "load factor": factors, "eigenvalues": found})
    writer.end_step({"type": "static", "name": "loading"})
    writer.close()
    return Results.open(directory)


def write_map(directory: Path, damping: float = 0.0, n: tuple[int, int] = (41, 33)) -> Results:
    """Growth rates of Ziegler's pendulum over the load and how far it follows."""
    header = {"title": "Ziegler's pendulum", "version": "0", "dimension": 2, "nodes": np.zeros((1, 2))}
    loads, follows = np.linspace(0.0, 4.0, n[0]), np.linspace(0.0, 1.2, n[1])
    found = [[ziegler(load, share, damping) for share in follows] for load in loads]
    right = np.array([[p[np.argmax(p.real)] for p in row] for row in found])
    writer = ResultsWriter(directory, header)
    writer.begin_step("map", "stability_map")
    writer.end_step({
        "type": "stability_map", "name": "map",
        "parameters": [
            {"name": "load", "values": loads.tolist(), "unit": "N"},
            {"name": "share that follows", "values": follows.tolist()},
        ],
        "growth": right.real.tolist(), "frequency": (right.imag / 2 / np.pi).tolist(),
    })  # fmt: skip
    writer.close()
    return Results.open(directory)
