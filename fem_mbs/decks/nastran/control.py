"""Treatment of the entries, parameters and commands of a Nastran deck (used, noted, refused), by name."""

from __future__ import annotations

from collections import Counter

from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.decks.nastran.responses.steps import PARAMETERS as RESPONSE_PARAMETERS
from fem_mbs.meshes.nastran.cards import CARDS
from fem_mbs.meshes.vocabulary import Effect, Use, Word

__all__ = [
    "UNUSED_FIELDS",
    "check_content",
    "check_fields",
    "command_words",
    "entry_words",
    "parameter_words",
]

#: Entries of damping, which the model holds.
_DAMPERS = ("CDAMP1", "CDAMP2", "CDAMP3", "CDAMP4", "PDAMP", "CVISC", "PVISC")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: Entries that are passed over, and why they change no result.
UNUSED_ENTRIES: dict[tuple[str, ...], str] = {
    _words(
        "SET1 SET3 PLOTEL PLOTEL3 PLOTEL4 PLOTEL6 PLOTEL8 ECHOON ECHOOFF GRDPNT PSET PVAL CBARAO YPARAM EPOINT SEQGP"
    ): "they concern output",
    _words(
        "RANDPS RANDT1 TABRND1 TABRNDG"
    ): "random responses are not computed, only the frequency response below them",
    _words("USET USET1"): "they name sets that nothing else refers to",
    _words("MDLPRM DEBUG"): "they concern the conduct of the other program",
    _words("EIGP TSTEPNL TICF NLSTEP NLCNTL"): "they belong to solutions that are refused",
    _words("MAT4 MAT5 MATT4 MATT5"): "they belong to heat",
    _words(
        "AERO AEROS CAERO1 CAERO2 PAERO1 PAERO2 SPLINE1 SPLINE2 SPLINE4 SPLINE5 MKAERO1 MKAERO2 FLUTTER FLFACT AELIST "
        "AEFACT AESURF AESTAT AELINK AECOMP AECOMPL TRIM MONPNT1 GUST"
    ): "they belong to aeroelasticity",
    _words("DESVAR DRESP1 DRESP2 DVPREL1 DVPREL2 DCONSTR DCONADD DOPTPRM DLINK"): "they belong to optimisation",
}
#: Properties that are passed over where their elements are not there -> these.
UNOWNED = {
    "PBEND": "CBEND", "PBUSH1D": "CBUSH1D", "PGAP": "CGAP", "PFAST": "CFAST", "PWELD": "CWELD", "PBEAM3": "CBEAM3",
}  # fmt: skip
#: Properties over the frequency or the force, which only some solutions take; others have the constant ones.
VARYING = ("PELAST", "PBUSHT")
_WITH_VARYING = (106, 108, 111)
#: Parameters that are used, or change no result of the solutions that are computed.
PARAMETERS: dict[tuple[str, ...], str] = {
    _words("WTMASS COUPMASS AUTOSPC DFREQ G LGDISP W3 ART_MASS OMID"): "used",
    tuple(RESPONSE_PARAMETERS): "they are noted in responses",
    _words(
        "POST GRDPNT PRGPST PRTMAXIM NOCOMPS PATVER OGEOM OUGCORD USETPRT USETSEL DBALL TINY SPCGEN NEWSEQ DBDICT "
        "DBCCONV SEMAP SEMAPOPT DBCOVWRT PRTRESLT CURV CURVPLOT SRCOMPS UNITSYS NOELOF NOELOP NOGPF PRTCSTM "
        "CHECKOUT EST SERST PDRMSG XYUNIT PEDGEP PATPLUS ITAPE OP2NEW OP2GM34 IUNIT OUNIT2 RMSINT EXTRCV NINTPTS TABS "
        "SIGMA ERROR POSTEXT OUNIT1K PRTPG PRTMGG PRTGPDT PRTDOF PRTSTIFD PRTSTIFF PRTYS PRTUO0 PRTTSET PRTSCP PRTRMG "
        "PRTQSYS PRTPHIZL PRTPHIXA PRTMXX PRTMASS PRTKXX PRTIFLTM PRTHMN PRTGOA PRTGMN PRTFOR PRTDLR PRTCORD PRTCGLTM "
        "PRTBASIC PRTCONN PRTOU4 PRTPSET PRTANS PRTMAT EQCHECK OIBULK OMACHPR GPWG LAMA XFLAG PLTMSG "
        "OELMSET OGRDSET GEOMU PRTEQIN GPECT CUSROUT ELEMOUT MAXLINES OUTOPT OUNIT2K OMODES NOFISR OGPS "
        "RPOSTS1 EIGNORM2"
    ): "they concern output",
    _words(
        "AUTOSPCR BAILOUT MAXRATIO EPZERO ALTRED ASING MPCX SNORM FIXEDB DISPTYP SOLLIB SPARSTOR RCONDK LANCMETH "
        "EIGESTL SORT_MAX MEMAFAC ARP_TOL CRS_CCS RELINK3 SETLEV SUPINFO SUPWARN TSTM_DEF ITMAX MXITERI MXITERL "
        "MIN4TRED HEXAXIS IORQ1M IORQ1S IORQ1B IORQ2B IORQ2T Q4SURFIT QUADAXIS STR_CID MATSPARS EMP0_PAUSE WINAMEM "
        "PCHSPC1 NOCOUNTS USR_JCT GRIDSEQ AUTOMSET MYQUAD MYQDRIL"
    ): "they concern the other program",
    _words(
        "DDRMM RESVEC RESVINER MODACC SDRPOPT ENFMOTN DYNSPCF PRPHIVZ"
    ): "they concern how responses are computed by modes",
    _words("K6ROT"): "it concerns shells",
    _words("NMLOOP NLTOL"): "they concern nonlinear solutions",
    _words("RSOPT RSCON"): "they concern connectors of shells and solids (RSSCON), which are refused",
}
#: Commands that are used, and those that concern output.
COMMANDS: dict[tuple[str, ...], str] = {
    _words(
        "TITLE SPC MPC LOAD METHOD STATSUB AUTOSPC TEMPERATURE DISPLACEMENT VELOCITY ACCELERATION SPCFORCES FORCE "
        "STRESS STRAIN SET SUBCASE DLOAD FREQUENCY TSTEP SDAMPING LOADSET CMETHOD NLPARM "
        "K2GG M2GG B2GG K2PP M2PP B2PP P2G"
    ): "used",
    _words(
        "SUBTITLE LABEL ECHO MAXLINES LINE OUTPUT MPCFORCES OLOAD GPFORCE GPSTRESS "
        "STRFIELD ESE EKE GPKE EFFMASS MEFFMASS SDISPLACEMENT SVECTOR SVELOCITY SACCELERATION BOUTPUT GROUNDCHECK "
        "WEIGHTCHECK MAXMIN HOUTPUT NLSTRESS NLLOAD SKIP PAGE VOLUME SURFACE ELSUM OTIME OFREQUENCY MODES THERMAL "
        "FLUX ENTHALPY XYPLOT XYPRINT PLOTID MCFRACTION PLOT LINES GPSTRAIN GPSDCON ELSDCON ELDATA MEFM "
        "MPFACTOR "
        "XYPUNCH XYPEAK MODALSE MODALKE GPRSORT SORT1 SORT2 NOUTPUT OSTNINI AUXTAB INTENSITY PRESSURE SHELLTHK "
        "PLSTRN THSTRN OTEMP RANDOM"
    ): "they concern output",
    _words("ANALYSIS SEALL SUPER SEFINAL RESVEC RESVINER PARAM SOL APP TIME DIAG ID CEND BEGIN"): "they select nothing",
    _words("IC"): "they belong to solutions that are refused",
}
#: Commands that change results and are not supported.
DROPPED_COMMANDS: dict[str, str] = {
    "SUPORT1": "free bodies held by their inertia", "BCONTACT": "contact",
    "SUBCOM": "combinations of subcases", "SUBSEQ": "combinations of subcases", "SYM": "symmetry subcases",
    "SYMCOM": "combinations of symmetry subcases", "SYMSEQ": "combinations of symmetry subcases",
    "REPCASE": "repeated subcases", "NSM": "non-structural mass by sets", "DEFORM": "enforced strains",
}  # fmt: skip


#: What asks for a temperature without strain reads it.
_TREF = ("tref", Effect.NONE, "no temperatures act on it, or the laminate has its own")
#: Fields that no result depends on: entry -> fields, effect, why.
UNUSED_FIELDS: dict[str, tuple[tuple[str, Effect, str], ...]] = {
    "MAT1": (("st sc ss", Effect.NONE, "limits of stress"), ("mcsid", Effect.NONE, "axes of an isotropic material")),
    "MATT1": (("tst tsc tss", Effect.NONE, "limits of stress"),),
    "MAT2": (("st sc ss", Effect.NONE, "limits of stress"), _TREF),
    "MAT8": (("xt xc yt yc s f12 strn", Effect.NONE, "limits of stress"), _TREF),
    "PSHELL": (("z1 z2", Effect.NONE, "where stresses are printed"),),
    "PCOMP": (("sb ft", Effect.NONE, "limits of stress"), _TREF),
    "PCOMPG": (("sb ft", Effect.NONE, "limits of stress"), _TREF),
    "PSOLID": (
        ("stress", Effect.NONE, "where stresses are printed"), ("cordm", Effect.NONE, "axes of an isotropic material"),
        ("in", Effect.NONE, "the integration of MSC Nastran, whose elements are others"),
    ),
    "CQUAD4": (("theta", Effect.NONE, "axes of an isotropic material"),),
    "CQUADR": (("theta", Effect.NONE, "axes of an isotropic material"),),
    "CTRIA3": (("theta", Effect.NONE, "axes of an isotropic material"),),
    "CTRIAR": (("theta", Effect.NONE, "axes of an isotropic material"),),
    "CQUAD8": (("theta", Effect.NONE, "axes of an isotropic material"),),
    "CTRIA6": (("theta", Effect.NONE, "axes of an isotropic material"),),
    "RFORCE": (("method", Effect.NONE, "how MSC Nastran sums up the masses"),),
    "EIGRL": (
        ("msglvl maxset shfscl options", Effect.NONE, "the conduct of the other program"),
        ("norm", Effect.NONE, "shapes have unit modal mass"),
    ),
    "EIGR": (
        ("method ne options", Effect.NONE, "the conduct of the other program"),
        ("norm g c", Effect.NONE, "shapes have unit modal mass"),
    ),
    "TEMPRB": (("tca tda tea tfa tcb tdb teb tfb", Effect.DIFFERS, "printed stresses lack them"),),
    "EIGC": (
        ("method e", Effect.NONE, "the conduct of the other program"),
        ("norm g c", Effect.NONE, "the size of the shapes"),
    ),
    "NLPARM": (
        ("dt kmethod kstep maxiter conv options", Effect.NONE, "the conduct of the other program"),
        ("intout", Effect.NONE, "results of the increments are missing but for the last"),
    ),
    "EIGB": (
        ("nep", Effect.NONE, "an estimate of the number of roots"),
        ("method", Effect.NONE, "the conduct of the other program"),
        ("norm g c", Effect.NONE, "the size of the shapes"),
    ),
}  # fmt: skip


def check_fields(conv: Conversion) -> None:
    """Note the fields of entries in use that nothing has read: each is listed with a reason, or changes the answer."""
    for name, cards in conv.deck.cards.items():
        why = {
            field: (effect, text) for fields, effect, text in UNUSED_FIELDS.get(name, ()) for field in fields.split()
        }
        first = CARDS[name].first
        for card in cards:
            if not card.seen - {first}:
                continue  # of a set that no subcase selects, or that nothing refers to
            left: dict[tuple[Effect, str], list[str]] = {}
            for field in sorted(card.given - card.seen - {first}):
                left.setdefault(why.get(field, (Effect.DROPPED, "")), []).append(field.upper())
            for (effect, text), fields in left.items():
                reason = f": {text}" if text else ""
                conv.note(f"{name}: {', '.join(fields)}: not used{reason}", effect, card.where)


def check_content(conv: Conversion) -> None:
    """Note what the model lacks of a deck."""
    deck = conv.deck
    unused = {name: why for names, why in UNUSED_ENTRIES.items() for name in names}
    for name, n in Counter(entry.name for entry in deck.unknown).items():
        first = next(entry for entry in deck.unknown if entry.name == name)
        times = f" ({n} entries)" if n > 1 else ""
        there = {entry.name for entry in deck.unknown}
        if name in UNOWNED and UNOWNED[name] not in there:
            conv.note(f"{name}{times} is not used: there is no {UNOWNED[name]}", Effect.NONE, first.where)
        elif name in VARYING and deck.sol not in _WITH_VARYING:
            conv.note(f"{name}{times} is not used: SOL {deck.sol} has constant stiffness", Effect.NONE, first.where)
        elif name in unused:
            conv.note(f"{name}{times} is not used: {unused[name]}", Effect.NONE, first.where)
        else:
            conv.note(f"{name}{times} is not known", where=first.where)
    known = {name for names in PARAMETERS for name in names}
    for name, parameter in deck.params.items():
        harmless = name in known or (name == "INREL" and parameter.values[0] == 0)
        if not harmless:
            conv.note(f"PARAM,{name} is not known", where=parameter.where)
    _disputed(conv)
    known = {name for names in COMMANDS for name in names}
    for subcase in deck.subcases:
        for key, command in subcase.commands.items():
            name = key if key in DROPPED_COMMANDS else key.split("(")[0]
            if name in DROPPED_COMMANDS:
                conv.note(f"{name} ({DROPPED_COMMANDS[name]}) is not supported", where=command.where)
            elif name not in known:
                conv.note(f"the command {name} is not known", where=command.where)
    supports = deck.of("SUPORT")
    if supports:
        conv.note(f"{supports[0].where}: SUPORT is not used; free bodies have their modes all the same", Effect.DIFFERS)


def _disputed(conv: Conversion) -> None:
    """Note parameters that results depend on and that have several values, in the deck or over its subcases."""
    counting = {name for names, why in PARAMETERS.items() if why == "used" for name in names} | set(RESPONSE_PARAMETERS)
    for name in sorted(counting & set(conv.deck.disputed)):
        parameter, first = conv.deck.disputed[name], conv.deck.params[name]
        if parameter.values != first.values:
            conv.note(f"PARAM,{name} has another value in {first.where}; give one", where=parameter.where)
        else:
            conv.note(
                f"PARAM,{name} in a subcase is not supported: give one value for all subcases", where=parameter.where
            )


def entry_words() -> list[Word]:
    """Return the treatment of bulk data entries by name."""
    passed = {"SUPORT": "free bodies have their modes all the same"}
    out = [Word(name, Use.PASSED, why) for name, why in passed.items()]
    unused = {*passed, *_DAMPERS}
    out += [Word(name, Use.USED, kind.text) for name, kind in CARDS.items() if name not in unused]
    out += [
        Word(name, Use.USED, f"{CARDS[name].text}; without effect on statics, modes and buckling") for name in _DAMPERS
    ]
    out += [Word(name, Use.PASSED, why) for names, why in UNUSED_ENTRIES.items() for name in names]
    out += [Word(name, Use.PASSED, f"if there is no {element}") for name, element in UNOWNED.items()]
    out += [Word(name, Use.PASSED, "but in SOL 106, 108 and 111") for name in VARYING]
    return [*out, Word("PARAM", Use.USED, "parameters"), Word("all others", Use.REFUSED, "the entry is not known")]


def parameter_words() -> list[Word]:
    """Return the treatment of parameters by name."""
    out = [_word(name, why) for names, why in PARAMETERS.items() for name in names]
    out.append(Word("INREL", Use.REFUSED, "free bodies held by their inertia, but for 0"))
    return [*out, Word("all others", Use.REFUSED, "the parameter is not known")]


def command_words() -> list[Word]:
    """Return the treatment of case control commands by name."""
    out = [_word(name, why) for names, why in COMMANDS.items() for name in names]
    out += [Word(name, Use.REFUSED, why) for name, why in DROPPED_COMMANDS.items()]
    return [*out, Word("all others", Use.REFUSED, "the command is not known")]


def _word(name: str, why: str) -> Word:
    return Word(name, Use.USED if why == "used" else Use.PASSED, "" if why == "used" else why)
