"""A report -> standard output or a file, its warnings -> standard error, its exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import typer

from blockcalc.cli.streams import closed, say
from blockcalc.errors import UsageError

if TYPE_CHECKING:
    from blockcalc.render.page import Page
    from blockcalc.views.report import Report


class Output(NamedTuple):
    """What the options of the panel "Output" say."""

    format: str = "text"
    file: str | None = None
    formulas: bool = True
    strict: bool = False


def emit(report: Report, output: Output) -> None:
    """Write a report as the options say.

    Raises typer.Exit when the exit code isn't 0, UsageError for a file that can't be written.
    """
    from blockcalc.render.formats import FORMATS
    from blockcalc.render.page import FILE

    to_file = output.file is not None and output.file != "-"
    text = FORMATS[output.format](report, FILE if to_file else _page(), output.formulas)
    if to_file:
        write_file(output.file or "", text)
    elif sys.stdout is not None:
        _print(text)
    for warning in report.warnings:
        say(f"warning: {warning}")
    code = report.exit_code or int(output.strict and bool(report.warnings))
    if code:
        raise typer.Exit(code)


def _print(text: str) -> None:
    """Write to standard output. Whoever closed it has read enough, and still learns the exit code."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        closed(0)


def _page() -> Page:
    """Plain, unless standard output is a terminal."""
    from blockcalc.render.page import FILE, Page

    if sys.stdout is None or not sys.stdout.isatty():
        return FILE
    import shutil

    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Page(width=shutil.get_terminal_size().columns, bold=not plain)


def write_file(path: str, text: str) -> None:
    """Put `text` into a file, all of it or nothing.

    It is written beside the file and moved over it. What is no ordinary file (a device, a pipe) is written
    to as it is. Raises UsageError naming the path.
    """
    data = text.encode("utf-8", "backslashreplace")
    if not path:
        raise UsageError('-o "": name a file')
    try:
        target = os.path.realpath(path)
        if os.path.isdir(target):
            raise IsADirectoryError(0, "is a folder; name a file in it")
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as stream:
                stream.write(data)
        else:
            _replace(target, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"-o {path}: {reason}") from None


def _replace(target: str, data: bytes) -> None:
    import tempfile

    descriptor, beside = tempfile.mkstemp(prefix=".blockcalc-", suffix=".tmp", dir=os.path.dirname(target))
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
        os.chmod(beside, os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~_mask())
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def _mask() -> int:
    """The permissions that new files don't get; the system tells it only while it is set."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
