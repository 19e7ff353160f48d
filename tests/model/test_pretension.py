"""Pre-tension sections against springs in series: forces, shortenings, locks; cuts by faces and by planes."""

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset
from solid_meshes import grid

from fem_mbs import Mesh, Model, ModelError, solve
from fem_mbs.modelfile.read import load_model

E, L, BOLT, CLAMP, FORCE, LOAD = 2e11, 0.1, 1e-4, 4e-4, 1000.0, 600.0
KB, KC = E * BOLT / L, E * CLAMP / L


def prism(kind: str, area: float, counts=(2, 2, 4), x: float = 0.0) -> Mesh:
    """A prism along z with the sets low, high and all; "middle" holds the faces at half its height, by the cells above
    and below in turn."""
    side = np.sqrt(area)
    X, cells = grid(kind, counts, (side, side, L))
    X[:, 0] += x
    sets = {"low": np.flatnonzero(X[:, 2] < 1e-9), "high": np.flatnonzero(X[:, 2] > L - 1e-9)}
    facets = {}
    if kind == "hexahedron" and counts == (2, 2, 4):
        below = np.flatnonzero(np.abs(X[cells][:, 4:, 2].max(axis=1) - L / 2) < 1e-9)
        above = np.flatnonzero(np.abs(X[cells][:, :4, 2].min(axis=1) - L / 2) < 1e-9)
        facets["middle"] = [(0, np.concatenate((below[::2], above[1::2])), np.repeat((1, 0), 2))]
        facets["half"] = [(0, below[:2], np.array([1, 1]))]
        facets["end"] = [(0, np.flatnonzero(X[cells][:, 4:, 2].min(axis=1) > L - 1e-9), np.array([1, 1, 1, 1]))]
    return Mesh(X, [(kind, cells)], node_sets=sets, facet_sets=facets)


def joint(kind: str = "hexahedron", plane: bool = False, **section) -> Model:
    """A bolt through a clamped sleeve, beside each other here: their ends move together along z."""
    m = Model(3)
    m.material("steel", E, 0.0, 7800.0)
    m.mesh("bolt", prism(kind, BOLT))
    m.mesh("sleeve", prism(kind, CLAMP, (1, 1, 2), x=0.1))
    cut = {"point": (0.0, 0.0, 0.45 * L), "direction": (0.0, 0.0, 1.0)} if plane else {}
    m.pretension("tension", "bolt" if plane else "bolt:middle", **cut, **section)
    m.solids("shank", "bolt", "steel")
    m.solids("clamped", "sleeve", "steel")
    for part in ("bolt", "sleeve"):
        m.fix(f"{part}:low")
        m.fix(f"{part}:high", ["x", "y"])
    m.node("head", (0.05, 0.0, L))
    m.fix("head", ["x", "y"])
    head = m.node_of("head")
    nodes = np.concatenate([m.nodes_of(f"{part}:high") for part in ("bolt", "sleeve")])
    rows = np.arange(len(nodes))
    m.equations("head", np.tile(rows, 2), [*nodes, *np.full(len(nodes), head)], np.full(2 * len(nodes), 2),
                [*np.ones(len(nodes)), *-np.ones(len(nodes))])  # fmt: skip
    m.force("load", "head", (0.0, 0.0, LOAD))
    m.sensor("tension", "reaction", on="tension")
    m.sensor("shortening", "displacement", on="tension")
    m.sensor("head", "displacement", on="head")
    return m


def found(model: Model) -> list[tuple[float, float, float]]:
    """Tension, shortening and displacement of the head at the end of each step."""
    solution = solve(model)
    rows = []
    for step in solution.steps:
        if "sensor/tension" in step.series:
            s = {name: values[-1] for name, values in step.series.items() if name.startswith("sensor/")}
            rows.append((s["sensor/tension"][2], s["sensor/shortening"][0], s["sensor/head"][2]))
    return rows


Q = FORCE / KB + FORCE / KC
LOCKED = FORCE + LOAD * KB / (KB + KC), Q, (LOAD - FORCE) / KC - LOAD * KB / (KC * (KB + KC))


def test_bolt_and_sleeve_are_springs_in_series():
    """Force, lock, further load (Shigley, Mechanical Engineering Design, section 8-7), and the same preload by its
    shortening."""
    m = joint(force=FORCE)
    m.linear_static_step("pull", loads=["tension"])
    m.linear_static_step("further", loads=["load"], supports="tension")
    m.linear_static_step("back", loads=[], supports="tension")
    pulled, further, back = found(m)
    assert pulled == pytest.approx((FORCE, Q, -FORCE / KC), rel=1e-9)
    assert further == pytest.approx(LOCKED, rel=1e-9)
    assert back == pytest.approx(pulled, rel=1e-9)
    m = joint(shortening=2.0 * Q, function="0.5 + 0*t")
    m.linear_static_step("pull", loads=["tension"])
    assert found(m)[0] == pytest.approx(pulled, rel=1e-9)


def test_locks_of_nonlinear_steps_and_of_modes():
    m = joint(force=FORCE)
    m.static_step(1, "pull", vary=["tension"])
    m.static_step(2, "further", vary=["load"], supports="tension")
    m.static_step(1, "free", vary=["load"], until=0.0)
    m.modes_step(1, "open")
    m.modes_step(1, "shut", supports="tension")
    pulled, further, free = found(m)
    strains = FORCE / KB / L  # of second order, which the linear closed form lacks
    assert pulled == pytest.approx((FORCE, Q, -FORCE / KC), rel=4.0 * strains)
    assert further[1] == pytest.approx(pulled[1], rel=1e-13)
    assert further == pytest.approx(LOCKED, rel=4.0 * strains)
    assert free == pytest.approx(pulled, rel=1e-9)


@pytest.mark.parametrize("kind", ["tetra", "hexahedron20"])
def test_a_plane_cuts_between_cells(kind):
    """The facets between cells need not be plane: the jump is the same everywhere."""
    m = joint(kind, plane=True, force=FORCE)
    m.linear_static_step("pull", loads=["tension"])
    assert found(m)[0] == pytest.approx((FORCE, Q, -FORCE / KC), rel=1e-9)
    m = joint(kind, plane=True, force=FORCE)
    sides = m.building.pretensions[0]
    x = m.positions
    assert x[sides.nodes] == pytest.approx(x[sides.doubles], abs=0.0) and len(set(sides.doubles)) == len(sides.doubles)


def test_locked_modes_are_those_of_the_uncut_bolt():
    """About the unloaded state a locked section is no section."""
    values = []
    for cut in (True, False):
        m = Model(2)
        m.material("steel", E, 0.3, 7800.0)
        X, cells = grid("quad", (2, 6), (0.01, L))
        m.mesh("bolt", Mesh(X, [("quad", cells)], node_sets={"low": np.flatnonzero(X[:, 1] < 1e-9)}))
        if cut:
            m.pretension("tension", "bolt", (0.0, 0.55 * L), (0.0, 1.0))
        m.planes("shank", "bolt", "steel", thickness=0.01)
        m.fix("bolt:low")
        m.modes_step(4, **({"supports": "tension"} if cut else {}))
        values.append(solve(m).steps[-1].report.frequencies_hz)
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_wrong_input():
    with pytest.raises(ModelError, match="its two sides are connected around the cut"):
        m = Model(3)
        m.mesh("bolt", prism("hexahedron", BOLT))
        m.pretension("tension", "bolt:half")
    with pytest.raises(ModelError, match="lies on the outside"):
        m = Model(3)
        m.mesh("bolt", prism("hexahedron", BOLT))
        m.pretension("tension", "bolt:end")
    with pytest.raises(ModelError, match="cuts no cells"):
        m = Model(3)
        m.mesh("bolt", prism("hexahedron", BOLT))
        m.pretension("tension", "bolt", (0.0, 0.0, 2.0 * L), (0.0, 0.0, 1.0))
    m = joint(force=FORCE)
    with pytest.raises(ModelError, match="parts stand on the mesh already"):
        m.pretension("second", "sleeve", (0.0, 0.0, 0.3 * L), (0.0, 0.0, 1.0))
    with pytest.raises(ModelError, match="exclude each other"):
        joint(force=FORCE, shortening=Q)
    m = joint(force=FORCE)
    m.fix("bolt")
    m.linear_static_step("pull")
    with pytest.raises(ModelError, match="so that the cut cannot close"):
        solve(m)
    m = joint(force=FORCE)
    with pytest.raises(ModelError, match="present belongs to supports with a group"):
        m.fix("sleeve:high", ["z"], present=True)


FILE = """
[material.steel]
E = 2e11
nu = 0.0
density = 7800.0

[mesh.bar]
file = "bar.inp"

[[pretension]]
name = "bolt"
on = "bar"
point = [0.9, 0.0, 0.0]
direction = [1.0, 0.0, 0.0]
force = 1000.0

[[solid]]
name = "shank"
on = "bar"
material = "steel"

[[support]]
on = ["bar:LOW", "bar:HIGH"]

[[support]]
on = "bar:SIDE"
components = ["y"]
group = "side"
present = true

[[sensor]]
name = "tension"
kind = "reaction"
on = "bolt"

[[step]]
type = "static"
name = "pull"

[[step]]
type = "static"
name = "lock"
supports = ["bolt", "side"]
"""


def test_a_model_file(tmp_path):
    """Clamped at both ends: the shortening is F L/(E A); a second group of supports holds present places too."""
    nodes, elements = brick((4, 1, 1), (2.0, 1.0, 1.0))
    sets = {"LOW": (0, 0.0), "HIGH": (0, 2.0), "SIDE": (1, 1.0)}
    text = mesh_text(nodes, elements) + "".join(nset(name, at(nodes, *place)) for name, place in sets.items())
    (tmp_path / "bar.inp").write_text(text, encoding="utf-8")
    (tmp_path / "model.toml").write_text(FILE, encoding="utf-8")
    solution = solve(load_model(tmp_path / "model.toml"))
    for step in solution.steps:
        assert step.series["sensor/tension"][-1, 0] == pytest.approx(1000.0, rel=1e-6)
    node = solution.node("bolt")
    for step in solution.steps:
        q = np.asarray(step.frames["displacement"])[-1, node, 0]
        assert q == pytest.approx(1000.0 * 2.0 / 2e11, rel=1e-5)
