"""M, C, K, G of a linearisation against differences of the true residual, about states in motion, element by element.

The residual is that of the motion u + v t + a t^2/2 about a state with velocities and accelerations of its own;
rotations are moved by exp(phi) on the group (rotation vectors in spatial axes), so nothing of the matrices' own
derivatives is used.
"""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import box_mesh

from fem_mbs import Model
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.system.pairing import has_pairs, pair_up
from fem_mbs.system.states import director_velocities, rotated

_STEP = 1e-3


def residual(lin: Linearisation, u, v, a) -> np.ndarray:
    """True residual (N,) of the motion u + v t + a t^2/2 about the state, at t = 0; one of u, v, a other than zero."""
    s, system = lin.state, lin.system
    pos, rot = system.system.positions, system.system.rotations
    moved = system.initial_state()
    moved.U[:], moved.V[:] = s.U, s.V
    for end in (0, 1):
        moved.Q[end], moved.D[end] = s.Q[end], s.D[end]
    moved.Q[:, pos] += u[pos]
    moved.V[:2, pos] += v[pos]
    moved.V[2, pos] += a[pos]
    k = len(rot)
    if k and system.dimension == 2:
        moved.Q[:, rot] += u[rot]
        moved.V[:2, rot] += v[rot]
        moved.V[2, rot] += a[rot]
        moved.D[:, :k] = rotated(s.D[0, :k], u[rot])
    elif k:
        # R(t) = exp(phi(t)) R_0(t): W = R^T (phi' + w), dA = R^T (phi'' - w x phi') to first order
        R = s.D[0, :k].reshape(-1, 3, 3)
        w = np.einsum("nij,nj->ni", R, s.V[0, rot])
        moved.D[:, :k] = rotated(s.D[0, :k], u[rot])
        moved.V[:2, rot] = s.V[0, rot] + np.einsum("nji,nj->ni", R, v[rot])
        moved.V[2, rot] = s.V[2, rot] + np.einsum("nji,nj->ni", R, a[rot] - np.cross(w, v[rot]))
    director_velocities(system, moved)
    return lin.force(moved)


def in_motion(model: Model, seed: int = 3, t: float = 0.3, amount: float = 0.2) -> Linearisation:
    """A linearisation about a displaced state with random velocities; every load acts."""
    compiled = model.compile(stepping=False)
    system = compiled.system
    if has_pairs(system):
        pair_up(system, system.initial_state())
    rng = np.random.default_rng(seed)
    start = Linearisation(compiled, system.initial_state(), t)
    u = np.zeros(system.n_dof)
    u[start.dofs] = amount * rng.uniform(-1.0, 1.0, start.dofs.size)
    u[system.system.positions] *= system.length
    state = start.moved(u)
    state.V[:2, start.dofs] = rng.uniform(-1.0, 1.0, start.dofs.size)
    loading = Loading(compiled)
    loading.all_on()
    return Linearisation(compiled, state, t, loading)


def check(lin: Linearisation, tolerance: float = 2e-9, steps: tuple[float, float, float] = (_STEP, 2.0, 8.0)) -> None:
    """Every column of K, C, M, and of G, against differences of order 4 with ``steps``; entries over the largest of
    their row."""
    N, d = lin.system.n_dof, lin.dofs
    place = np.isin(d, lin.system.system.positions)
    speed = max(lin.speed, 1.0)
    m = N - 1 - lin.first
    for slot, (name, A) in enumerate((("K", lin.K), ("C", lin.C), ("M", lin.M))):
        found = np.zeros((N, d.size))
        for j, dof in enumerate(d):
            # the residual is a polynomial of low order in velocities and accelerations: large steps lose no digits
            e = steps[slot] * (lin.system.length if place[j] else 1.0) * speed**slot

            def moved(c, slot=slot, dof=dof, e=e):
                z = np.zeros((3, N))
                z[slot, dof] = c * e
                return residual(lin, *z)

            found[:, j] = (8.0 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12.0 * e)
        A = A.toarray()
        size = np.abs(A).max(axis=1, keepdims=True) + 1e-6 * np.abs(A).max()
        error = np.abs(A - found[d]) / np.where(size > 0.0, size, 1.0)
        worst = np.unravel_index(error.argmax(), error.shape)
        assert error.max() < tolerance, (name, lin.names[worst[0]], lin.names[worst[1]], error.max())
        if slot == 0 and m:
            G = lin.G.toarray()[:m]
            assert np.abs(G - found[lin.first : -1]).max() < tolerance * np.abs(G).max()


# --- models ----------------------------------------------------------------------------------------------------------
def plane_beams() -> Model:
    m = Model(2, gravity=(0.0, -9.81))
    m.section("s", "stiffness", EA=1e4, EI=20.0, GA=5e3, rhoA=1.0, rhoI=0.01)
    m.line("l", (0, 0), (1, 0.3), 2)
    m.beams("b", "l", "s", damping=0.01)
    m.fix("l:start", ["x"])
    m.force("follower", "l:end", (3.0, 40.0), follower=True)
    m.line_load("wind", "b", (0.0, 30.0), axes="local")
    return m


def plane_mechanism() -> Model:
    m = Model(2, gravity=(0.0, -9.81))
    m.body("crank", (0.1, 0), mass=1.0, inertia=0.02)
    m.body("rod", (0.5, 0), mass=0.5, inertia=0.05)
    m.body("block", (0.8, 0), mass=2.0, inertia=0.01)
    m.joint("o", "revolute", "ground", "crank", point=(0, 0), function="3*t")
    m.joint("a", "revolute", "crank", "rod", point=(0.2, 0))
    m.joint("b", "revolute", "rod", "block", point=(0.8, 0))
    m.joint("guide", "point_on_line", "ground", "block", axis=(1, 0), point=(0.8, 0))
    m.joint_spring("coil", "a", 3.0, 0.2)
    m.spring("s", "rod", "ground", 100.0, 2.0, point_a=(0.4, 0.0), point_b=(0.4, 1.0))
    m.motor("servo", "b", position="0.2*t", kp=4.0, kd=0.3)
    return m


def plane_solids() -> Model:
    m = Model(2)
    m.material("m", E=1e4, nu=0.3, density=100.0)
    m.mesh("p", box_mesh("quad", (2, 1), (2.0, 1.0)))
    m.planes("part", "p", "m", thickness=0.1, damping=0.01)
    m.pressure("load", "p:x1 faces", 100.0)
    return m


def space_beams() -> Model:
    m = Model(3, gravity=(0, 0, -9.81))
    m.material("s", E=2e7, nu=0.3, density=7800.0)
    m.section("b", "rectangle", width=0.02, height=0.03)
    m.line("l", (0, 0, 0), (1, 0.2, 0.1), 2)
    m.beams("b", "l", "b", "s", damping=1e-3)
    m.body("hub", (0, 0, 0.1), mass=1.0, inertia=(0.1, 0.15, 0.2))
    m.joint("j", "revolute", "hub", "l:start", axis=(0, 0, 1.0), point=(0, 0, 0))
    m.moment("m", "l:end", (1.0, 2.0, 3.0), kind="follower")
    m.force("f", "l:end", (2.0, 0.0, 3.0), follower=True)
    return m


def trusses() -> Model:
    m = Model(3)
    m.material("s", E=1e7, nu=0.3, density=1000.0)
    m.section("b", "circle", diameter=0.02)
    m.line("l", (0, 0, 0), (1, 0.2, 0.1), 2)
    m.trusses("t", "l", "b", "s", damping=1e-3)
    m.point_mass("p", "l:end", 3.0)
    m.fix("l:start")
    return m


def bodies(*kinds: str) -> Model:
    """Two bodies on the ground by two joints."""
    m = Model(3, gravity=(0, 0, -9.81))
    m.body("a", (0.3, 0.1, 0), mass=1.0, inertia=(0.1, 0.15, 0.2), rotation=(0.1, 0.2, 0.3))
    m.body("b", (0.8, 0.2, 0.1), mass=2.0, inertia=(0.2, 0.15, 0.1))
    more = {
        "universal": {"axis": (1, 0, 0), "axis_b": (0, 1, 0)}, "spherical": {}, "weld": {},
        "screw": {"axis": (1, 0, 0), "lead": 0.1}, "driven": {"axis": (0, 0, 1), "function": "0.5*t**2"},
    }  # fmt: skip
    ends = [("ground", "a", (0, 0, 0)), ("a", "b", (0.5, 0.1, 0.0))]
    for i, (kind, (p, q, point)) in enumerate(zip(kinds, ends, strict=True)):
        options = more.get(kind, {"axis": (0.0, 0.6, 0.8)})
        m.joint(f"j{i}", "revolute" if kind == "driven" else kind, p, q, point=point, **options)
    return m


def mounts() -> Model:
    m = bodies("spherical", "cylindrical")
    m.bushing(
        "mount", "a", "b", [100.0, 200.0, 300.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 0.1, 0.2, 0.3], point=(0.4, 0.3, 0.1)
    )
    m.bushing("foot", "b", "ground", [50.0] * 6, [2.0] * 6, frame="mean")
    m.spring("s", "a", "b", 100.0, 3.0, length=0.2, point_a=(0.3, 0.4, 0.0), point_b=(0.9, 0.0, 0.0))
    m.nodal_spring("n", "b", "x", 30.0, 1.0)
    m.torsion_spring("t", "a", "b", 3.0, 0.1, axis=(0, 0, 1))
    m.joint_spring("slide", "j1", 20.0, 0.5, coordinate="displacement", cubic=100.0)
    return m


def solids() -> Model:
    m = Model(3)
    m.material("m", E=1e4, nu=0.3, density=100.0)
    m.mesh("p", box_mesh("hexahedron", (1, 1, 1), (1.0, 1.0, 1.0)))
    m.solids("part", "p", "m", damping=0.01)
    m.pressure("load", "p:x1 faces", 100.0)
    m.fix("p:x0", ["x"])
    return m


def top() -> Model:
    m = Model(3, gravity=(0, 0, -9.81))
    m.body("top", (0.1, 0, 0.3), mass=2.0, inertia=(0.1, 0.2, 0.15), rotation=(0.1, 0.4, 0.2))
    m.joint("tip", "spherical", "top", "ground", point=(0, 0, 0))
    m.point_mass("rider", "top", 0.5, inertia=(0.02, 0.03, 0.04), offset=(0.1, 0.0, 0.2))
    return m


def pulled() -> Model:
    """Forces of a Python function, with rates."""
    m = Model(2)
    m.body("b", (0.5, 0), mass=1.0, inertia=0.1)
    m.joint("j", "revolute", "ground", "b", point=(0, 0))
    m.user_force("law", "j", lambda q, rate, t: -3.0 * np.sin(q) - 0.2 * rate**3)
    return m


MODELS = {
    "plane beams": plane_beams, "plane mechanism": plane_mechanism, "plane solids": plane_solids,
    "space beams": space_beams, "trusses": trusses, "mounts": mounts, "solids": solids, "top": top, "user": pulled,
    "universal, prismatic": lambda: bodies("universal", "prismatic"),
    "revolute, screw": lambda: bodies("revolute", "screw"),
    "driven, planar": lambda: bodies("driven", "planar"),
    "point on line, weld": lambda: bodies("point_on_line", "weld"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(MODELS))
def test_matrices_are_differences_of_the_residual(name):
    check(in_motion(MODELS[name]()))


LAW = {"stiffness": 100.0, "exponent": 1.5, "coefficient": 0.4, "smoothing": 0.7}


def ball_on(dimension: int, surface: str, **options) -> Model:
    """A ball that presses on a body and slides over it."""
    m = Model(dimension)
    inertia = 0.1 if dimension == 2 else (0.1, 0.2, 0.15)
    m.body("a", (0.0,) * dimension, 2.0, inertia)
    m.body("b", (0.1, 0.45) if dimension == 2 else (0.1, 0.2, 0.45), 1.0, inertia)
    m.contact(
        "touch", "a", "b", surface=surface, ball=0.5, damping=0.3, overlap=0.3, static=0.6, stribeck=1.5,
        **LAW, **options,
    )  # fmt: skip
    return m


def crossing_tubes() -> Model:
    m = Model(3)
    m.section("s", "stiffness", EA=1e4, GJ=30.0, EIy=20.0, EIz=25.0, rhoA=1.0, rhoI=0.01)
    m.line("p", (0, 0, 0), (1, 0, 0), 1)
    m.line("q", (0.5, -0.4, 0.13), (0.6, 0.7, 0.14), 1)
    for name in "pq":
        m.beams(name, name, "s", orientation=(0, 0, 1))
    m.contact("touch", "p", "q", surface="beams", radius=0.1, ball=0.1, overlap=0.1, along=True, **LAW)
    return m


def point_on_faces() -> Model:
    m = Model(3)
    m.material("m", E=1e4, nu=0.3, density=100.0)
    m.mesh("p", box_mesh("hexahedron", (1, 1, 1), (1.0, 1.0, 1.0)))
    m.solids("part", "p", "m")
    m.node("b", (0.3, 0.4, 1.45))
    m.point_mass("b", "b", 1.0)
    m.contact("touch", "p:z1 faces", "b", surface="faces", ball=0.5, overlap=0.2, **LAW)
    return m


RUBBING = {
    "plane, in the plane": lambda: ball_on(2, "plane", point=(0, 0), axis=(0, 1)),
    "plane": lambda: ball_on(3, "plane", point=(0, 0, 0), axis=(0, 0, 1)),
    "cylinder": lambda: ball_on(3, "cylinder", point=(0, 0, -1.0), radius=1.0, axis=(0.3, 1, 0)),
    "box": lambda: ball_on(3, "box", point=(0, 0, -1.0), size=(2, 2, 1.8), radius=0.1),
    "tubes": crossing_tubes, "faces": point_on_faces,
}  # fmt: skip


@pytest.mark.parametrize("name", list(RUBBING))
def test_matrices_of_contacts_that_slide(name):
    """The friction of contacts depends on places by the pressure; without that no brake squeals."""
    lin = in_motion(RUBBING[name](), amount=0.01)
    (number,) = (i for i, block in enumerate(lin.system.blocks) if "friction force [N]" in block.type.outputs)
    block = lin.system.blocks[number]
    normal, rubbed = (block.type.outputs.index(f"{what} force [N]") for what in ("normal", "friction"))
    table = lin.system.outputs(
        number, lin.tangent.control(2.0, mass=1.0), lin.tangent.functions, lin.state, 0, block.size
    )
    assert table[:, normal].max() > 0.5 and table[:, rubbed].max() > 0.1
    check(lin, 1e-6, (1e-4, 2e-3, 8.0))


def test_difference_would_see_a_missing_term():
    """The check fails for a matrix that is off by a hundred-millionth of its rows."""
    lin = in_motion(top())
    M, C, K = lin._system
    lin.__dict__["_system"] = (M, C * (1.0 + 1e-8), K)
    with pytest.raises(AssertionError):
        check(lin)


def test_damped_elements_do_not_care_how_far_the_model_goes():
    """Differences take steps of an element's own length: a mass far away changes nothing in a short damped beam."""

    def stiffness(far: bool) -> np.ndarray:
        m = Model(2)
        m.section("s", "stiffness", EA=1e4, EI=20.0, rhoA=1.0, rhoI=0.01)
        m.line("l", (0, 0), (0.1, 0.03), 2)
        m.beams("b", "l", "s", damping=0.01)
        if far:
            m.node("far", (50.0, 0.0))
            m.point_mass("p", "far", 1.0)
        compiled = m.compile(stepping=False)
        state = compiled.system.initial_state()
        state.V[:2, :9] = np.random.default_rng(1).uniform(-1.0, 1.0, 9)
        lin = Linearisation(compiled, state)
        assert list(lin.dofs[:9]) == list(range(9))
        return lin.K.toarray()[:9, :9]

    near = stiffness(False)
    np.testing.assert_allclose(stiffness(True), near, rtol=0.0, atol=1e-12 * np.abs(near).max())
