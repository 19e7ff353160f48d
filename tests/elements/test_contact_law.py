"""The normal force of contacts by restitution: F (1 + c y'/y'_0) with the speed y'_0 at which this contact began."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.elements.contact.law import APPROACH, DEEPEST, LAW_COLUMNS, LOSSES, normal_force

STIFFNESS, LOSS = 300.0, 0.4
#: Without compilation it is called as it stands, otherwise by its Python function.
_normal_force = getattr(normal_force, "py_func", normal_force)


def force(y0, y1, rate, approach, before=(0.0, 0.0)):
    """N, its part with a potential, dN/dy1 and dN/d rate of a linear spring; ``before``: y'_0 and the penetration so
    far."""
    par = np.array([[STIFFNESS, 1.0, LOSSES.index("restitution"), LOSS, 0.0]])
    assert len(LAW_COLUMNS) == par.shape[1]
    hist = np.zeros((1, 2))
    hist[0, APPROACH], hist[0, DEEPEST] = before
    return _normal_force(np.zeros(1), par, 0, par.shape[1], hist, y0, y1, rate, approach)


def mean(y0, y1):
    """The mean of K <y> over a step."""
    return STIFFNESS * 0.5 * (max(y1, 0.0) ** 2 - max(y0, 0.0) ** 2) / (y1 - y0)


@pytest.mark.parametrize("y0", [-0.1, -0.02])
def test_a_contact_that_begins_is_damped_by_its_own_speed_of_approach(y0):
    y1, approach = 0.03, 2.0
    for rate in (1.5, 0.5, -1.0):
        factor = 1.0 + LOSS * rate / approach
        found = force(y0, y1, rate, approach)
        assert found[0] == pytest.approx(mean(y0, y1) * factor, rel=1e-13)
        assert found[1] == pytest.approx(mean(y0, y1), rel=1e-13)
        assert found[3] == pytest.approx(mean(y0, y1) * LOSS / approach, rel=1e-13)
    # a step that begins slower than it touches: y'_0 is the speed of the step
    assert force(y0, y1, 2.5, approach)[0] == pytest.approx(mean(y0, y1) * (1.0 + LOSS), rel=1e-13)


def test_a_contact_that_lasts_is_damped_by_the_speed_at_which_it_began():
    y0, y1, first = 0.02, 0.03, 4.0
    for rate in (3.0, 5.0, -2.0):
        found = force(y0, y1, rate, 2.0, (first, 0.05))
        assert found[0] == pytest.approx(mean(y0, y1) * (1.0 + LOSS * rate / first), rel=1e-13)
    assert force(y0, y1, -first / LOSS - 0.1, 2.0, (first, 0.05))[0] == 0.0  # dampers do not pull
