"""Report place and time of the largest stresses of reduced parts (`fem-mbs stresses`): table, file, figures."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fem_mbs.analysis.recovery.part_results import peak_results, stress_peaks
from fem_mbs.files import replacing
from fem_mbs.results.folder import take
from fem_mbs.results.reader import Results

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["report_stresses"]

_COMPONENTS = ("xx", "yy", "zz", "xy", "yz", "zx")


def report_stresses(folder: Path, count: int, apart: float | None, output: Path | None, console: Console) -> list[Path]:
    """Print the places of the largest von Mises stress, write them to a CSV file and draw the largest of every place.

    Raises:
        InputError: no results, or none with stresses of reduced parts.
    """
    from fem_mbs.cli.report_stability import make_table
    from fem_mbs.plot.model import plot_deformed

    results = Results.open(folder)
    found = stress_peaks(results, count, apart)
    units = results.units
    pascal, length, second = (units.of(unit) for unit in ("Pa", "m", "s"))
    place_head = f"place in the part [{length.unit}]"
    table = make_table("part", "node", f"von Mises [{pascal.unit}]", f"time [{second.unit}]", "step", place_head)
    for step, spot in found:
        place = " ".join(f"{length(float(v)):.5g}" for v in spot.position)
        stress, time = f"{pascal(spot.mises):.5g}", f"{second(spot.time):.6g}"
        table.add_row(spot.part, spot.name, stress, time, step.name, place)
    console.print(table)
    target = output or results.directory / "stresses.csv"
    figure = results.directory / "figures" / "stresses-largest.png"
    take(results.directory, [target, figure])
    with replacing(target) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        axes = "xyz"[: results.header["dimension"]]
        heads = [f"{c} [{length.unit}]" for c in axes] + [f"stress {c} [{pascal.unit}]" for c in _COMPONENTS]
        writer.writerow(["part", "node", f"von Mises stress [{pascal.unit}]", "step", f"time [{second.unit}]", *heads])
        for step, spot in found:
            own = [*(length(float(v)) for v in spot.position), *(pascal(float(v)) for v in spot.stress)]
            row = [spot.part, spot.name, repr(pascal(spot.mises)), step.name, repr(second(spot.time))]
            writer.writerow([*row, *map(repr, own)])
    paths = [target]
    with tempfile.TemporaryDirectory() as scratch:
        peaks = peak_results(results, Path(scratch) / "peaks")
        paths.append(plot_deformed(peaks, figure, quantity="von Mises stress", magnify=1.0))
    for path in paths:
        console.print(f"{path} written", markup=False, soft_wrap=True)
    return paths
