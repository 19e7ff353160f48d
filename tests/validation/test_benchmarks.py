"""The benchmark scripts run at tiny sizes and their numbers make sense; how fast they are is not a test's business."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

ARGUMENTS = {
    "kernel": [
        "--budget",
        "0.01",
        "--kernel-elements",
        "70",
        "--assembly-sizes",
        "5",
        "--band-sizes",
        "3",
        "--lattices",
        "31",
    ],
    "spin": ["--spin-sizes", "2", "--duration", "0.05"],
    "chain": ["--chain-sizes", "3", "--duration", "0.05"],
    "crank": ["--crank-sizes", "2", "--duration", "0.0005"],
    "links": ["--links-sizes", "4", "--duration", "0.03"],
    "memory": ["--memory-sizes", "20"],
}


@pytest.fixture(scope="module")
def rows(checkout, tmp_path_factory):
    """All tables of one run of the script at tiny sizes."""
    file = tmp_path_factory.mktemp("bench") / "rows.json"
    options = [word for case in ARGUMENTS.values() for word in case if "--duration" not in case]
    command = [sys.executable, str(checkout / "benchmarks" / "run.py"), "kernel", "memory", *options]
    subprocess.run([*command, "--repeat", "1", "--json", str(file)], check=True, timeout=120, capture_output=True)
    return json.loads(file.read_text())


@pytest.mark.parametrize("case", ["spin", "chain", "crank", "links"])
def test_case_runs_without_other_programs(checkout, tmp_path, case):
    file = tmp_path / "rows.json"
    command = [sys.executable, str(checkout / "benchmarks" / "run.py"), case, *ARGUMENTS[case]]
    command += ["--peers", "", "--repeat", "1", "--json", str(file)]
    done = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    assert "other programs: none" in done.stdout
    for table in json.loads(file.read_text()).values():
        assert [row["who"] for row in table] == ["fem-mbs"]
        assert table[0]["us_per_step"] > 0.0
        assert table[0]["results"]["drift_rel_kin"] < 1e-10


@pytest.mark.long
def test_campbell_diagram(checkout, tmp_path):
    """The rotor of Lalanne & Ferraris: 60.6 ... 254 Hz at rest (ROSS with 13 elements)."""
    file = tmp_path / "rows.json"
    command = [
        sys.executable,
        str(checkout / "benchmarks" / "rotor.py"),
        "--sizes",
        "13",
        "--speeds",
        "3",
        "--repeat",
        "1",
    ]
    subprocess.run([*command, "--json", str(file)], check=True, timeout=120, capture_output=True)
    found = json.loads(file.read_text())[0]["results"]
    np.testing.assert_allclose(found["first_hz"], (60.615, 63.025, 169.496, 185.563, 254.010, 329.605), rtol=3e-5)
    assert found["largest_residual"] < 1e-8 and found["biorthogonality"] < 1e-10


def test_modes_of_a_solid_bar(checkout, tmp_path):
    """All sides see the same bar."""
    file = tmp_path / "rows.json"
    command = [sys.executable, str(checkout / "benchmarks" / "run.py"), "modes", "--modes-sizes", "1", "--repeat", "1"]
    subprocess.run([*command, "--json", str(file)], check=True, timeout=120, capture_output=True)
    rows = {row["who"]: row for row in json.loads(file.read_text())["modes"] if not row["note"]}
    assert {"fem-mbs", "bare-superlu", "fem-mbs-inertia", "fem-mbs-band", "fem-mbs-free", "fem-mbs-buckling"} <= set(
        rows
    )
    ours = rows["fem-mbs"]["results"]["frequencies_hz"]
    assert len(ours) == 20
    for who in ("bare-superlu", "fem-mbs-inertia"):
        assert rows[who]["results"]["frequencies_hz"] == pytest.approx(ours, rel=1e-7)
    assert rows["fem-mbs-free"]["results"]["rigid"] == 6
    below = [f for f in ours if f < 4000.0]
    assert rows["fem-mbs-band"]["results"]["frequencies_hz"] == pytest.approx(below, rel=1e-7)
    # Euler: E (b pi/L)^2/48 with b/L = .1, about both axes; a solid bar is a little softer, a clamped face stiffer
    stresses = rows["fem-mbs-buckling"]["results"]["stresses_pa"]
    assert stresses[:2] == pytest.approx([2.1e11 * (0.1 * np.pi) ** 2 / 48.0] * 2, rel=0.02)


def test_program_that_fails_is_a_note(checkout, tmp_path):
    script = tmp_path / "case4_exudyn.py"
    script.write_text("raise SystemExit('no such module')\n")
    command = [sys.executable, str(checkout / "benchmarks" / "run.py"), "crank", *ARGUMENTS["crank"], "--repeat", "1"]
    command += ["--peers", sys.executable, "--peer-scripts", str(tmp_path)]
    done = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    assert "no such module" in done.stdout


def test_unknown_case_is_refused(checkout):
    command = [sys.executable, str(checkout / "benchmarks" / "run.py"), "spinn"]
    done = subprocess.run(command, timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown case 'spinn'" in done.stderr


@pytest.mark.long
def test_operations_are_counted_exactly(rows):
    flops = {row["what"]: row["flops_per_element"] for row in rows["kernel"]}
    # of a plane point mass: f = 1 + alpha h/2, then m (f U - h V0), and sf m g in x and y; see
    # elements/masses/lumped.py
    assert flops["mass2, force"] == 22
    assert flops["truss2, force and tangent"] > flops["truss2, force"] > 40
    assert flops["exact_beam2, force and tangent"] > flops["exact_beam2, force"] > 100
    for row in rows["kernel"]:
        assert row["elements"] in (70, 71)
        assert sum(row["operations"].values()) == row["flops_per_element"]
        assert row["GFlop_per_s"] > 0.0


def test_solvers_and_assembly_are_timed(rows):
    assert len(rows["assembly"]) == 4
    assert [row["half_bandwidth"] for row in rows["band"]] == [5, 3]
    sparse = {row["what"].split(",")[0]: row for row in rows["sparse"]}
    assert sparse["superlu"]["equations"] == 2 * 31 * 32
    assert "note" in sparse["cholmod"] or sparse["cholmod"]["factor_us"] > 0.0


def test_memory_is_measured(rows):
    assert {row["who"] for row in rows["memory"]} == {"long-beam", "long-chain"}
    for row in rows["memory"]:
        assert 10.0 < row["maxrss_mb"] < 1500.0


@pytest.mark.long
def test_reduction_of_a_solid_bar(checkout, tmp_path):
    """All sides reduce the same bar to the same matrices."""
    file = tmp_path / "rows.json"
    command = [sys.executable, str(checkout / "benchmarks" / "run.py"), "reduction", "--reduction-sizes", "2"]
    command += ["--peers", "", "--repeat", "1", "--json", str(file)]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    rows = {row["who"]: row for row in json.loads(file.read_text())["reduction"] if not row["note"]}
    ours = rows["fem-mbs"]["results"]
    assert len(ours["frequencies_hz"]) == 20
    if "bare-cholmod" in rows:
        assert rows["bare-cholmod"]["results"]["frequencies_hz"] == pytest.approx(ours["frequencies_hz"], rel=1e-7)
        assert rows["bare-cholmod"]["results"]["free_hz"] == pytest.approx(ours["free_hz"], rel=1e-7)
    below = [f for f in ours["frequencies_hz"] if f < 9000.0]
    found = rows["fem-mbs-cutoff"]["results"]["frequencies_hz"]
    assert len(found) >= len(below)
    assert found[: len(below)] == pytest.approx(below, rel=1e-7)


@pytest.mark.long
def test_a_part_from_its_deck(checkout, tmp_path):
    file = tmp_path / "rows.json"
    command = [sys.executable, str(checkout / "benchmarks" / "run.py"), "parts", "--parts", "hex20:1,tet10:1"]
    subprocess.run([*command, "--repeat", "1", "--json", str(file)], check=True, timeout=200, capture_output=True)
    rows = [row for row in json.loads(file.read_text())["parts"] if row["who"] in ("bare", "fem-mbs")]
    assert not any("failed" in row for row in rows)
    for bare, ours in zip(rows[::2], rows[1::2], strict=True):
        frequencies = [row["results"]["frequencies_hz"] for row in (bare, ours)]
        assert frequencies[1] == pytest.approx(frequencies[0], rel=1e-7)


def test_complex_modes_of_a_beam(checkout, tmp_path):
    file = tmp_path / "rows.json"
    command = [sys.executable, str(checkout / "benchmarks" / "run.py"), "complex", "--complex", "beam:100"]
    subprocess.run([*command, "--json", str(file)], check=True, timeout=200, capture_output=True)
    (row,) = json.loads(file.read_text())["complex"]
    assert row["equations"] == 300
    assert row["error"] < 1e-5
    assert row["backward_error"] < 1e-14
