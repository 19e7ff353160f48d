"""The command line `fem-mbs`: its application and what happens to errors.

The commands are in `fem_mbs/cli/commands`, one module for each panel of the help.  Exit codes: 0 done; 1 an analysis
without a valid result, a check or validation that failed, or a full disk; 2 bad input; 3 an error of the program
itself; 130 interrupted.  Heavy libraries are imported inside the commands: the help appears at once.
"""

import atexit
import gc
import logging
import re
import sys
from typing import Annotated, Any, NoReturn

import typer

from fem_mbs.cli.commands import reduced, runs, studies, views
from fem_mbs.cli.commands.common import complain
from fem_mbs.cli.commands.streams import lasting_streams
from fem_mbs.cli.progress import noted
from fem_mbs.errors import AnalysisError, DiskFullError, FemMbsError
from fem_mbs.files import no_room

__all__ = ["app", "main"]

# New objects until garbage is collected, and collections until the older objects are looked at as well.  The modules
# of a command make some 150 000 objects, and hardly any is garbage: a collection among them takes up to .16 s.
_COLLECTIONS = (200_000, 20, 20)

app = typer.Typer(
    name="fem-mbs",
    help="Flexible multibody dynamics with finite elements: mechanisms from meshes, energy-exact in time.",
    epilog="Start with: fem-mbs new part.msh, or one of the examples. Exit codes: 0 done; 1 no valid result, or a "
    "check or validation that failed; 2 bad input.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (runs, studies, views, reduced):
    app.add_typer(group.commands)


def main() -> NoReturn:
    """Run the command line with the arguments of the process."""
    gc.set_threshold(*_COLLECTIONS)
    atexit.register(gc.freeze)  # Python would look for garbage among the objects of all modules at its end: .3 s
    arguments = sys.argv[1:]
    debug = "--debug" in arguments

    def work() -> int:
        logging.basicConfig(format="fem-mbs: %(message)s", level=logging.WARNING)
        with noted(quiet=not {"-q", "--quiet"}.isdisjoint(arguments)):
            return app(args=_with_restart_number(arguments), prog_name="fem-mbs", standalone_mode=True)

    with lasting_streams() as lost:
        code: Any = 0
        try:
            if _all_ranks(arguments):
                from fem_mbs.analysis.distributed.together import together

                code = together(work, lambda error: _ended(error, debug))
            else:
                code = work()
        except SystemExit as end:  # raised by typer
            code = end.code
        except (Exception, KeyboardInterrupt) as error:
            code = _ended(error, debug)
        if sys.stdout is not None:
            sys.stdout.flush()
        if lost.error is not None:
            done = "; its work is done" if not code else ""
            complain(f"error: the output of the command cannot be written ({lost.error.strerror}){done}")
            code = code or 1
    sys.exit(code or 0)


def _all_ranks(arguments: list[str]) -> bool:
    """Return whether all processes of `mpiexec` run this command together."""
    given = [a.partition("=")[2] for a in arguments if a.startswith("--backend=")]
    given += [b for a, b in zip(arguments, arguments[1:], strict=False) if a == "--backend"]
    return "petsc" in given


def _ended(end: BaseException, debug: bool) -> int:
    """Say what has ended the command and return the exit code; raise an error again with ``debug``."""
    code = 0
    try:
        raise end
    except KeyboardInterrupt:
        complain("interrupted")
        code = 130
    except FemMbsError as error:
        if debug:
            raise
        complain(f"error: {error}")
        code = 1 if isinstance(error, (AnalysisError, DiskFullError)) else 2
    except Exception as error:
        if debug:
            raise
        what = "out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
        if isinstance(error, OSError) and no_room(error):
            file = f'"{error.filename}": ' if error.filename else ""
            complain(f"error: {file}cannot be written ({error.strerror}): free space or give another folder")
            code = 1
        else:
            complain(f"unexpected error: {what} (run again with --debug to see where, and report it)")
            code = 3
    return code


def _with_restart_number(arguments: list[str]) -> list[str]:
    """Return the arguments with the last restart point for --restart without a number."""
    out = []
    for i, argument in enumerate(arguments):
        alone = argument == "--restart" and not re.fullmatch(r"-?\d+", "".join(arguments[i + 1 : i + 2]))
        out.append("--restart=-1" if alone else argument)
    return out


def _version(wanted: bool) -> None:
    if wanted:
        from fem_mbs import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    pass


if __name__ == "__main__":  # python -m fem_mbs.cli.main
    main()
