"""Which model embeds notes: what `obsidian-mcp semantic setup` wrote (specs/semantic.md,
SEM-01)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from obsidian_mcp.errors import InvalidArguments

PIECE_BYTES = 1_000
"""Most of one piece of a note: models read 256 tokens, and a token is four letters or one and a
half kanji."""


@dataclass(frozen=True, slots=True)
class EmbeddingChoice:
    """A local model, or an endpoint that the user named and agreed to."""

    folder: str = ""
    """With the files of a local model; empty for an endpoint."""
    url: str = ""
    """Base URL of an OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1."""
    model: str = ""
    """Its name: of the download, or as the endpoint knows it."""

    @property
    def fingerprint(self) -> str:
        """Vectors of different models, or of notes that were cut otherwise, are not compared."""
        return hashlib.blake2b(f"{self.text()}{PIECE_BYTES}".encode(), digest_size=6).hexdigest()

    def text(self) -> str:
        return (
            json.dumps({name: value for name, value in asdict(self).items() if value}, indent=1)
            + "\n"
        )


def parse(text: bytes | str) -> EmbeddingChoice:
    """Raises: InvalidArguments."""
    try:
        choice = EmbeddingChoice(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise InvalidArguments(
            "The settings of semantic search cannot be read. Run `obsidian-mcp semantic setup` "
            "again."
        ) from error
    return choice
