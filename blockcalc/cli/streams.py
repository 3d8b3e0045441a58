"""Standard output and standard error, whatever becomes of them: closed, full, or in another encoding."""

from __future__ import annotations

import os
import sys

from blockcalc.errors import printable


def say(message: str) -> None:
    """One line on standard error, or nowhere when nobody listens there: the exit code still tells."""
    if sys.stderr is None:
        return
    try:
        print(f"blockcalc: {printable(' '.join(message.split()))}", file=sys.stderr, flush=True)
    except OSError:
        _discard(2)


def failed(message: str, code: int) -> int:
    """Say what went wrong, and return the exit code."""
    say(message)
    return flushed(code)


def write_utf8() -> None:
    """The same bytes whatever the locale; names that are no text are escaped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def flushed(code: int) -> int:
    """The exit code, once standard output is written out."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return closed(code)
    except OSError as error:
        _discard(1)
        say(f"standard output: {error.strerror}")
        return code or 3
    return code


def closed(code: int) -> int:
    """Whoever reads has read enough: no error, and nothing left for the interpreter to flush into the pipe."""
    _discard(1)
    return code


def _discard(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
