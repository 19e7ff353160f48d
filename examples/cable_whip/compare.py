"""Run the cable whip with the mid-point rule and with Newmark's, and draw the energies of both in one figure.

python compare.py [FOLDER]      results and energies.png go there (default: out)
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from fem_mbs import load_model, run

HERE = Path(__file__).resolve().parent
NAMES = {"model.toml": "mid-point", "newmark.toml": "Newmark"}


def main(folder: Path) -> Path:
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(8, 6), layout="constrained")
    for file, name in NAMES.items():
        results = run(load_model(HERE / file), folder / name)
        ledger = results.ledger()
        t, kinetic = ledger["time"], ledger["kinetic"]
        error = np.abs(ledger["closing error"])
        scale = kinetic[t <= 4.0].max()
        above.plot(t, ledger["total"] / scale, label=name)
        below.semilogy(t[1:], np.maximum(error[1:] / scale, 1e-17), label=name)
        tip = results.sensor("tip").values[np.searchsorted(t, 4.0 - 1e-9)]
        print(
            f"{name:10} tip at 4 s ({tip[0]:.2f}, {tip[1]:.2f}) m; energy error / kinetic energy at 4 s: "
            f"at 4 s {error[t <= 4.0].max() / scale:.1e}, at 5 s {error.max() / scale:.1e}"
        )
    above.set_ylabel("total energy / kinetic energy at 4 s")
    above.set_yscale("symlog", linthresh=1.0)
    above.set_title("A falling cable: the whip at 4.5 s")
    above.legend()
    below.set_ylabel("closing error of the energy")
    below.set_xlabel("time [s]")
    path = folder / "energies.png"
    figure.savefig(path, dpi=150)
    print(path)
    return path


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
