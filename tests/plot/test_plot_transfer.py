"""The figure of a transfer function and coherence, and the command that draws it."""

from __future__ import annotations

import pytest

from fem_mbs import Model, run
from fem_mbs.errors import ResultsError
from fem_mbs.plot.figures import plot_transfer, plot_transfers


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    model = Model(2, "oscillator")
    for name, x in (("base", 0.0), ("mass", 1.0)):
        model.node(name, (x, 0.0))
        model.motion(f"{name} y", name, "y", 0.0)
    model.point_mass("m", "mass", 1.0)
    model.nodal_spring("s", "mass", "x", 400.0, 4.0, against="base")
    noise = {"kind": "random", "frequencies": [0.5, 20.0], "densities": [1e-4, 1e-4]}
    model.motion(
        "shake", "base", "x", {"kind": "product", "functions": [noise, {"kind": "smoothstep", "duration": 1.0}]}
    )
    for name in ("base", "mass"):
        model.sensor(name, "displacement", on=name)
    model.transient_step(20.0, 0.01, frames=2)
    return run(model, tmp_path_factory.mktemp("transfer") / "out")


def test_figure_and_command(results, tmp_path):
    path = plot_transfer(results, "mass", "base", tmp_path / "a.png", rows=512, column="x")
    assert path.stat().st_size > 10_000
    (drawn,) = plot_transfers(results, ["mass:base:x"])
    assert drawn.name == "transfer-mass-base-x.png" and drawn.exists()


def test_wrong_pairs(results):
    for pair in ("mass", ":base", "mass:", "mass:base:", "mass:base:x:y"):
        with pytest.raises(ResultsError, match="SENSOR:EXCITATION"):
            plot_transfers(results, [pair])
    with pytest.raises(ResultsError, match=r"one of base\.x, base\.y"):
        plot_transfers(results, ["mass:base"])
    with pytest.raises(ResultsError, match="nothing"):
        plot_transfers(results, ["mass:nothing"])
