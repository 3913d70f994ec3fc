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


def write(text: str, remarks: str = "") -> None:
    """Write an answer as UTF-8 with its own line ends, whatever the system's; remarks about it go
    to standard error."""
    if text:
        try:
            data = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # half of a character, as "\ud83d" in YAML is one
            from obsidian_mcp.core.text.text import to_printable

            data = to_printable(text).encode()
        write_bytes(data)
    if remarks:
        print(remarks, end="", file=sys.stderr, flush=True)


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


def ask(question: str) -> str:
    """Return what a person types behind a question on standard error. Raises: KeyboardInterrupt at
    the end of input."""
    print(question, end=" ", file=sys.stderr, flush=True)
    typed = sys.stdin.readline()
    if not typed:
        raise KeyboardInterrupt
    return typed.strip()
