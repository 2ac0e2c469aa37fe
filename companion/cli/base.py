"""What all commands share: how they are declared, how they speak, and what their exit codes mean."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import click

from ..errors import CompanionError, ConfigurationError

#: Everything went well; the work failed or numbers differ; the command line makes no sense; Ctrl-C; a closed pipe;
#: the system asked us to end.
FINE, FAILED, USAGE, STOPPED, CLOSED = 0, 1, 2, 128 + signal.SIGINT, 128 + signal.SIGPIPE
ENDED = 128 + signal.SIGTERM

EXIT_CODES = """\b
Exit codes:
  0    it worked (and what was compared agrees)
  1    it did not: a cell or a computation failed, numbers differ, something is missing
  2    the command line was refused: an unknown command, chapter, parameter or value
  130  stopped by Ctrl-C; the last line says what is stored (143: by the system, SIGTERM)
"""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
GROUP: dict[str, Any] = {"context_settings": SETTINGS, "epilog": EXIT_CODES}


def _debug_option() -> click.Option:
    return click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error.")


class Whole(click.ParamType):  # type: ignore[type-arg]  # generic only in the newest click
    """A whole number, which may also be written as 1e3; ``least`` is the smallest allowed."""

    name = "integer"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it, or say what it must be."""
        number = _whole(value)
        if number is None or number < self.least:
            self.fail(f"{value!r} must be a whole number, at least {self.least}.", param, ctx)
        return number


def _whole(value: Any) -> int | None:
    try:
        return int(value)
    except ValueError:
        pass
    try:
        number = float(value)
        return int(number) if number == int(number) else None
    except (ValueError, OverflowError):
        return None


class Command(click.Command):
    """A command that knows ``--debug`` and ends its help with the exit codes."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings.setdefault("epilog", EXIT_CODES)
        settings.setdefault("context_settings", SETTINGS)
        super().__init__(*arguments, **settings)
        self.params.append(_debug_option())


class Group(click.Group):
    """A group of such commands, in the order in which they were added."""

    command_class = Command

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params.append(_debug_option())

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Not by the alphabet."""
        return list(self.commands)


# -- speaking --------------------------------------------------------------------------------------------------


def speak_plainly() -> None:
    """Warnings and the engine's log as lines on standard error; letters a terminal lacks as question marks."""
    # Python has None where a stream was closed; what is opened next would take its number.
    sys.stdout, sys.stderr = sys.stdout or open(os.devnull, "w"), sys.stderr or open(os.devnull, "w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    warnings.showwarning = lambda message, *_: tell(f"warning: {message}")
    logging.raiseExceptions = False  # a log that cannot be written is no reason for a traceback
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("nystrom: %(message)s"))
    for package in ("nystrom_lib", "companion"):
        logger = logging.getLogger(package)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    # After Ctrl-C it would complain of the kernel that has been stopped.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


def check_locale(words: Iterable[str]) -> None:
    """Refuse names that this locale has no letters for: they could not be written into any record."""
    encoding = sys.getfilesystemencoding()
    for text in (*words, os.getcwd()):
        if encoding != "utf-8" and any(0xDC80 <= ord(letter) <= 0xDCFF for letter in text):
            raise ConfigurationError("", f"{text!a} has letters that the locale ({encoding}) lacks; set PYTHONUTF8=1.")


_asked_to_end = False


def end_like_ctrl_c() -> None:
    """Let SIGTERM do what Ctrl-C does: temporary folders go, and the last line says what is stored."""

    def end(*_: object) -> None:
        global _asked_to_end
        _asked_to_end = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)


def tell(sentence: str) -> None:
    """One line on standard error."""
    click.echo(f"nystrom: {sentence}", err=True)


def bar(**how: Any) -> Any:
    """A bar on a terminal, shown from its second tenth of a second on; nothing elsewhere."""
    from tqdm import tqdm

    return tqdm(delay=0.1, dynamic_ncols=True, disable=not sys.stderr.isatty(), **how)


def one_sentence(error: BaseException) -> tuple[int, str]:
    """The exit code of an error, and what to say of it."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return USAGE, ""
    if isinstance(error, click.UsageError):
        where = f" (see {error.ctx.command_path} --help)" if error.ctx is not None else ""
        return USAGE, f"{error.format_message().rstrip('.')}{where}."
    if isinstance(error, click.ClickException):
        return error.exit_code, error.format_message()
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return ENDED if _asked_to_end else STOPPED, str(error) or "Stopped; nothing was stored."
    if isinstance(error, BrokenPipeError):
        # Nobody reads on, and the interpreter must not complain about that when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED, ""
    text = " ".join(str(error).split())
    if type(error).__module__ == "builtins" and isinstance(error, OSError) and error.strerror:
        text = f"{f'{error.filename}: ' if error.filename else ''}{error.strerror}."
    if isinstance(error, ConfigurationError):
        return USAGE, text
    if isinstance(error, CompanionError | OSError) or _ours(error):
        return FAILED, text
    if isinstance(error, ModuleNotFoundError):
        return FAILED, f"{error.name} is not installed; make setup installs everything the companion needs."
    if isinstance(error, ImportError):
        return FAILED, text
    return FAILED, f"{type(error).__name__}: {text or 'no reason given'} (--debug shows where it came from)."


def _ours(error: BaseException) -> bool:
    """The library says what it refuses by ValueError and by errors of its own."""
    return isinstance(error, ValueError) or type(error).__module__.startswith(("nystrom_lib.", "companion."))


# -- tables ----------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns under each other; on a terminal the last one is wrapped, elsewhere a row is a line.

    Parameters
    ----------
    head : sequence of str
        The names of the columns.
    rows : iterable of sequence of str
        What is in them.
    right : sequence of int
        The columns to set flush right.
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    rule = ["─" * len(name) for name in head]
    return "\n".join(_line(line, widths, right) for line in [lines[0], rule, *lines[1:]])


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if column in right else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    before = "  ".join(padded[:-1]) + "  " if len(padded) > 1 else ""
    room = shutil.get_terminal_size().columns - len(before) if sys.stdout.isatty() else 0
    if room < 20 or len(padded[-1].rstrip()) <= room:
        return (before + padded[-1]).rstrip()
    indent = " " * len(before)
    return "\n".join(textwrap.wrap(cells[-1], room + len(before), initial_indent=before, subsequent_indent=indent))
