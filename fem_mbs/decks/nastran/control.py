"""What becomes of the entries, parameters and commands of a Nastran deck, by name, and the notes on them."""

from __future__ import annotations

from collections import Counter

from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import UnsupportedError
from fem_mbs.meshes.nastran.cards import CARDS
from fem_mbs.meshes.vocabulary import Effect, Use, Word

__all__ = ["SHELLS", "check_content", "command_words", "entry_words", "parameter_words"]

#: Shells that are read and refused.
SHELLS = ("CQUAD8", "CTRIA6")


#: Entries of damping, which the model holds.
_DAMPERS = ("CDAMP1", "CDAMP2", "PDAMP", "CVISC", "PVISC")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: Entries that are passed over, and why they change no result.
UNUSED_ENTRIES: dict[tuple[str, ...], str] = {
    _words("SET1 SET3 PLOTEL ECHOON ECHOOFF GRDPNT PSET PVAL"): "they concern output",
    _words("MDLPRM"): "it concerns the conduct of the other program",
    _words("EIGC EIGP NLPARM TSTEPNL TICF"): "they belong to solutions that are refused",
    _words(
        "TABLED1 TABLED2 TABLED3 TABLED4 TABDMP1 FREQ FREQ1 FREQ2 FREQ3 FREQ4 FREQ5 RLOAD1 RLOAD2 TLOAD1 TLOAD2 DAREA "
        "DLOAD DPHASE DELAY TSTEP"
    ): "they belong to responses over time and frequency",
    _words("DESVAR DRESP1 DRESP2 DVPREL1 DVPREL2 DCONSTR DCONADD DOPTPRM DLINK"): "they belong to optimisation",
}
#: Parameters that are used, or change no result of the solutions that are computed.
PARAMETERS: dict[tuple[str, ...], str] = {
    _words("WTMASS COUPMASS AUTOSPC"): "used",
    _words(
        "POST GRDPNT PRGPST PRTMAXIM NOCOMPS PATVER OGEOM OUGCORD USETPRT USETSEL DBALL TINY SPCGEN NEWSEQ DBDICT "
        "DBCCONV SEMAP SEMAPOPT DBCOVWRT PRTRESLT CURV CURVPLOT OMID SRCOMPS UNITSYS NOELOF NOELOP NOGPF PRTCSTM "
        "CHECKOUT EST SERST PDRMSG XYUNIT PEDGEP PATPLUS ITAPE OP2NEW OP2GM34 IUNIT OUNIT2 RMSINT EXTRCV NINTPTS TABS "
        "SIGMA ERROR"
    ): "they concern output",
    _words("AUTOSPCR BAILOUT MAXRATIO EPZERO ALTRED ASING MPCX SNORM FIXEDB DISPTYP"): "they concern the other program",
    _words(
        "G GFL W3 W4 LFREQ HFREQ LMODES LMODESFL DDRMM RESVEC RESVINER MODACC SDRPOPT ENFMOTN DYNSPCF PRPHIVZ ALPHA1 "
        "ALPHA2 KDAMP"
    ): "they concern responses over time and frequency",
    _words("K6ROT"): "it concerns shells",
    _words("LGDISP NMLOOP"): "they concern nonlinear solutions",
}
#: Commands that are used, and those that concern output.
COMMANDS: dict[tuple[str, ...], str] = {
    _words("TITLE SPC MPC LOAD METHOD STATSUB AUTOSPC TEMPERATURE DISPLACEMENT SPCFORCES FORCE SET SUBCASE"): "used",
    _words(
        "SUBTITLE LABEL ECHO MAXLINES LINE VELOCITY ACCELERATION STRESS STRAIN MPCFORCES OLOAD GPFORCE GPSTRESS "
        "STRFIELD ESE EKE GPKE EFFMASS MEFFMASS SDISPLACEMENT SVECTOR SVELOCITY SACCELERATION BOUTPUT GROUNDCHECK "
        "WEIGHTCHECK MAXMIN HOUTPUT NLSTRESS NLLOAD SKIP PAGE VOLUME SURFACE ELSUM OTIME OFREQUENCY MODES THERMAL "
        "FLUX ENTHALPY XYPLOT XYPRINT PLOTID MCFRACTION PLOT"
    ): "they concern output",
    _words("ANALYSIS SEALL SUPER SEFINAL RESVEC RESVINER PARAM SOL APP TIME DIAG ID CEND BEGIN"): "they select nothing",
    _words("DLOAD FREQUENCY TSTEP SDAMPING CMETHOD LOADSET IC NLPARM"): "they belong to solutions that are refused",
}
#: Commands that change results and are not supported.
DROPPED_COMMANDS: dict[str, str] = {
    "K2GG": "direct input of stiffness", "M2GG": "direct input of mass", "B2GG": "direct input of damping",
    "K2PP": "direct input of stiffness", "M2PP": "direct input of mass", "B2PP": "direct input of damping",
    "P2G": "direct input of loads", "SUPORT1": "free bodies held by their inertia", "BCONTACT": "contact",
    "SUBCOM": "combinations of subcases", "SUBSEQ": "combinations of subcases", "SYM": "symmetry subcases",
    "SYMCOM": "combinations of symmetry subcases", "SYMSEQ": "combinations of symmetry subcases",
    "REPCASE": "repeated subcases", "NSM": "non-structural mass by sets", "DEFORM": "enforced strains",
}  # fmt: skip


def check_content(conv: Conversion) -> None:
    """Note what the model lacks of a deck.

    Raises:
        UnsupportedError: shells with mid-side grid points.
    """
    deck = conv.deck
    shells = [(name, deck.of(name)) for name in SHELLS if deck.of(name)]
    if shells:
        what = ", ".join(f"{name} ({len(cards)})" for name, cards in shells)
        raise UnsupportedError(
            f"shells with mid-side grid points are not supported: {what}", place=shells[0][1][0].where
        )
    unused = {name: why for names, why in UNUSED_ENTRIES.items() for name in names}
    for name, n in Counter(entry.name for entry in deck.unknown).items():
        first = next(entry for entry in deck.unknown if entry.name == name)
        times = f" ({n} entries)" if n > 1 else ""
        if name in unused:
            conv.note(f"{first.where}: {name}{times} is not used: {unused[name]}", Effect.NONE)
        else:
            conv.note(f"{first.where}: {name}{times} is not known")
    known = {name for names in PARAMETERS for name in names}
    for name, parameter in deck.params.items():
        harmless = name in known or (name == "INREL" and parameter.values[0] == 0)
        if not harmless:
            conv.note(f"{parameter.where}: PARAM,{name} is not known")
    known = {name for names in COMMANDS for name in names}
    for subcase in deck.subcases:
        for key, command in subcase.commands.items():
            name = key.split("(")[0]
            if name in DROPPED_COMMANDS:
                conv.note(f"{command.where}: {name} ({DROPPED_COMMANDS[name]}) is not supported")
            elif name not in known:
                conv.note(f"{command.where}: the command {name} is not known")
    supports = deck.of("SUPORT")
    if supports:
        conv.note(f"{supports[0].where}: SUPORT is not used; free bodies have their modes all the same", Effect.DIFFERS)


def entry_words() -> list[Word]:
    """Return what becomes of bulk data entries."""
    stopped = dict.fromkeys(SHELLS, "mid-side grid points of shells")
    stopped["MAT2"] = "anisotropic materials of shells"
    stopped["SPOINT"] = "scalar points; springs that end there"
    out = [Word(name, Use.STOPPED, stopped[name]) for name in stopped]
    passed = {"SUPORT": "free bodies have their modes all the same"}
    out += [Word(name, Use.PASSED, why) for name, why in passed.items()]
    unused = {*stopped, *passed, *_DAMPERS}
    out += [Word(name, Use.USED, kind.text) for name, kind in CARDS.items() if name not in unused]
    out += [
        Word(name, Use.USED, f"{CARDS[name].text}; without effect on statics, modes and buckling") for name in _DAMPERS
    ]
    out += [Word(name, Use.PASSED, why) for names, why in UNUSED_ENTRIES.items() for name in names]
    return [*out, Word("PARAM", Use.USED, "parameters"), Word("all others", Use.REFUSED, "the entry is not known")]


def parameter_words() -> list[Word]:
    """Return what becomes of parameters."""
    out = [_word(name, why) for names, why in PARAMETERS.items() for name in names]
    out.append(Word("INREL", Use.REFUSED, "free bodies held by their inertia, but for 0"))
    return [*out, Word("all others", Use.REFUSED, "the parameter is not known")]


def command_words() -> list[Word]:
    """Return what becomes of case control commands."""
    out = [_word(name, why) for names, why in COMMANDS.items() for name in names]
    out += [Word(name, Use.REFUSED, why) for name, why in DROPPED_COMMANDS.items()]
    return [*out, Word("all others", Use.REFUSED, "the command is not known")]


def _word(name: str, why: str) -> Word:
    return Word(name, Use.USED if why == "used" else Use.PASSED, "" if why == "used" else why)
