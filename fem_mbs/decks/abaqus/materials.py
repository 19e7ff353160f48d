"""Materials of a deck: constants at the temperature of the deck, densities, stiffness matrices, expansion."""

from __future__ import annotations

import numpy as np

from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import Material
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["constants", "density_of", "expansion_of", "material_of", "stiffness_matrix"]


def constants(
    conv: Conversion, material: Material, table: np.ndarray, temperature: np.ndarray, what: str
) -> np.ndarray:
    """Return the values (k,) of a table over temperature (m, k) at the temperature of the deck.

    That is the one at the end of its linear STATIC steps, if it is the same everywhere, else the initial one, by
    default zero, with a note.
    """
    if len(table) == 1 or (table == table[0]).all():
        return table[0]
    at = conv.temperatures
    if at is None:
        start = sorted({c.value for c in conv.deck.initial_conditions if c.kind == "TEMPERATURE"}) or [0.0]
        conv.note(
            f"{material.where}: {what} of {material.name} depends on temperature, which varies in the deck; its value "
            f"at {start[0]:g} is taken"
        )
        return _interpolated(table, temperature, start[0])
    conv.note(
        f"{material.where}: {what} of {material.name} depends on temperature; its value at {at[1]:g} is taken",
        Effect.NONE,
    )
    return _interpolated(table, temperature, at[1])


def _interpolated(table: np.ndarray, temperature: np.ndarray, at: float) -> np.ndarray:
    order = np.argsort(temperature)
    return np.array([np.interp(at, temperature[order], column[order]) for column in table.T])


def material_of(conv: Conversion, name: str | None, where: str) -> Material:
    if name is None or name not in conv.deck.materials:
        raise ModelError("the section names no material of the deck", place=where, remedy="give MATERIAL=...")
    material = conv.deck.materials[name]
    if material.elastic is None and material.others:
        raise UnsupportedError(
            f"*{material.others[0]} of the material {name}, which the section of {where} needs, is not supported",
            place=material.where,
            remedy="give *ELASTIC instead",
        )
    if material.elastic is None:
        raise ModelError(
            f"the material {name} has no elastic constants, which the section of {where} needs",
            place=material.where,
            remedy="add *ELASTIC",
        )
    for keyword in material.others:
        conv.note(f"{material.where}: *{keyword} of the material {name} is not used")
    return material


def density_of(conv: Conversion, material: Material) -> float:
    """Return mass per volume, 0 where none is given."""
    if material.density is None:
        return 0.0
    return float(constants(conv, material, material.density[:, :1], material.density[:, 1], "the density")[0])


def stiffness_matrix(conv: Conversion, material: Material) -> np.ndarray:
    """Return matrix (6, 6) of a solid material, components xx, yy, zz, xy, yz, zx with gammas.

    Raises:
        ModelError: its constants belong to no material.
    """
    from fem_mbs.elements.solids.material import isotropic, orthotropic

    e = material.elastic
    assert e is not None  # `material_of` refuses such a material
    c = [float(v) for v in constants(conv, material, e.constants, e.temperature, "the elasticity")]
    try:
        if e.kind == "isotropic":
            return isotropic(c[0], c[1])
        if e.kind == "engineering constants":
            if min(*c[:3], *c[6:9]) <= 0.0:
                raise ValueError("the moduli of elasticity and shear must be greater than 0")
            return orthotropic(tuple(c[:3]), tuple(c[3:6]), tuple(c[6:9]))
    except ValueError as error:
        raise ModelError(f"material {material.name}: {error}", place=material.where) from None
    order = (0, 1, 2, 3, 5, 4)  # the deck's 11, 22, 33, 12, 13, 23
    C = np.zeros((6, 6))
    if e.kind == "orthotropic":
        C[0, 0], C[0, 1], C[1, 1], C[0, 2], C[1, 2], C[2, 2] = c[:6]
        C[3, 3], C[4, 4], C[5, 5] = c[6:9]
    elif e.kind == "anisotropic":
        k = 0
        for j in range(6):
            for i in range(j + 1):
                C[i, j] = c[k]
                k += 1
    else:
        raise ModelError(f"{e.kind} elasticity of {material.name} is for shells, not for solids", place=material.where)
    C = C + np.triu(C, 1).T
    C = C[np.ix_(order, order)]
    d = np.sqrt(np.abs(np.diag(C)))
    if not (np.diag(C) > 0.0).all() or not np.linalg.eigvalsh(C / np.outer(d, d))[0] > 0.0:
        raise ModelError(f"the elastic constants of {material.name} are not positive definite", place=material.where)
    return C


def expansion_of(conv: Conversion, material: Material) -> tuple[float, ...] | None:
    """Return coefficients of thermal expansion: 1, 3 (11, 22, 33) or 6 (11, 22, 33, 12, 13, 23), or None."""
    e = material.expansion
    if e is None:
        return None
    at = conv.temperatures
    if len(e.coefficients) > 1 and at is not None and at[0] != at[1]:
        # secants from the temperature ``zero``: the strain from the initial temperature on has another secant
        first, last = (_interpolated(e.coefficients, e.temperature, T) * (T - e.zero) for T in at)
        return tuple(float(v) for v in (last - first) / (at[1] - at[0]))
    row = constants(conv, material, e.coefficients, e.temperature, "the expansion")
    return tuple(float(v) for v in row)
