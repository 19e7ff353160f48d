"""What of a Nastran deck is used, by name: solutions, entries, parameters and commands, and the notes on the others."""

from __future__ import annotations

from collections import Counter

from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import UnsupportedError
from fem_mbs.meshes.abaqus.deck import Effect

__all__ = ["SHELLS", "check_content"]

#: Shells, which are parsed and refused.
SHELLS = ("CQUAD4", "CTRIA3", "CQUADR", "CTRIAR", "CQUAD8", "CTRIA6")
#: Entries that concern output, other solutions or other fields.
HARMLESS_ENTRIES = frozenset((
    "TSTEPNL", "NLPARM", "EIGC", "SET1", "SET3", "PLOTEL", "ECHOON", "ECHOOFF", "MDLPRM", "TICF", "PSET", "PVAL", "GRDPNT",
    "TABLED1", "TABLED2", "TABLED3", "TABLED4", "TABDMP1", "FREQ", "FREQ1", "FREQ2", "FREQ3", "FREQ4", "RLOAD1",
    "RLOAD2", "TLOAD1", "TLOAD2", "DAREA", "DLOAD", "DPHASE", "DELAY", "TSTEP", "DESVAR", "DRESP1", "DVPREL1", "DVPREL2",
    "DCONSTR", "DCONADD", "DOPTPRM", "DLINK", "BLSEG", "BCBODY",
))  # fmt: skip
#: Parameters that change no result of the solutions that are computed, or that are used.
HARMLESS_PARAMETERS = frozenset((
    "POST", "GRDPNT", "AUTOSPC", "AUTOSPCR", "PRGPST", "PRTMAXIM", "WTMASS", "COUPMASS", "NOCOMPS", "PATVER", "BAILOUT",
    "MAXRATIO", "OGEOM", "OUGCORD", "USETPRT", "USETSEL", "DBALL", "TINY", "EPZERO", "SPCGEN", "NEWSEQ", "DBDICT",
    "DBCCONV", "SEMAP", "SEMAPOPT", "DBCOVWRT", "PRTRESLT", "RESVEC", "RESVINER", "G", "GFL", "W3", "W4", "LFREQ",
    "HFREQ", "LMODES", "DDRMM", "CURV", "CURVPLOT", "TABS", "SIGMA", "ERROR", "OMID", "STRESS", "STRAIN", "SRCOMPS",
    "UNITSYS", "OPTION", "MODACC", "SDRPOPT", "NOELOF", "NOELOP", "NOGPF", "ALTRED", "ASING", "PRTCSTM", "CHECKOUT",
    "EST", "SERST", "MPCX", "PDRMSG", "SNORM", "K6ROT", "NINTPTS", "ENFMOTN", "DYNSPCF", "PRPHIVZ", "FIXEDB", "ERPC",
    "RHOCP", "GPECT", "XYUNIT", "PEDGEP", "PATPLUS", "ITAPE", "OP2NEW", "OP2GM34", "IUNIT", "OUNIT2", "RMSINT",
    "FOLLOWK", "COUPBEAM", "EXTRCV", "LANGLE", "LGDISP", "ALPHA1", "ALPHA2", "KDAMP", "LMODESFL", "PVALINIT",
    "MECHFIX", "MESH", "NMLOOP", "WMODAL", "DISPTYP", "COMPMATT",
))  # fmt: skip
#: Case control commands that select what is used, or concern output.
KNOWN_COMMANDS = frozenset((
    "TITLE", "SUBTITLE", "LABEL", "ECHO", "MAXLINES", "LINE", "SPC", "MPC", "LOAD", "METHOD", "STATSUB", "AUTOSPC",
    "TEMPERATURE(LOAD)", "TEMPERATURE(INITIAL)", "TEMPERATURE", "TEMP", "DISPLACEMENT", "VELOCITY", "ACCELERATION", "FORCE", "STRESS",
    "STRAIN", "SPCFORCES", "MPCFORCES", "OLOAD", "GPFORCE", "GPSTRESS", "STRFIELD", "ESE", "EKE", "GPKE", "PARAM",
    "ANALYSIS", "SEALL", "SUPER", "SEFINAL", "RESVEC", "RESVINER", "EFFMASS", "MEFFMASS", "NLPARM", "SDISPLACEMENT",
    "SVECTOR", "BOUTPUT", "GROUNDCHECK", "WEIGHTCHECK", "MAXMIN", "HOUTPUT", "SVELOCITY", "SACCELERATION", "NLSTRESS",
    "NLLOAD", "SKIP", "PAGE", "VOLUME", "SURFACE", "ELSUM", "SUBSEQ", "BEGIN", "SOL", "APP", "TIME", "DIAG", "CEND",
    "ID", "DLOAD", "FREQUENCY", "TSTEP", "SDAMPING", "CMETHOD", "BCONTACT", "LOADSET", "IC", "DEFORM", "OTIME", "OFREQUENCY",
    "MODES", "NSM", "THERMAL", "FLUX", "ENTHALPY", "XYPLOT", "XYPRINT", "PLOTID", "AECONFIG", "MCFRACTION", "PLOT",
    "K2GG", "M2GG", "B2GG", "K2PP", "M2PP", "B2PP", "P2G", "SUPORT1", "NONLINEAR", "STATVAR", "SUBCOM", "SYM", "SYMCOM",
    "REPCASE", "RANDOM", "TEMPERATURE(MATERIAL)",
))  # fmt: skip
#: Of these the ones that change results and are not supported.
DROPPED_COMMANDS = {
    "K2GG": "direct input of stiffness", "M2GG": "direct input of mass", "B2GG": "direct input of damping",
    "P2G": "direct input of loads", "SUPORT1": "free bodies held by their inertia", "BCONTACT": "contact",
    "SUBCOM": "combinations of subcases", "SYM": "symmetry subcases", "SYMCOM": "combinations of symmetry subcases",
    "REPCASE": "repeated subcases", "NSM": "non-structural mass by sets", "STATVAR": "optimisation", "K2PP": "direct input of stiffness",
    "M2PP": "direct input of mass", "B2PP": "direct input of damping",
}  # fmt: skip


def check_content(conv: Conversion) -> None:
    """Note what the model lacks of a deck.

    Raises:
        UnsupportedError: shells.
    """
    deck = conv.deck
    shells = [(name, deck.of(name)) for name in SHELLS if deck.of(name)]
    if shells:
        what = ", ".join(f"{name} ({len(cards)})" for name, cards in shells)
        raise UnsupportedError(f"shells are not supported: {what}", place=shells[0][1][0].where)
    counts = Counter(entry.name for entry in deck.unknown)
    for name, n in counts.items():
        first = next(entry for entry in deck.unknown if entry.name == name)
        times = f" ({n} entries)" if n > 1 else ""
        if name in HARMLESS_ENTRIES:
            conv.note(f"{first.where}: {name}{times} is not used", Effect.NONE)
        else:
            conv.note(f"{first.where}: {name}{times} is not known")
    for name, parameter in deck.params.items():
        if name not in HARMLESS_PARAMETERS:
            conv.note(f"{parameter.where}: PARAM,{name} is not used")
        if name == "LGDISP" and deck.sol == 106:
            conv.note(f"{parameter.where}: PARAM,LGDISP is not used")
    inertia = deck.params.get("INREL")
    if inertia is not None and inertia.values[0] == 0:
        conv.notes = [n for n in conv.notes if "PARAM,INREL" not in n.text]
    seen: set[tuple[str, str]] = set()
    for subcase in deck.subcases:
        for key, command in subcase.commands.items():
            if (key, command.where) in seen:
                continue
            seen.add((key, command.where))
            name = key.split("(")[0]
            if name in DROPPED_COMMANDS:
                conv.note(f"{command.where}: {name} ({DROPPED_COMMANDS[name]}) is not supported")
            elif key not in KNOWN_COMMANDS and name not in KNOWN_COMMANDS:
                conv.note(f"{command.where}: the command {name} is not known")
    supports = deck.of("SUPORT")
    if supports:
        conv.note(f"{supports[0].where}: SUPORT is not used; free bodies have their modes all the same", Effect.DIFFERS)
