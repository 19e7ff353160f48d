"""Contact and blows, then a line ``JSON {...}``: its own process.

    python benchmarks/contact.py floor --n 1000
    python benchmarks/contact.py triangles --n 1000 --triangles 10000
    python benchmarks/contact.py beams --n 1000
    python benchmarks/contact.py faces --n 1000
    python benchmarks/contact.py blows --n 20

Balls bounce over a floor or a surface of triangles: each has one candidate, the surface.  Strings fall on strings
across them, n parts of either; balls fall on faces of a block, n of either.  There near parts are found in the run;
"bare_ms" is the step without contact.  Of blows with restitution, n balls move in a box; "blow_ms" is the time of the
run over the number of blows.  Timed are the steps, without set-up and compilation, in
processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import time

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from timing import steps_timed  # noqa: E402

from fem_mbs import Mesh, Model, solve  # noqa: E402
from fem_mbs.validation.case import energy_error  # noqa: E402

RADIUS, H, WIDTH = 0.05, 1e-3, 20.0


def hills(count: int) -> Mesh:
    """Return an open surface of about ``count`` triangles with hills of .1 m."""
    n = max(2, round(np.sqrt(count / 2)))
    line = np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, n + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    z = 0.05 * (np.sin(1.3 * x) * np.cos(1.1 * y) - 1.0)
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    cells = np.concatenate((np.column_stack((a, a + n + 1, a + n + 2)), np.column_stack((a, a + n + 2, a + 1))))
    points = np.column_stack((x.ravel(), y.ravel(), z.ravel()))
    return Mesh(points, (("triangle", cells, None),), cell_sets={"top": ((0, np.arange(len(cells))),)})


def build(kind: str, n: int, steps: int, triangles: int) -> Model:
    """Return n balls at random heights over the surface."""
    model = Model(3, f"{n} balls", gravity=(0.0, 0.0, -9.81))
    rng = np.random.default_rng(1)
    names = [f"ball {k}" for k in range(n)]
    places = np.column_stack((rng.uniform(-0.35 * WIDTH, 0.35 * WIDTH, (n, 2)), rng.uniform(0.1, 0.6, n)))
    for name, place in zip(names, places, strict=True):
        model.body(name, place, mass=1.0, inertia=np.full(3, 0.4 * RADIUS**2))
    law = {"ball": RADIUS, "stiffness": 1e6}
    if kind == "floor":
        model.contact("floor", "ground", names, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), **law)
    else:
        model.mesh("hills", hills(triangles))
        model.contact("floor", "ground", names, surface="triangles", facets="hills:top", **law)
    model.transient_step(steps * H, H, frames=0, restarts=0)
    return model


def strings(n: int, steps: int, touch: bool) -> Model:
    """Return two layers of strings across each other, n parts of either; the upper one falls on the lower one."""
    model = Model(3, f"{n} parts of strings on {n}")
    lines = max(1, round(np.sqrt(n / 10)))
    parts = max(1, n // lines)
    model.section("string", "stiffness", EA=1e4, rhoA=0.1)
    where = np.arange(lines) - 0.5 * (lines - 1)
    size = 0.5 * lines + 0.2
    for name, z, x, y in (("lower", 0.0, 1.0, 0.0), ("upper", 0.045, 0.0, 1.0)):
        for k, offset in enumerate(0.5 * where):
            side = (offset * y, offset * x, z)
            start = (side[0] - 0.5 * size * x, side[1] - 0.5 * size * y, z)
            end = (side[0] + 0.5 * size * x, side[1] + 0.5 * size * y, z)
            model.line(f"{name} {k} mesh", start, end, parts)
            model.trusses(f"{name} {k}", f"{name} {k} mesh", "string")
            if name == "upper":
                model.initial(f"{name} {k} mesh:all", velocity=(0.3, 0.2, -1.0))
    if touch:
        sides = [[f"{name} {k}" for k in range(lines)] for name in ("lower", "upper")]
        model.contact("blow", *sides, surface="beams", radius=0.02, along=True, ball=0.02, stiffness=1e5)
    model.transient_step(steps * H, H, frames=0, restarts=0)
    return model


def block(n: int, steps: int, touch: bool) -> Model:
    """Return about n balls that fall on as many triangles of a soft block's face."""
    model = Model(3, f"{n} balls on {n} faces")
    side = max(1, round(np.sqrt(n / 2)))
    model.mesh("block", box={"size": (side * 0.1, side * 0.1, 0.1), "n": (side, side, 1)})
    model.solid_material("rubber", 1e7, 0.3, density=1000.0)
    model.solids("soft", "block", "rubber")
    rng = np.random.default_rng(2)
    names = [f"ball {k}" for k in range(n)]
    for name in names:
        x, y = rng.uniform(0.0, 0.1 * side, 2)
        model.body(name, (x, y, rng.uniform(0.152, 0.2)), mass=0.01, inertia=np.full(3, 1e-5))
        model.initial(name, velocity=(0.2, 0.1, -1.0))
    if touch:
        model.contact("floor", "block:top", names, surface="faces", ball=RADIUS, stiffness=1e5)
    model.transient_step(steps * H, H, frames=0, restarts=0)
    return model


def crowd(n: int, steps: int) -> Model:
    """Return n balls in a plane box that is open above, each with another velocity."""
    model = Model(2, f"{n} balls in a box", gravity=(0.0, -9.81))
    rng = np.random.default_rng(0)
    side = int(np.ceil(np.sqrt(n)))
    names = [f"ball {k}" for k in range(n)]
    for k, name in enumerate(names):
        place = 0.15 + 0.3 * np.array(divmod(k, side)) + rng.uniform(-0.03, 0.03, 2)
        model.body(name, place, mass=1.0, inertia=4e-3)
        model.initial(name, velocity=rng.normal(size=2))
    law = {"restitution": 0.9, "coefficient": 0.2, "ball": 0.1}
    for name, x, axis in (("floor", 0.0, (0.0, 1.0)), ("left", 0.0, (1.0, 0.0)), ("right", 0.3 * side, (-1.0, 0.0))):
        model.impact(name, "ground", names, point=(x, 0.0), axis=axis, **law)
    model.impact("balls", names, names, surface="sphere", radius=0.1, **law)
    model.transient_step(steps * 2.0 * H, 2.0 * H, frames=0)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("floor", "triangles", "beams", "faces", "blows"))
    parser.add_argument("--n", type=int, default=1000, help="balls")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--triangles", type=int, default=10_000)
    options = parser.parse_args()
    deforming = {"beams": strings, "faces": block}.get(options.kind)

    def made_of(n: int, steps: int, triangles: int, touch: bool = True) -> Model:
        if options.kind == "blows":
            return crowd(n, steps)
        return deforming(n, steps, touch) if deforming else build(options.kind, n, steps, triangles)

    solve(made_of(2, 2, 8))  # compiles
    begun = time.perf_counter()
    model = made_of(options.n, options.steps, options.triangles)
    made = time.perf_counter() - begun
    with steps_timed() as seconds:
        step = solve(model).steps[0]
    report = step.report
    lossy = options.kind == "blows"
    answer = {
        "setup_s": made, "steps": options.steps, "step_ms": 1e3 * sum(seconds) / options.steps,
        "iterations": report.iterations / report.n_steps,
        "factorisations": report.factorisations / report.n_steps, "energy": energy_error(step, constant=not lossy),
    }  # fmt: skip
    if deforming:
        with steps_timed() as seconds:
            solve(made_of(options.n, options.steps, 0, touch=False))
        answer["bare_ms"] = 1e3 * sum(seconds) / options.steps
    if lossy:
        answer |= {"blows": len(report.blows), "blow_ms": 1e3 * sum(seconds) / max(1, len(report.blows))}
    print("JSON", json.dumps(answer, default=float))


if __name__ == "__main__":
    main()
