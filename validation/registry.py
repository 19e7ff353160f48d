"""Finds the validation files: every module of this package that is named author_year_case."""

from __future__ import annotations

import difflib
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import fem_mbs.validation as package
from fem_mbs import Model, ModelError
from fem_mbs.validation.case import Findings

__all__ = ["SECONDS", "ValidationFile", "find", "select"]

_NAME = re.compile(r"[a-z][a-z_]*_\d{4}_[a-z0-9_]+")


#: Seconds of a processor of a slow machine that long files take, with their figures.  Runs in several processes begin
#: with the longest, and the everyday tests leave these files out.
SECONDS = {
    "sze_2004_cylinders": 30,
    "sze_2004_shells": 30,
    "nafems_1990_shells": 29,
    "dias_pereira_1993_sensitivities": 27,
    "betsch_steinmann_2002_flexible_links": 26,
    "macneal_harder_1985_shells": 25,
    "simo_tarnow_1994_free_shells": 25,
    "hetenyi_1946_contact": 20,
    "timoshenko_1961_plates_and_cylinders": 20,
    "reissner_1973_random_beams": 19,
    "lee_1968_frame": 14,
    "ziegler_1952_pendulum": 13,
    "coleman_feingold_1958_ground_resonance": 12,
    "euler_1769_capstan": 12,
    "nafems_1995_laminates": 12,
    "fryba_1972_ball_on_beam": 11,
    "dadeppo_schmidt_1975_arch": 10,
    "ledesma_bayo_1993_inverse": 10,
    "nelson_mcvaugh_1976_rotor": 10,
    "fliess_1995_crane": 9,
    "fryba_1972_moving_mass": 9,
    "arnold_bruls_2007_rules": 8,
    "kane_1987_channel": 8,
    "melzer_1993_reduced_bodies": 8,
    "anderson_1993_chain": 7,
    "ibrahimbegovic_1997_helix": 7,
    "hoffmann_2002_mode_coupling": 6,
    "leissa_1973_plates": 6,
    "meijaard_2007_bicycle": 6,
    "pacejka_2012_steady": 6,
    "pacejka_2012_tyres": 6,
    "timoshenko_1956_strength_of_materials": 6,
    "van_holten_2000_chain": 6,
    "zavarise_wriggers_2000_crossing_beams": 6,
    "betsch_leyendecker_2006_joints": 5,
    "chedmail_1993_regressors": 5,
    "dugdale_1966_disc": 5,
    "hertz_1882_half_space": 5,
    "hutton_smith_1993_telescope": 5,
    "pereira_nikravesh_1993_blows": 5,
    "simo_1985_roll_up": 5,
    "simo_vuquoc_1988_flying_beam": 5,
    "badlani_kleinhenz_1979_slider_crank": 4,
    "bhuta_jones_1963_whirling_bar": 4,
    "bisshopp_drucker_1945_elastica": 4,
    "blevins_1979_formulas": 4,
    "coulomb_1785_bushes_and_cams": 4,
    "doan_1993_spring": 4,
    "gonzalez_2005_flyball_governor": 4,
    "jimenez_1993_pendulum": 4,
    "ma_1993_contact": 4,
    "maguire_1989_forced_vibration": 4,
    "nafems_1990_le1_le10": 4,
    "reuleaux_1875_curves": 4,
    "simo_tarnow_1992_machine": 4,
    "abbassian_1987_natural_frequencies": 3,
    "argyris_1979_frame": 3,
    "astrom_hagglund_1995_pid": 3,
    "code_aster_2020_bearings": 3,
    "cook_1981_shells": 3,
    "craig_bampton_1968_reduction": 3,
    "haug_1989_slider_crank": 3,
    "jeffcott_1919_rotor": 3,
    "ledesma_bayo_1993_arm": 3,
    "pisino_1993_random_road": 3,
    "prinja_clegg_1993_beams_and_shells": 3,
    "russell_willmert_1993_double_pendulum": 3,
    "timoshenko_1955_crossed_beams": 3,
    "timoshenko_1961_columns": 3,
    "wright_1982_rotating_cantilever": 3,
    "bishop_johnson_1960_receptances": 2,
    "coulomb_1785_falling_ring": 2,
    "crisfield_shi_1993_newton": 2,
    "dowell_traybar_1975_princeton_beam": 2,
    "epps_chandra_1996_swept_blade": 2,
    "friswell_2010_rotors": 2,
    "lawrence_1987_rotating_plate": 2,
    "meijaard_1993_buckling": 2,
    "meijaard_1993_slider_crank": 2,
    "melzer_1994_invariants": 2,
    "nafems_1990_axisymmetric_vibration": 2,
    "stokey_1961_handbook": 2,
    "timbo_2020_two_disc_rotor": 2,
    "tomaszewski_2006_falling_chain": 2,
    "williams_1964_toggle": 2,
}


@dataclass(frozen=True)
class ValidationFile:
    """A validation file.

    Attributes:
        name: of the module.
        title: first line of its docstring.
        text: the rest of it.
        cases: the benchmarks in it.
        check: runs them.
        build: returns the model that the report draws.
        capability: key of `fem_mbs.validation.capabilities.CAPABILITIES`.
        deviations: sentences on errors of the literature, and on results that differ from it.
    """

    name: str
    title: str
    text: str
    cases: dict[str, str]
    check: Callable[[Findings], None]
    build: Callable[[], Model]
    capability: str
    deviations: tuple[str, ...] = ()


def find() -> list[ValidationFile]:
    """Return all validation files, ordered by the first benchmark in them."""
    files = []
    for info in pkgutil.iter_modules(package.__path__):
        if not _NAME.fullmatch(info.name):
            continue
        module = import_module(f"{package.__name__}.{info.name}")
        title, _, text = module.__doc__.strip().partition("\n")
        files.append(
            ValidationFile(
                info.name,
                title.rstrip("."),
                text.strip("\n"),  # a sketch at its beginning keeps its indentation
                dict(module.CASES),
                module.check,
                module.build,
                module.CAPABILITY,
                tuple(getattr(module, "DEVIATIONS", ())),
            )
        )
    return sorted(files, key=lambda f: _order(next(iter(f.cases))))


def _order(case: str) -> tuple:
    """Return C2 before C10, the short ids before B-..."""
    prefix, digits = re.fullmatch(r"(.*?)(\d*)", case).groups()
    return ("-" in case, prefix, int(digits or 0))


def select(names: Sequence[str] | None) -> list[tuple[ValidationFile, set[str]]]:
    """Return files to run and the ids of their benchmarks to report, for names of files or benchmarks (None: all).

    Raises:
        ModelError: no file and no benchmark has this name.
    """
    files = find()
    if not names:
        return [(f, set(f.cases)) for f in files]
    chosen: dict[str, set[str]] = {f.name: set() for f in files}
    known = {f.name.lower(): (f, set(f.cases)) for f in files}
    known |= {case.lower(): (f, {case}) for f in files for case in f.cases}
    for name in names:
        if str(name).lower() not in known:
            close = difflib.get_close_matches(str(name).lower(), list(known), n=1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ModelError(
                f'Validation case "{name}": there is none of this name{hint}; there are '
                f"{', '.join(case for f in files for case in f.cases)} (and the files that hold them: "
                f"{', '.join(f.name for f in files)})"
            )
        file, cases = known[str(name).lower()]
        chosen[file.name] |= cases
    return [(f, chosen[f.name]) for f in files if chosen[f.name]]
