"""Read shapes from results: modes, buckling shapes and complex modes, and the state that they oscillate about.

Frames of modes and buckling shapes hold displacements from the start, the state's included.  Those of complex modes
hold a real and an imaginary part, small motions Re(u exp(i phi)) about the state, which has columns of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.steps import recorded_kind

__all__ = ["amplitudes", "has_shapes", "is_complex", "largest_excursion", "state_of_shapes"]


def has_shapes(step: Any) -> bool:
    """Return whether the frames of a step are shapes; those of vibrations have their own size, others none."""
    return bool(recorded_kind(step.type).shapes)


def is_complex(step: Any) -> bool:
    """Return whether the shapes of a step have an imaginary part."""
    return "displacement imaginary" in step.frames


def state_of_shapes(results: Any, step: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return displacements and rotation vectors (n_nodes, 3) of the state of the shapes; None: the start.

    Complex modes store it.  Modes are about the state after the preceding nonlinear steps (linear steps leave the state
    unchanged).
    """
    if "state displacement" in step.frames:
        u = np.asarray(step.frames["state displacement"][0], float)
        has = "state rotation" in step.frames
        return u, np.asarray(step.frames["state rotation"][0], float) if has else np.zeros_like(u)
    before = [s for s in results.steps[: step.number] if not has_shapes(s) and "displacement" in s.frames]
    nonlinear = [s for s in before if not s.linear and len(s.frame_times)]
    if is_complex(step) or not nonlinear:
        return None
    u = np.asarray(nonlinear[-1].frames["displacement"][-1], float)
    has = "rotation" in nonlinear[-1].frames
    return u, np.asarray(nonlinear[-1].frames["rotation"][-1], float) if has else np.zeros_like(u)


def largest_excursion(shapes: np.ndarray) -> np.ndarray:
    """Return the largest |Re(u exp(i phi))| over the phase, for complex vectors u (..., 3): the major semi-axis of the
    elliptic orbit of a node."""
    square = np.sum(np.abs(shapes) ** 2, axis=-1)
    return np.sqrt((square + np.abs(np.sum(shapes * shapes, axis=-1))) / 2.0)


def amplitudes(results: Any, step: Any, frame: int) -> np.ndarray:
    """Return the displacement amplitudes of the nodes in a shape (n_nodes,), in the stored scale."""
    u = np.asarray(step.frames["displacement"][frame], float)
    if is_complex(step):
        return largest_excursion(u + 1j * np.asarray(step.frames["displacement imaginary"][frame], float))
    state = state_of_shapes(results, step)
    return np.linalg.norm(u if state is None else u - state[0], axis=1)
