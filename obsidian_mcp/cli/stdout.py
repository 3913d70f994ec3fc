"""Standard output: bytes as they are, text as UTF-8 (CLI-03); and what is asked on a terminal."""

from __future__ import annotations

import sys

from obsidian_mcp.errors import StorageFailed


def write_bytes(data: bytes) -> None:
    """Raises: StorageFailed where the disk is full, BrokenPipeError where the reader has seen
    enough."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stdout = None  # nothing is left to flush at exit
        raise StorageFailed(f"The output could not be written: {error.strerror}.") from error


def write(text: str, remarks: str = "", *, may_page: bool = True) -> None:
    """Write an answer as UTF-8 with its own line ends, whatever the system's; remarks about it go
    to standard error.

    On a terminal an answer that is longer than the screen goes through the pager, where one may be
    used (CLI-27).
    """
    if text:
        try:
            data = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # half of a character, as "\ud83d" in YAML is one
            from obsidian_mcp.core.text.text import to_printable

            data = to_printable(text).encode()
        is_long = may_page and sys.stdout.isatty() and _is_longer_than_screen(text)
        if not (is_long and _show_paged(data)):
            write_bytes(data)
    if remarks:
        print(remarks, end="", file=sys.stderr, flush=True)


def _is_longer_than_screen(text: str) -> bool:
    """Return whether a text takes more lines than the terminal has above the next prompt."""
    import shutil

    size = shutil.get_terminal_size()
    room = size.lines - 1
    if text.count("\n") > room:
        return True
    widths = map(len, text.splitlines())
    return sum(max(1, -(-width // max(size.columns, 1))) for width in widths) > room


def _show_paged(data: bytes) -> bool:
    """Show an answer in the pager; return False where there is none."""
    from .pager import show_in_pager

    sys.stdout.flush()
    return show_in_pager(data)


def write_json(data: object) -> None:
    """Write data as JSON that people can read."""
    import json

    write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def write_answer(data: object, text: str, remarks: str = "", *, as_json: bool) -> None:
    """Write an answer as JSON, or as text with remarks about it."""
    if as_json:
        write_json(data)
    else:
        write(text, remarks)


def has_watcher() -> bool:
    """Return whether a person is at the terminal, who can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask(question: str) -> str:
    """Return what a person types behind a question on standard error. Raises: KeyboardInterrupt at
    the end of input."""
    print(question, end=" ", file=sys.stderr, flush=True)
    typed = sys.stdin.readline()
    if not typed:
        raise KeyboardInterrupt
    return typed.strip()
