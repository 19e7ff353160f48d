"""Flexible multibody dynamics with finite elements: mechanisms from meshes, energy-exact in time.

The public names load their modules when they are first used, so that `import fem_mbs` costs nothing::

    from fem_mbs import Model, Results
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fem_mbs.display import report_by, save_by, show_by

if TYPE_CHECKING:  # the names that `__getattr__` below loads, for type checkers and editors
    __version__: str
    from fem_mbs.analysis.components.modification import Modification
    from fem_mbs.analysis.components.synthesis import assemble_components
    from fem_mbs.analysis.global_motion import read_global_motion
    from fem_mbs.analysis.reduction.parallel import reduce_parts
    from fem_mbs.analysis.reduction.reduce import reduce_part
    from fem_mbs.analysis.run import run, solve
    from fem_mbs.analysis.stability.linearise import linearise
    from fem_mbs.analysis.transient.tangent import newton_residuals, tangent_check
    from fem_mbs.cluster import run_tasks
    from fem_mbs.decks.running import load_deck
    from fem_mbs.errors import (
        AnalysisError,
        ConvergenceError,
        FemMbsError,
        InputError,
        MeshError,
        ModelError,
        ResultsError,
    )
    from fem_mbs.meshes.formats.reader import read_mesh
    from fem_mbs.meshes.mesh import Mesh
    from fem_mbs.model.model import Model
    from fem_mbs.modelfile.read import load_model
    from fem_mbs.parts.formats import read_part, write_part
    from fem_mbs.parts.recovery import hot_spots
    from fem_mbs.parts.sid import FlexibleBodyData, body_data
    from fem_mbs.plot.validation import draw_curves, draw_model
    from fem_mbs.progress import quiet
    from fem_mbs.results.modes.mac import mac
    from fem_mbs.results.reader import Results
    from fem_mbs.solvers.eigen.complex_modes import complex_modes
    from fem_mbs.solvers.eigen.lanczos import TwoSidedLanczos
    from fem_mbs.sweeps.identify import Identification, Instant, identify, measured_instants
    from fem_mbs.sweeps.optimise import optimise
    from fem_mbs.sweeps.sensitivities import Sensitivities, sensitivities
    from fem_mbs.sweeps.sweep import sweep
    from fem_mbs.sweeps.table import SweepTable
    from fem_mbs.threads import use_threads

__all__ = [
    "AnalysisError",
    "ConvergenceError",
    "FemMbsError",
    "FlexibleBodyData",
    "Identification",
    "InputError",
    "Instant",
    "Mesh",
    "MeshError",
    "Model",
    "ModelError",
    "Modification",
    "Results",
    "ResultsError",
    "Sensitivities",
    "SweepTable",
    "TwoSidedLanczos",
    "__version__",
    "assemble_components",
    "body_data",
    "complex_modes",
    "draw_curves",
    "draw_model",
    "hot_spots",
    "identify",
    "linearise",
    "load_deck",
    "load_model",
    "mac",
    "measured_instants",
    "newton_residuals",
    "read_global_motion",
    "read_mesh",
    "read_part",
    "reduce_part",
    "reduce_parts",
    "run",
    "run_tasks",
    "solve",
    "optimise",
    "quiet",
    "sensitivities",
    "sweep",
    "tangent_check",
    "use_threads",
    "write_part",
]


class _Rooms:
    """Finder of the four packages that lie beside this folder in a source checkout; the wheel has them inside.

    It knows exactly these names.  A longer ``__path__`` would make every folder of the checkout a part of the package.
    """

    names = ("elements", "solvers", "meshes", "validation")

    def __init__(self, checkout: Path) -> None:
        self.places = {f"{__name__}.{name}": checkout / name for name in self.names}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Give the specification of one of the four packages, None for any other name."""
        place = self.places.get(name)
        if place is None:
            return None
        return spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[str(place)])


_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and all((_checkout / n / "__init__.py").is_file() for n in _Rooms.names):
    # First, because a development install of another checkout has a finder for the same names.
    sys.meta_path.insert(0, _Rooms(_checkout))

# Public name -> module that defines it.
_PUBLIC = {
    "AnalysisError": "fem_mbs.errors",
    "ConvergenceError": "fem_mbs.errors",
    "FemMbsError": "fem_mbs.errors",
    "FlexibleBodyData": "fem_mbs.parts.sid",
    "Identification": "fem_mbs.sweeps.identify",
    "InputError": "fem_mbs.errors",
    "Instant": "fem_mbs.sweeps.identify",
    "Mesh": "fem_mbs.meshes.mesh",
    "MeshError": "fem_mbs.errors",
    "Model": "fem_mbs.model.model",
    "ModelError": "fem_mbs.errors",
    "Modification": "fem_mbs.analysis.components.modification",
    "Results": "fem_mbs.results.reader",
    "ResultsError": "fem_mbs.errors",
    "Sensitivities": "fem_mbs.sweeps.sensitivities",
    "SweepTable": "fem_mbs.sweeps.table",
    "TwoSidedLanczos": "fem_mbs.solvers.eigen.lanczos",
    "assemble_components": "fem_mbs.analysis.components.synthesis",
    "body_data": "fem_mbs.parts.sid",
    "complex_modes": "fem_mbs.solvers.eigen.complex_modes",
    "draw_curves": "fem_mbs.plot.validation",
    "draw_model": "fem_mbs.plot.validation",
    "hot_spots": "fem_mbs.parts.recovery",
    "identify": "fem_mbs.sweeps.identify",
    "linearise": "fem_mbs.analysis.stability.linearise",
    "load_deck": "fem_mbs.decks.running",
    "load_model": "fem_mbs.modelfile.read",
    "mac": "fem_mbs.results.modes.mac",
    "measured_instants": "fem_mbs.sweeps.identify",
    "read_global_motion": "fem_mbs.analysis.global_motion",
    "read_mesh": "fem_mbs.meshes.formats.reader",
    "read_part": "fem_mbs.parts.formats",
    "reduce_part": "fem_mbs.analysis.reduction.reduce",
    "reduce_parts": "fem_mbs.analysis.reduction.parallel",
    "run": "fem_mbs.analysis.run",
    "run_tasks": "fem_mbs.cluster",
    "optimise": "fem_mbs.sweeps.optimise",
    "quiet": "fem_mbs.progress",
    "sensitivities": "fem_mbs.sweeps.sensitivities",
    "solve": "fem_mbs.analysis.run",
    "sweep": "fem_mbs.sweeps.sweep",
    "newton_residuals": "fem_mbs.analysis.transient.tangent",
    "tangent_check": "fem_mbs.analysis.transient.tangent",
    "use_threads": "fem_mbs.threads",
    "write_part": "fem_mbs.parts.formats",
}


if not TYPE_CHECKING:  # a type checker would take any name for one of the package

    def __getattr__(name: str) -> Any:
        if name not in _PUBLIC and name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name == "__version__":
            value = import_module("fem_mbs.files").version()
        else:
            value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


def _page(shown: Any) -> str:
    """Return the page of an object in a notebook; what draws is loaded with the first one."""
    from fem_mbs.plot.notebook import page

    return page(shown)


def _view(shown: Any, step: int | None, window: bool) -> Any:
    """Return the view of an object, or its window after it is closed; what draws is loaded with the first one."""
    if window:
        from fem_mbs.show.window import open_window

        return open_window(shown, step)
    from fem_mbs.show.page import View

    return View(shown, step)


def _report(results: Any, path: Path) -> Path:
    """Write the report of results; what draws is loaded with the first one."""
    from fem_mbs.report.page import write_report

    return write_report(results, path)


show_by(_page, _view)
report_by(_report)


def _save(model: Any, path: str | Path) -> None:
    """Write a model as a model file."""
    from fem_mbs.modelfile.writer import write_model

    write_model(model, path)


save_by(_save)
