"""What the part Apps asks of the computer: who is set up here, who may come in, and ending that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from obsidian_mcp.config import Config


@dataclass(frozen=True, kw_only=True)
class AppEntry:
    """A program of this computer that is set up to start this server."""

    title: str
    """Its name, with that of the entry where it has several."""
    file: str
    """Where that stands; empty for a program without an entry."""
    vaults: Sequence[str]
    """The folders that it is given; empty for those that the app knows."""


@dataclass(frozen=True, kw_only=True)
class AppCheck:
    """What `doctor` says of one program."""

    title: str
    is_problem: bool
    message: str
    remedy: str


class Roster(Protocol):
    """Knows the programs that work with the vaults."""

    def list_entries(self) -> Sequence[AppEntry]:
        """Return the programs of this computer that are set up; nothing is started."""

    def check_entries(self) -> Sequence[AppCheck]:
        """Return what `doctor` finds of them. Each is started as its program would, which takes
        seconds."""

    def list_admissions(self, config: Config) -> Sequence[Mapping[str, str]]:
        """Return the keys and the programs that signed in, in words: `name`, `way` (`key`, or where
        it signed in), `app`, `vaults`, `folder`, `rights`, `tools`, `limits`, `since`, `used`,
        `ends`. Never a key or a token. Raises: PolicyInvalid, StorageFailed."""

    def end_admission(self, config: Config, name: str) -> None:
        """End a key or a sign-in: a running server refuses it from now on. Raises:
        InvalidArguments, PolicyInvalid, StorageFailed."""
