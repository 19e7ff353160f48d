"""Flexible body data: identities on random point masses, reduced parts, and its text files."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import numpy as np
import pytest
from reduced_parts import MODES, N, free_part, moments_of, random_data, stiff

from fem_mbs.errors import ModelError
from fem_mbs.parts.part import Moments
from fem_mbs.parts.sid import FlexibleBodyData, FlexibleNode, Taylor, body_data, body_frame, part_of
from fem_mbs.parts.sid_file import read_sid, write_sid


def random_motion(seed=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3, 3)), rng.normal(size=(3, MODES))


def brute(m, c, phi, a, alpha, w, q, dq, ddq):
    """Sums over the masses, appendix A of the test."""
    d, v = c + phi @ q, phi @ dq
    acc = a + np.cross(alpha, d) + np.cross(w, np.cross(w, d)) + 2.0 * np.cross(w, v) + phi @ ddq
    return m @ acc, m @ np.cross(d, acc), np.einsum("i,iak,ia->k", m, phi, acc)


@pytest.mark.parametrize("seed", range(3))
def test_equations_of_motion_are_sums_over_the_masses(seed):
    data, (m, c, phi, K, D) = random_data(seed)
    (a, alpha, w), (q, dq, ddq) = random_motion(seed)
    f, moment, elastic = data.residual(a, alpha, w, q, dq, ddq)
    wanted = brute(m, c, phi, a, alpha, w, q, dq, ddq)
    np.testing.assert_allclose(f, wanted[0], atol=1e-12)
    np.testing.assert_allclose(moment, wanted[1], atol=1e-12)
    np.testing.assert_allclose(elastic, wanted[2] + K @ q + D @ dq, atol=1e-12)


def test_a_plane_body_is_one_in_space():
    data, (m, c, phi, K, D) = random_data(dim=2)
    (a, alpha, w), (q, dq, ddq) = random_motion()
    c = np.column_stack((c, np.zeros(N)))
    phi = np.concatenate((phi, np.zeros((N, 1, MODES))), axis=1)
    wanted = brute(m, c, phi, a, alpha, w, q, dq, ddq)
    f, moment, elastic = data.residual(a, alpha, w, q, dq, ddq)
    np.testing.assert_allclose(f, wanted[0], atol=1e-12)
    np.testing.assert_allclose(moment, wanted[1], atol=1e-12)
    np.testing.assert_allclose(elastic, wanted[2] + K @ q + D @ dq, atol=1e-12)


def test_only_the_second_order_of_the_inertia_is_left_out_by_the_standard():
    """Without the derivatives of Gr what is missing falls with the square of q."""
    data, (m, c, phi, *_) = random_data()
    short = replace(data, Gr=Taylor(data.Gr.M0))
    (a, alpha, w), (q, dq, ddq) = random_motion()
    errors = []
    for size in (1e-2, 1e-3):
        wanted = brute(m, c, phi, a, alpha, w, size * q, 0.0 * dq, ddq)[1]
        errors.append(np.abs(short.residual(a, alpha, w, size * q, 0.0 * dq, ddq)[1] - wanted).max())
    assert errors[0] > 0.0 and 90.0 < errors[0] / errors[1] < 110.0


def test_moments_come_back():
    data, (m, c, phi, _, _) = random_data()
    wanted, got = moments_of(m, c, phi), data.moments()
    for entry in fields(Moments):
        np.testing.assert_allclose(getattr(got, entry.name), getattr(wanted, entry.name), atol=1e-13)
    with pytest.raises(ModelError, match="Gr of order 1"):
        replace(data, Gr=Taylor(data.Gr.M0)).moments()


def assert_equal(one, other, atol=0.0):
    for entry in fields(FlexibleBodyData):
        a, b = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(a, Taylor):
            np.testing.assert_allclose(a.M0, b.M0, rtol=0.0, atol=atol, err_msg=entry.name)
            assert (a.M1 is None) == (b.M1 is None), entry.name
            if a.M1 is not None:
                np.testing.assert_allclose(a.M1, b.M1, rtol=0.0, atol=atol, err_msg=entry.name)
    assert one.mass == pytest.approx(other.mass, rel=1e-15)
    assert [node.name for node in one.nodes] == [node.name for node in other.nodes]
    for a, b in zip(one.nodes, other.nodes, strict=True):
        for key in ("origin", "phi", "psi", "axes"):
            np.testing.assert_allclose(getattr(a, key).M0, getattr(b, key).M0, rtol=0.0, atol=atol)
            one_has = getattr(a, key).M1
            assert (one_has is None) == (getattr(b, key).M1 is None)
            if one_has is not None:
                np.testing.assert_allclose(one_has, getattr(b, key).M1, rtol=0.0, atol=atol)


def test_a_part_of_data_is_the_free_part():
    part = free_part(stiff())
    S = np.zeros((9, 3))
    S[6:] = np.eye(3)
    own = part.transformed(S, np.zeros((3, 0)))
    from fem_mbs.parts.sid import _nodes

    data = FlexibleBodyData.from_moments(
        own.moments, own.stiffness, own.damping, _nodes(own), stiffening=own.stiffening, title="points"
    )
    back = part_of(data)
    for key in ("stiffness", "mass", "boundary", "rigid", "gravity"):
        np.testing.assert_allclose(getattr(back, key), getattr(part, key), atol=1e-13, err_msg=key)
    for entry in fields(Moments):
        np.testing.assert_allclose(
            getattr(back.moments, entry.name), getattr(part.moments, entry.name), atol=1e-13, err_msg=entry.name
        )
    assert set(back.stiffening) == set(part.stiffening)
    for key, K in part.stiffening.items():
        np.testing.assert_allclose(back.stiffening[key], K, atol=1e-13)


@pytest.mark.parametrize("frame", ["mean", "left"])
def test_frames(frame):
    part = free_part()
    S, frequencies = body_frame(part, frame)
    assert S.shape == (9, 3)
    np.testing.assert_allclose(S.T @ part.mass @ S, np.eye(3), atol=1e-12)
    K = S.T @ part.stiffness @ S
    np.testing.assert_allclose(K, np.diag((2.0 * np.pi * frequencies) ** 2), atol=1e-9 * K.max())
    if frame == "mean":  # the momenta of deformations vanish
        np.testing.assert_allclose(part.rigid.T @ part.mass @ S, 0.0, atol=1e-12)
    else:
        np.testing.assert_allclose(part.boundary[:6] @ S, 0.0, atol=1e-12)
    data = body_data(part, frame)
    if frame == "mean":
        np.testing.assert_allclose(data.Ct.M0, 0.0, atol=1e-12)
    assert body_data(part, frame, count=2).size == 2
    assert data.modes[0].endswith("Hz")


def test_force_and_frame_stiffening_stand_in_the_equations():
    """K q per unit of each load, on the left."""
    part = free_part(stiff())
    S = np.vstack((np.zeros((6, MODES)), np.eye(MODES)))
    own = part.transformed(S, np.zeros((3, 0)))
    from fem_mbs.parts.sid import _nodes

    nodes = _nodes(own)
    one = FlexibleBodyData.from_moments(own.moments, own.stiffness, nodes=nodes, stiffening=own.stiffening)
    plain = FlexibleBodyData.from_moments(own.moments, own.stiffness, nodes=_nodes(replace(own, stiffening={})))
    (a, alpha, w), (q, dq, _) = random_motion()
    load = np.arange(1.0, 7.0)
    zero = np.zeros(3)
    got = one.residual(a, alpha, w, q, dq, zero, {"left": load})[2]
    less = plain.residual(a, alpha, w, q, dq, zero, {"left": load})[2]
    K = stiff()
    wanted = a[0] * K["ax"] + a[2] * K["az"] + alpha[1] * K["alphay"] + w[0] ** 2 * K["wx2"]
    wanted = wanted + w[0] * w[1] * K["wxwy"] + load[0] * K["left.x"] + load[4] * K["left.ry"]
    np.testing.assert_allclose(got - less, wanted @ q, atol=1e-11)


def test_files_keep_every_digit(tmp_path):
    data = body_data(free_part(stiff()), "left")
    path = write_sid(tmp_path / "body.SID_FEM", data)
    back = read_sid(path)
    assert_equal(data, back)
    assert back.modes == data.modes and back.title == data.title
    again = write_sid(tmp_path / "again.SID_FEM", back)
    assert again.read_text() == path.read_text()
    assert "D+00" in path.read_text()


def test_structures_and_orders_of_others(tmp_path):
    """Diagonal and unit matrices, one triangle, and the last rows of J in another order."""
    data = body_data(free_part(), "left")
    text = write_sid(tmp_path / "body.SID_FEM", data).read_text()
    structures = {
        name: text.split(f"\n           {name}\n")[1].split("structure")[1].split()[1] for name in ("Me", "Ke")
    }
    assert structures == {"Me": "4", "Ke": "1"}
    lines, inside = [], ""
    for line in text.splitlines():
        word = line.strip()
        inside = "J" if word == "J" else "" if word == "end J" else inside
        if inside == "J":
            line = line.replace("(  5,", "(  0,").replace("(  6,", "(  5,").replace("(  0,", "(  6,")
        lines.append(line)
    other = tmp_path / "other.SID_FEM"
    other.write_text("\n".join(lines))
    assert_equal(read_sid(other), data)
    D = np.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.0], [0.1, 0.0, 4.0]])
    text = write_sid(other, replace(data, De=Taylor(D))).read_text()
    head, tail = text.split("\n           De\n")
    tail = tail.replace("structure               =      3", "structure               =      2")
    kept = [line for line in tail.splitlines() if "m0(  1,  2)" not in line and "m0(  1,  3)" not in line]
    other.write_text(head + "\n           De\n" + "\n".join(kept))
    np.testing.assert_array_equal(read_sid(other).De.M0, D)
    index = text.index("\n           Gr\n")
    at = text.index("m0(  1,  2)             = ", index) + len("m0(  1,  2)             = ")
    other.write_text(text[:at] + " 9" + text[at + 2 :])
    with pytest.raises(ModelError, match="belong to no one body"):
        read_sid(other)


BROKEN = {
    "cut off": (lambda t: t[: t.index("\n", len(t) // 2)], "does not end|cut off"),
    "no number": (lambda t: t.replace("D+00", "Q+00", 1), "is no number"),
    "not finite": (lambda t: t.replace("= -", "= inf ", 1), "is not finite|no number"),
    "a node too many": (lambda t: t.replace("    2    3    :No", "    3    3    :No"), "3 nodes and 3 modes"),
    "no matrix": (lambda t: t.replace("mdCM", "mdXX"), "it has no mdCM"),
    "a mass without value": (lambda t: re.sub("mass +=.*", "mass", t, count=1), '"mass" has no'),
    "a node without name": (lambda t: re.sub("new node +=.*", "new node", t, count=1), '"new node" has no'),
    "a reference without name": (lambda t: re.sub("rframe +=.*", "rframe", t, count=1), '"rframe" has no'),
    "too many rows": (lambda t: re.sub("nrow +=.*", "nrow = " + "9" * 30, t, count=1), "9 rows"),
    "no header": (lambda t: "hello\n" + t, "first line"),
    "an order": (
        lambda t: t.replace("order                   =      1", "order                   =      7", 1),
        "order 7",
    ),
    "outside": (lambda t: t.replace("m0(  1,  1)", "m0( 91,  1)", 1), "is no entry of"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_say_where(case, tmp_path):
    change, message = BROKEN[case]
    path = write_sid(tmp_path / "body.SID_FEM", body_data(free_part(), "left"))
    text = change(path.read_text())
    assert text != path.read_text()
    path.write_text(text)
    with pytest.raises(ModelError, match=message):
        read_sid(path)


def test_what_has_no_data_says_so(tmp_path):
    with pytest.raises(ModelError, match="no moments"):
        body_data(replace(free_part(), moments=None))
    with pytest.raises(ModelError, match='"middle" is no interface'):
        body_data(free_part(), "middle")
    with pytest.raises(ModelError, match="cannot be read"):
        read_sid(tmp_path / "none.SID_FEM")
    with pytest.raises(ModelError, match='no node "middle"'):
        body_data(free_part()).node("middle")


def test_an_interface_of_positions_alone_holds_no_rotation():
    part = free_part()
    left = replace(part.interfaces[0], components=("x", "y", "z"))
    loose = replace(part, interfaces=(left,), boundary=part.boundary[:3])
    with pytest.raises(ModelError, match="does not hold the part"):
        body_data(loose, "left")
    assert isinstance(body_data(loose).nodes[0], FlexibleNode)


def _table(name, shape, entries="", order=0, structure=3):
    rows, columns = shape
    lines = [f"           {name}"] if name else []
    head = (("order", order), ("nrow", rows), ("ncol", columns), ("nq", 1), ("nqn", 0), ("structure", structure))
    lines += [f"                          {key:<22}= {value:4d}" for key, value in head]
    lines += [f"                          {entry}" for entry in entries.split(";") if entry]
    return "\n".join([*lines, f"           end {name}"])


def test_a_file_of_another_program(tmp_path):
    """One mass of 2 kg at (1, 0, 0) that swings along y, written by hand as PY_SID writes its files."""
    node = "\n".join((
        "                new node                        =    6022",
        "                     rframe                     =    body ref",
        _table("origin", (3, 1), "m0( 1, 1)             = 1.00000000000D+00;m1( 2, 1, 1)=+.1D+01", 1),
        _table("phi", (3, 1), "m0( 2, 1)             = 1.00000000000D+00"),
        _table("psi", (3, 1), structure=0),
        _table("AP", (3, 3), order=1, structure=4),
        "                end node",
    ))  # fmt: skip
    text = "\n".join((
        "    1   1    :No. nodes, No. modes:by hand: beta:0.0 ",
        " part ",
        "      new modal                                 =",
        "           refmod ",
        "                mass                            = 2.0D+00",
        "                nelastq                         =     1",
        "                ielastq (   1)                  = Eigen Mode    1 :        8.360 Hz",
        "           end refmod ",
        "           frame ",
        node,
        "           end frame ",
        _table("mdCM", (3, 1), "m0( 1, 1)= 2.0D0;m1( 2, 1, 1)= 2.0D0", 1),
        _table("J", (6, 1), "m0( 2, 1)= 2.0D0;m0( 3, 1)= 2.0D0;m1( 4, 1, 1)=-2.0D0", 1),
        _table("Ct", (1, 3), "m0( 1, 2)= 2.0D0"),
        _table("Cr", (1, 3), "m0( 1, 3)= 2.0D0"),
        _table("Me", (1, 1), "m0( 1, 1)= 2.0D0"),
        _table("Gr", (3, 3), "m0( 2, 1)=-4.0D0;m1( 1, 1, 1)= 4.0D0;m1( 3, 1, 3)= 4.0D0", 1),
        _table("Ge", (1, 3), structure=0),
        _table("Oe", (1, 6), "m0( 1, 4)= 2.0D0;m1( 1, 1, 1)=-2.0D0;m1( 1, 1, 3)=-2.0D0", 1),
        _table("ksigma", (1, 1), structure=0),
        _table("Ke", (1, 1), "m0( 1, 1)= 7.0D+00", structure=1),
        _table("De", (1, 1), structure=0),
        "      end modal ",
        " end part ",
    ))  # fmt: skip
    path = tmp_path / "hand.SID_FEM"
    path.write_text(text)
    data = read_sid(path)
    assert (data.title, data.modes, data.nodes[0].name) == (
        "by hand: beta:0.0",
        ("Eigen Mode    1 :        8.360 Hz",),
        "6022",
    )
    rng = np.random.default_rng(9)
    (a, alpha, w), (q, dq, ddq) = rng.normal(size=(3, 3)), rng.normal(size=(3, 1))
    m, c, phi = np.array([2.0]), np.array([[1.0, 0.0, 0.0]]), np.array([[[0.0], [1.0], [0.0]]])
    wanted = brute(m, c, phi, a, alpha, w, q, dq, ddq)
    got = data.residual(a, alpha, w, q, dq, ddq)
    for x, y in zip((*got[:2], got[2] - 7.0 * q), wanted, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-13)
    np.testing.assert_allclose(data.node("6022").axes.M0, np.eye(3))
    assert part_of(data).size == 7
