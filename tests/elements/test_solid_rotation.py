"""Solids in turning frames: centrifugal loads, spin softening, the Coriolis matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from solid_meshes import box_mesh
from test_model_solids import NU, RHO, E, last, part, stress_of

from fem_mbs import Model, ModelError, solve
from fem_mbs.analysis.linear.coriolis import coriolis_matrix
from fem_mbs.contract import FORCE, N_CTL, SF, SK
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.elements.solids import recovery as solid_recovery


@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_rotating_rod(mass):
    """u = rho w^2 L^3/(3 E) at the end of a rod that turns about the other; the load factor multiplies w^2."""
    model = part("hexahedron20", (6, 1, 1), (1.0, 0.1, 0.1), nu=0.0)
    model.solids("rod", "m", "rubber", kinematics="linear", element="reduced", mass=mass)
    model.fix("m:x0")
    omega = 0.5
    model.centrifugal("spin", omega, axis=(0.0, 0.0, 1.0), point=(0.0, 0.05, 0.0))
    model.sensor("root", "reaction", on="m:x0")
    model.static_step(increments=2)
    solution = solve(model)
    u = solution.steps[0].frames["displacement"]
    end = model.nodes_of("m:x1")
    exact = RHO * omega**2 / (3 * E)
    assert u[-1, end, 0].mean() == pytest.approx(exact, rel=2e-4 if mass == "consistent" else 2e-2)
    assert solution.steps[-1].series["sensor/root"][-1, 0] == pytest.approx(-RHO * 0.01 * omega**2 * 0.5, rel=1e-3)


def test_rotating_ring_about_its_axis():
    """Thin annulus (Timoshenko & Goodier, Theory of elasticity, section 32): hoop stress at the hole
    (3 + nu)/4 rho w^2 (b^2 + (1 - nu)/(3 + nu) a^2)."""
    a, b, t, omega = 1.0, 3.0, 0.05, 0.3
    model = part("quad8", (24, 1), (b - a, t), place=(a, 0.0))
    model.planes("disc", "m", "rubber", state="axisymmetric", kinematics="linear")
    model.fix("m:y0", components=["y"])
    model.centrifugal("spin", omega)
    model.static_step()
    frames = last(model)
    S, _ = stress_of(frames, model, "disc")
    group = model.solid_groups["disc"]
    r = solid_recovery.point_positions("quad8", model.positions[group.nodes])[..., 0]
    k = (1 + 3 * NU) / (3 + NU)
    hoop = (3 + NU) / 8 * RHO * omega**2 * (a**2 + b**2 + (a * b / r) ** 2 - k * r**2)
    assert np.allclose(S[..., 2], hoop, rtol=3e-3)


def test_rotating_ring_in_the_plane():
    """The same ring as a quarter in plane stress, the axis across the plane."""
    a, b, omega = 1.0, 3.0, 0.3
    grid = box_mesh("quad8", (12, 12), (b - a, np.pi / 2))
    r, phi = grid.points[:, 0] + a, grid.points[:, 1]
    mesh = replace(grid, points=np.column_stack((r * np.cos(phi), r * np.sin(phi))))
    model = Model(2)
    model.material("rubber", E=E, nu=NU, density=RHO)
    model.mesh("m", mesh)
    model.planes("disc", "m", "rubber", kinematics="linear", thickness=0.2)
    model.fix("m:y0", components=["y"])
    model.fix("m:y1", components=["x"])
    model.centrifugal("spin", omega)
    model.static_step()
    u = solve(model).steps[0].frames["displacement"][-1]
    radial = u[:, 0] * np.cos(phi) + u[:, 1] * np.sin(phi)
    k = (3 + NU) / 8 * RHO * omega**2 / E
    c = (1 + NU) / (3 + NU)
    exact = k * r * ((1 - NU) * (a**2 + b**2) + (1 + NU) * (a * b / r) ** 2 - (1 - NU) * c * r**2)
    assert np.allclose(radial, exact, rtol=2e-3)


@pytest.mark.parametrize("omega", [0.0, 6.0])
def test_flapping_of_a_rotating_cantilever(omega):
    """Published frequencies (EI = rho A = L = 1): flap 7.3604 at w = 6; in the plane of rotation w^2 is less by 36."""
    b = 0.02
    flap = {0.0: 3.5160, 6.0: 7.3604}[omega]
    model = Model(3)
    model.material("m", E=12.0 / b**4, nu=0.0, density=1.0 / b**2)
    model.mesh("m", box_mesh("hexahedron20", (12, 1, 1), (1.0, b, b)))
    model.solids("beam", "m", "m", kinematics="nonlinear")
    model.fix("m:x0")
    if omega:
        model.centrifugal("spin", omega, axis=(0.0, 0.0, 1.0))
        model.static_step()
    model.modes_step(count=2)
    f = np.array(solve(model).steps[-1].summary["frequencies_hz"])
    assert 2 * np.pi * f == pytest.approx(sorted([np.sqrt(flap**2 - omega**2), flap]), rel=4e-3)


# --- Coriolis --------------------------------------------------------------------------------------------------------
def rigid(model, system, centre):
    """(N, 6): velocities of all dofs in translations and rotations about a centre."""
    R = np.zeros((system.n_dof, 6))
    for node, x in enumerate(model.positions - centre):
        first = system.offset[node]
        R[first : first + 3, :3] = np.eye(3)
        R[first : first + 3, 3:] = -np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
        if system.nodes.rotational[node]:
            R[first + 3 : first + 6, 3:] = np.eye(3)
    return R


OMEGA = np.array([0.3, -0.7, 0.5])


def solid_block(lumped=False):
    model = part("tetra10", (2, 2, 2), (1.0, 0.5, 0.4))
    model.solids("body", "m", "rubber", mass="lumped" if lumped else "consistent")
    return model


def rigid_body():
    m, (a, b, c) = RHO * 0.2, (1.0, 0.5, 0.4)
    model = Model(3)
    inertia = m / 12 * np.array((b**2 + c**2, a**2 + c**2, a**2 + b**2))
    # (turned axes of the body: the inertia given in them)
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_rotvec((0.3, 0.2, -0.4))
    J = turn.as_matrix().T @ np.diag(inertia) @ turn.as_matrix()
    model.body("body", (0.5, 0.25, 0.2), m, J, rotation=turn.as_rotvec())
    return model


def test_the_coriolis_matrix_of_a_solid_is_that_of_its_rigid_body():
    found = []
    for model in (solid_block(), rigid_body()):
        system = model.compile().system
        G = coriolis_matrix(system, OMEGA)
        assert abs(G + G.T).max() < 1e-12 * abs(G).max()
        R = rigid(model, system, (0.5, 0.25, 0.2))
        found.append(R.T @ G @ R)
    assert np.allclose(found[0], found[1], atol=1e-10 * np.abs(found[0]).max())
    x, y, z = OMEGA
    assert np.allclose(found[0][:3, :3], 2 * RHO * 0.2 * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))


def test_the_coriolis_matrix_of_beams_and_points():
    """A beam without rotary inertia against the same line of many point masses."""
    beam = Model(3)
    beam.section("s", "stiffness", EA=1.0, EI=1.0, GA=np.inf, GJ=1.0, rhoA=3.0, rhoI=0.0)
    beam.line("l", (0.1, 0.2, 0.3), (1.1, 0.7, -0.2), 2)
    beam.beams("b", "l", "s")
    n = 400
    s = (np.arange(n) + 0.5) / n
    points = Model(3)
    for i, t in enumerate(s):
        points.node(f"p{i}", (0.1 + t, 0.2 + 0.5 * t, 0.3 - 0.5 * t))
    points.point_mass("m", [f"p{i}" for i in range(n)], 3.0 * np.sqrt(1.5) / n)
    found = []
    for model in (beam, points):
        system = model.compile().system
        R = rigid(model, system, (0.0, 0.0, 0.0))
        found.append(R.T @ coriolis_matrix(system, OMEGA) @ R)
    assert np.allclose(*found, atol=1e-5 * np.abs(found[0]).max())


@pytest.mark.parametrize("dimension", [2, 3])
def test_bodies_at_rest_in_space(dimension):
    """Seen from the turning frame points at rest move in circles: mass, Coriolis and centrifugal forces balance."""
    if dimension == 3:
        model, omega = part("wedge15", (2, 1, 1), (1.0, 0.5, 0.4)), OMEGA
        model.solids("body", "m", "rubber")
        model.centrifugal("spin", float(np.linalg.norm(omega)), axis=omega, point=(0.2, 0.1, 0.0))
        turn = np.array([[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]])
        arm = model.positions - (0.2, 0.1, 0.0)
    else:
        model, omega = part("quad8", (2, 1), (1.0, 0.5)), 0.7
        model.planes("body", "m", "rubber", thickness=0.1)
        model.centrifugal("spin", omega, point=(0.2, 0.1))
        turn = omega * np.array([[0.0, -1.0], [1.0, 0.0]])
        arm = model.positions - (0.2, 0.1)
    compiled = model.compile()
    system = compiled.system
    state = system.initial_state()
    v, a = np.zeros(system.n_dof), np.zeros(system.n_dof)
    v[:-1], a[:-1] = (-arm @ turn.T).ravel(), (arm @ (turn @ turn).T).ravel()
    ctl = np.zeros(N_CTL)
    ctl[SF] = ctl[SK] = 1.0
    fun = np.full((1, 3), float(np.dot(omega, omega)))
    total = coriolis_matrix(system, omega) @ v
    for block in system.blocks:
        if block.type.name in solid_mass.TYPES:
            M = solid_mass.masses_of(block.par, block.type.ends)
            inertia = np.einsum("eab,ebi->eai", M, a[block.dof].reshape(len(M), -1, dimension))
            np.add.at(total, block.dof, inertia.reshape(block.dof.shape))
        elif "centrifugal" in block.type.name:
            for _, fe, _ in system.element_arrays(FORCE, ctl, fun, state, [block]):
                np.add.at(total, block.dof, fe)
    assert np.abs(total).max() < 1e-12 * RHO


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda m: m.centrifugal("s", 1.0, axis=(1.0, 0.0)), "axisymmetric parts turn about y; remove axis"),
        (lambda m: m.centrifugal("s", 1.0, point=(1.0, 0.0)), "turn about their axis, x = 0; remove point"),
        (lambda m: m.centrifugal("s", 1.0, spin=True), "axisymmetric parts do not turn in transients"),
    ],
)
def test_refused(act, message):
    model = part("quad", (1, 1), (1.0, 1.0))
    model.planes("p", "m", "rubber", state="axisymmetric")
    with pytest.raises(ModelError, match=message):
        act(model)


def test_other_masses_beside_a_turning_ring():
    model = part("quad", (1, 1), (1.0, 1.0))
    model.planes("p", "m", "rubber", state="axisymmetric")
    model.point_mass("extra", "m:x1", 1.0)
    model.centrifugal("s", 1.0)
    with pytest.raises(ModelError, match='cannot turn the mass of "extra"'):
        model.compile()


def test_bad_omega():
    system = solid_block().compile().system
    with pytest.raises(ModelError, match=r"omega = 1.0 must be 3 numbers"):
        coriolis_matrix(system, 1.0)
