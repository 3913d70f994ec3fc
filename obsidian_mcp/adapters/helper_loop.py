"""The side of a helper process: it answers the program that started it (`helper_process`).

A message is a header, which is JSON, and a body of bytes; in front of them are the lengths of both.
"""

from __future__ import annotations

import json
import os
import queue
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Final

_LENGTHS: Final = struct.Struct(">II")
_STACK_BYTES: Final = 2**18
"""Stack of the thread that receives requests: it is part of the address space, which is limited."""

HelperMessage = tuple[Any, bytes]


def write_message(stream: IO[bytes], header: Any, body: bytes = b"") -> None:
    """Write one message. Raises: OSError where nobody reads it."""
    encoded = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(encoded), len(body)))
    stream.write(encoded)
    stream.write(body)
    stream.flush()


def read_message(stream: IO[bytes]) -> HelperMessage | None:
    """Return the next message; None where the stream ends."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    header_bytes, body_bytes = _LENGTHS.unpack(lengths)
    header, body = stream.read(header_bytes), stream.read(body_bytes)
    if len(header) < header_bytes or len(body) < body_bytes:
        return None
    return json.loads(header), body


def answer_requests(answer: Callable[[Any, bytes], HelperMessage], memory_bytes: int) -> None:
    """Answer the requests on standard input by messages on standard output.

    The process ends at once when standard input does, which is when the program that started it
    ends, however it ends. `memory_bytes` limits the address space where the system does that; the
    program that waits for the answer watches the memory in any case.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    requests: queue.SimpleQueue[HelperMessage] = queue.SimpleQueue()
    source, sink = _take_streams()
    threading.stack_size(_STACK_BYTES)
    threading.Thread(target=_receive, args=(source, requests), daemon=True).start()
    while True:
        write_message(sink, *answer(*requests.get()))


def _take_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return private streams of standard input and output, which become the null device and stderr.

    A library that prints would write into an answer. And on Windows, a library with a C runtime of
    its own, such as pdfium's, asks while it is loaded of which kind standard input is; where that
    is a pipe that another thread reads, the system answers when the next bytes come: never here.
    """
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink


def _receive(source: IO[bytes], requests: queue.SimpleQueue[HelperMessage]) -> None:
    """Receive requests until there are no more, and end the process then."""
    with suppress(OSError, ValueError, MemoryError):
        while (message := read_message(source)) is not None:
            requests.put(message)
    os._exit(0)  # whatever it is doing: nobody waits for it
