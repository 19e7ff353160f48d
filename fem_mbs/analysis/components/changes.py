"""Group elements by the parameters that act on them, and compute their matrices after changes.

Where several parameters act on the same elements their effects multiply: density times the effect of a section's
dimensions on the mass.  Elements without changing parameters are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.analysis.components.parameters import ModelParameter, changed_rows
from fem_mbs.analysis.components.synthesis import Assembly
from fem_mbs.late import dataclass
from fem_mbs.system.tangent import ElementSet

__all__ = ["Changes"]

#: Step of differences in alpha; of fourth order, exact for polynomials of degree four.
_STEP = 0.02


@dataclass(eq=False)
class _Share:
    """Elements of a component (-1: of links) on which the same parameters act.

    It holds the numbers of the parameters and the elements' matrices at the baseline, whole and in its modes.
    """

    component: int
    picks: list[tuple[int, np.ndarray]]
    acting: tuple[int, ...]
    base: tuple | None = None
    small: tuple[np.ndarray, np.ndarray] | None = None
    last: tuple[tuple, tuple | None] = ((), None)  # changes of sections, and the matrices with them


class Changes:
    """Stiffness and mass of an assembly after relative changes ``alphas`` (m,) of m parameters."""

    def __init__(self, assembly: Assembly, parameters: Sequence[ModelParameter]):
        coupled = assembly.coupled
        self.assembly, self.parameters = assembly, tuple(parameters)
        self.size = coupled.size
        self._shapes = [coupled.displacements(c, coupled.vectors) for c in range(len(assembly.parts))]
        self._ends = coupled.interface[assembly.conditions :] @ coupled.vectors
        self._shares = self._shared_out()
        self._rows: tuple[tuple, dict[int, np.ndarray]] = ((), {})

    def _shared_out(self) -> list[_Share]:
        """Return the changing elements, grouped by components and by the parameters that act on them."""
        found: dict[tuple, _Share] = {}
        everything = [(c, part.picks) for c, part in enumerate(self.assembly.parts)] + [(-1, self.assembly.links)]
        for c, picks in everything:
            for i, elements in picks:
                acts = np.array([np.isin(elements, p.elements.get(i, ())) for p in self.parameters], bool)
                acts = acts.reshape(len(self.parameters), elements.size)
                for pattern in np.unique(acts[:, acts.any(axis=0)], axis=1).T:
                    acting = tuple(np.flatnonzero(pattern).tolist())
                    mine = elements[(acts == pattern[:, None]).all(axis=0)]
                    found.setdefault((c, acting), _Share(c, [], acting)).picks.append((i, mine))
        return list(found.values())

    def _of(self, share: _Share, par: dict[int, np.ndarray] | None = None) -> tuple:
        """Return stiffness and mass of the elements of a share, in the independent dofs of their component; of links
        over their ends."""
        linear = self.assembly.linear
        K, M = linear.of_elements(ElementSet(linear.system, share.picks, par))
        if share.component < 0:
            ends = self.assembly.ends
            return tuple(A[ends][:, ends].toarray() for A in (K, M))
        part = self.assembly.parts[share.component]
        return part.reduce(K), part.reduce(M)

    def _base(self, share: _Share) -> tuple:
        if share.base is None:
            share.base = self._of(share)
        return share.base

    def _factors(self, share: _Share, alphas: np.ndarray, but: int = -1) -> tuple[float, float]:
        """Return the factors of stiffness and mass by linear parameters (except ``but``): products, where several
        act."""
        acting = [k for k in share.acting if self.parameters[k].linear and k != but]
        return tuple(
            float(np.prod([1.0 + alphas[k] * getattr(self.parameters[k], what) for k in acting]))
            for what in ("stiffness", "mass")
        )

    def _bent(self, share: _Share, alphas: np.ndarray) -> dict[int, np.ndarray] | None:
        """Return the parameters of the elements of a share after changes of sections; None: there are none."""
        key = self._key(share, alphas)
        if not key:
            return None
        if self._rows[0] != key:  # one is enough: all shares of a change ask in a row
            changes = [(self.parameters[k], a) for k, a in key]
            self._rows = (key, changed_rows(self.assembly.model, self.assembly.linear.system, changes))
        return {number: self._rows[1][i][elements] for number, (i, elements) in enumerate(share.picks)}

    def _key(self, share: _Share, alphas: np.ndarray) -> tuple[tuple[int, float], ...]:
        """Return changes of sections of a share."""
        return tuple((k, float(alphas[k])) for k in share.acting if alphas[k] and not self.parameters[k].linear)

    def _touched(self, alphas: np.ndarray) -> list[_Share]:
        return [share for share in self._shares if any(alphas[k] for k in share.acting)]

    def matrices(self, alphas: np.ndarray) -> dict[int, tuple]:
        """Return dK, dM of all parameters together by components, sparse (n_c, n_c) (-1: of links, over their ends)."""
        found: dict[int, tuple] = {}
        for share in self._touched(alphas):
            base, par = self._base(share), self._bent(share, alphas)
            now = base if par is None else self._of(share, par)
            new = [f * a - b for f, a, b in zip(self._factors(share, alphas), now, base, strict=True)]
            had = found.get(share.component)
            found[share.component] = tuple(new if had is None else (a + b for a, b in zip(had, new, strict=True)))
        return found

    def _project(self, share: _Share, matrices: tuple) -> tuple[np.ndarray, np.ndarray]:
        """Return U^T K U and U^T M U (n_p, n_p) over the baseline's modes."""
        U = self._shapes[share.component] if share.component >= 0 else self._ends
        small = [U.T @ (A @ U) for A in matrices]
        return tuple(0.5 * (A + A.T) for A in small)

    def _small(self, share: _Share, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return stiffness and mass of a share in the baseline's modes, without the factors of linear parameters."""
        key = self._key(share, alphas)
        if not key:
            if share.small is None:
                share.small = self._project(share, self._base(share))
            return share.small
        if share.last[0] != key:
            share.last = (key, self._project(share, self._of(share, self._bent(share, alphas))))
        return share.last[1]

    def reduced(self, alphas: np.ndarray, only: int | None = None) -> list[np.ndarray]:
        """Return dK_r, dM_r of all parameters together; ``only``: of the elements on which this one acts."""
        total = [np.zeros((self.size,) * 2) for _ in "KM"]
        for share in self._touched(alphas):
            if only is not None and only not in share.acting:
                continue
            base = self._small(share, np.zeros_like(alphas))
            now = self._small(share, alphas)
            for A, f, a, b in zip(total, self._factors(share, alphas), now, base, strict=True):
                A += f * a - b
        return total

    def slope(self, k: int, alphas: np.ndarray | None = None) -> list[np.ndarray]:
        """Return d dK_r / d alpha_k, d dM_r / d alpha_k."""
        alphas = np.zeros(len(self.parameters)) if alphas is None else alphas
        p = self.parameters[k]
        if not p.linear:
            h = _STEP * (1.0 + alphas[k])
            at = {}
            for s in (-2, -1, 1, 2):
                moved = alphas.copy()
                moved[k] += s * h
                at[s] = self.reduced(moved, only=k)
            return [(8.0 * (at[1][i] - at[-1][i]) - (at[2][i] - at[-2][i])) / (12.0 * h) for i in (0, 1)]
        total = [np.zeros((self.size,) * 2) for _ in "KM"]
        for share in self._shares:
            if k in share.acting:
                factors = self._factors(share, alphas, but=k)
                for A, f, own, a in zip(total, factors, (p.stiffness, p.mass), self._small(share, alphas), strict=True):
                    A += own * f * a
        return total

    def whole(self, alphas: np.ndarray) -> tuple[csr_matrix, csr_matrix]:
        """Return dK, dM over the dofs of nodes of the model."""
        linear = self.assembly.linear
        K = M = csr_matrix((linear.first,) * 2)
        for share in self._touched(alphas):
            par = self._bent(share, alphas)
            base = linear.of_elements(ElementSet(linear.system, share.picks))
            now = base if par is None else linear.of_elements(ElementSet(linear.system, share.picks, par))
            fK, fM = self._factors(share, alphas)
            K, M = K + fK * now[0] - base[0], M + fM * now[1] - base[1]
        return csr_matrix(K), csr_matrix(M)
