"""Jets: values with first and second derivatives over six variables, against calculus with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.elements.contact import jets
from fem_mbs.elements.contact.jets import JET, SLOPE, VARIABLES

_UPPER = np.triu_indices(VARIABLES)


def packed(value, gradient, hessian):
    return np.concatenate(([value], gradient, hessian[_UPPER]))


def unpacked(jet):
    hessian = np.zeros((VARIABLES, VARIABLES))
    hessian[_UPPER] = jet[SLOPE:]
    return jet[0], jet[1:SLOPE], hessian + np.triu(hessian, 1).T


def random_jet(rng, value=None):
    H = rng.standard_normal((VARIABLES, VARIABLES))
    return packed(rng.standard_normal() if value is None else value, rng.standard_normal(VARIABLES), H + H.T)


@pytest.mark.parametrize("size", [SLOPE, JET])
def test_sums_products_and_functions(size):
    rng = np.random.default_rng(0)
    a, b = random_jet(rng), random_jet(rng)
    (x, gx, Hx), (y, gy, Hy) = unpacked(a), unpacked(b)
    out = np.full(JET, 7.0)
    jets.product(size, a, b, out)
    mixed_terms = np.outer(gx, gy) + np.outer(gy, gx)
    assert out[:size] == pytest.approx(packed(x * y, x * gy + y * gx, x * Hy + y * Hx + mixed_terms)[:size], abs=1e-14)
    jets.curved(size, 0.3, -1.2, 0.7, a, out)
    assert out[:size] == pytest.approx(packed(0.3, -1.2 * gx, -1.2 * Hx + 0.7 * np.outer(gx, gx))[:size], abs=1e-14)
    jets.mixed(size, 2.0, a, -3.0, b, out)
    assert out[:size] == pytest.approx((2.0 * a - 3.0 * b)[:size], abs=1e-14)
    jets.variable(size, 2, 0.4, out)
    assert out[:size].tolist() == [0.4, 0.0, 0.0, 1.0, *np.zeros(size - 4)]
    for function in (jets.product, lambda size, a, b, out: jets.mixed(size, 2.0, a, -3.0, b, out)):
        over, apart = a.copy(), np.zeros(JET)
        function(size, a, b, apart)
        function(size, over, b, over)  # results may overwrite arguments
        assert (over[:size] == apart[:size]).all()


@pytest.mark.parametrize("size", [SLOPE, JET])
@pytest.mark.parametrize("t", [-0.3, 0.0, 1e-3, 0.2, 0.5, 0.8, 0.999, 1.0, 1.4])
def test_smooth_step(t, size):
    p = np.polynomial.Polynomial((0, 0, 0, 10, -15, 6))
    inside = 0.0 < t < 1.0
    f, slope, bend = (p(t), p.deriv()(t), p.deriv(2)(t)) if inside else (float(t >= 1.0), 0.0, 0.0)
    jet = random_jet(np.random.default_rng(1), t)
    _, g, H = unpacked(jet)
    out = np.zeros(JET)
    jets.step_up(size, jet, out)
    assert out[:size] == pytest.approx(packed(f, slope * g, slope * H + bend * np.outer(g, g))[:size], abs=1e-13)


class Quartic:
    """A function of six variables with fourth powers, and its jet."""

    def __init__(self, rng):
        self.A, self.b = rng.standard_normal((3, VARIABLES)), rng.standard_normal(VARIABLES)

    def jet(self, v):
        y = self.A @ v
        gradient = 4.0 * y**3 @ self.A + self.b
        return packed((y**4).sum() + self.b @ v, gradient, np.einsum("k,ki,kj->ij", 12.0 * y**2, self.A, self.A))


def test_difference_quotients_are_exact_and_have_exact_derivatives():
    rng = np.random.default_rng(2)
    f = Quartic(rng)
    v0, v1 = 0.6 * rng.standard_normal((2, VARIABLES))

    def quotient(v1, size=JET):
        g, bend = np.zeros(VARIABLES), np.zeros((VARIABLES, VARIABLES))
        change = jets.step_quotient(size, f.jet(v0), f.jet(v1), v1 - v0, 1e-15, g, bend)
        return change, g, bend

    change, g, bend = quotient(v1)
    exact = f.jet(v1)[0] - f.jet(v0)[0]
    assert change == pytest.approx(exact, rel=1e-13)
    assert g @ (v1 - v0) == pytest.approx(exact, rel=1e-13)
    assert (quotient(v1, SLOPE)[1] == g).all()
    h = 1e-6
    for j in range(VARIABLES):
        d = h * np.eye(VARIABLES)[j]
        assert bend[:, j] == pytest.approx((quotient(v1 + d)[1] - quotient(v1 - d)[1]) / (2.0 * h), abs=1e-7)
    # Gonzalez' quotient, its limit, and what is left where the change is round-off
    middle = 0.5 * (f.jet(v0)[1:SLOPE] + f.jet(v1)[1:SLOPE])
    along = (exact - middle @ (v1 - v0)) / ((v1 - v0) @ (v1 - v0))
    assert g == pytest.approx(middle + along * (v1 - v0), rel=1e-12)
    change, g, bend = quotient(v0)
    assert change == 0.0
    assert g == pytest.approx(f.jet(v0)[1:SLOPE], abs=1e-14)
    assert bend == pytest.approx(0.5 * unpacked(f.jet(v0))[2], abs=1e-14)
