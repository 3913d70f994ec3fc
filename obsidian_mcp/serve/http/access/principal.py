"""Whose request it is, and what limits that sets (specs/policy.md POL-14)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from obsidian_mcp.core.files.policy import DEFAULT, Policy
from obsidian_mcp.core.files.policy_file import names_vault


@dataclass(frozen=True)
class Limits:
    """What narrows the configuration of the server for one principal; it never widens it."""

    vaults: tuple[str, ...] = ()
    """Names or folders of the vaults that it opens; empty = all."""
    tools: str = ""
    """Tools that it may use, as in `--tools`; empty = all that the server offers."""
    policy: Policy = DEFAULT
    """What is allowed in each of the vaults."""

    def opens(self, vault: str, folder: str) -> bool:
        """Return whether the vault of this name at this folder may be used."""
        return not self.vaults or any(names_vault(named, vault, folder) for named in self.vaults)

    @property
    def narrows_vaults(self) -> bool:
        """Whether less is there than without limits, so that the vaults must be opened once more:
        an index and a list of files are those of one policy."""
        return bool(self.vaults) or self.policy != DEFAULT


UNLIMITED: Final = Limits()


@dataclass(frozen=True)
class Principal:
    """Somebody who may come in.

    Two are equal if nothing tells them apart: a session that one of them began is the other's. A
    principal whose name stays but whose key or limits change is therefore another one, and what
    the former had open ends.
    """

    name: str = ""
    """As the history and `keys` show it; empty for the owner of the server."""
    limits: Limits = UNLIMITED
    credential: bytes = field(default=b"", repr=False)
    """What it is bound to, never a secret: the hash of a key, the id of a grant."""


BRIDGE: Final = Principal(credential=b"--open-bridge")
"""A program of this machine that sends no key where the bridge is open (DOOR-09)."""
VISITOR: Final = Principal(credential=b"open path")
"""Who asks for what everybody is told. It says nothing of the vault."""
OWNER: Final = Principal()
"""Who comes in with a key that has no name, or to a server that asks for none: all that the server
offers."""
