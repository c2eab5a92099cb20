"""The table of commands, their lazy loading, and the mapping of every ending to the exit statuses of the contract."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from skel.faults import as_fault
from skel.store.schema.words import ExitStatus

from .fault_report import report_crash, report_fault, report_usage
from .output import stdout_reserved

COMMANDS = {
    "search": "skel.cli.search",
    "show": "skel.cli.show",
    "list": "skel.cli.list",
    "scan": "skel.cli.scan",
    "lanes": "skel.cli.lanes",
    "apply": "skel.cli.apply",
    "check": "skel.cli.check",
    "bench": "skel.cli.bench",
    "capture": "skel.cli.capture",
    "mine": "skel.cli.mine",
    "evidence": "skel.cli.evidence",
    "revalidate": "skel.cli.revalidate",
    "report": "skel.cli.report",
    "serve": "skel.cli.serve",
    "tools": "skel.cli.tools",
    "call": "skel.cli.call",
    "new": "skel.cli.new",
    "schema": "skel.cli.schema",
    "doctor": "skel.cli.doctor",
}
"""Every command and the module whose function `command` it is."""
INTERRUPTED = 130


class LazyGroup(TyperGroup):
    """Imports a command's module only when that command, or the list of all, is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return load_command(cmd_name) if cmd_name in COMMANDS else None


def load_command(name: str) -> Any:
    """The command `name` as typer's command object; its help is the docstring of the function."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(importlib.import_module(COMMANDS[name]).command)
    loaded = typer.main.get_command(app)
    loaded.name = name
    return loaded


def _print_version(wanted: bool) -> None:
    if wanted:
        from skel import __version__

        from .output import emit

        emit({"version": __version__}, False, lambda console: console.print(f"skel {__version__}", highlight=False))
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and end.")
]


def build() -> Any:
    """The whole command line as typer's group."""
    app = typer.Typer(cls=LazyGroup, add_completion=False, rich_markup_mode=None)

    @app.callback()
    def skel(version: Version = False) -> None:
        """Find, explain and apply optimization skeletons to Triton kernels.

        Exit status: 0 done, 1 another verdict, 2 wrong use, 3 a fault of ours, 4 something is missing here.
        """

    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. Never raises: a fault of ours becomes a report and status 3."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    as_json = "--json" in words
    stdout = sys.stdout
    json_stream = stdout if as_json else None
    try:
        with stdout_reserved() if "--help" not in words else contextlib.nullcontext():
            status = build().main(args=words, prog_name="skel", standalone_mode=False)
        return status if isinstance(status, int) else ExitStatus.OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`skel list | head`): nothing to say, and nowhere to say it.
        sys.stdout = open("/dev/null", "w")
        return ExitStatus.OK
    except Exception as error:
        fault = as_fault(error)
        if fault is not None:
            return report_fault(fault, json_stream)
        if hasattr(error, "format_message") and getattr(error, "exit_code", None) == ExitStatus.WRONG_USE:
            return report_usage(error, json_stream)
        return report_crash(error, words, json_stream)
