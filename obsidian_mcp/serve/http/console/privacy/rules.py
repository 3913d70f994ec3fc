"""What the part Privacy asks of the computer: the rules of the policy file, and writing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from obsidian_mcp.config import Config
from obsidian_mcp.core.files.policy import Policy

PatternList = Literal["hidden", "read"]
"""Settings of the policy file: what no app sees, and what alone apps see."""


@dataclass(frozen=True, kw_only=True)
class AppSight:
    """One app, or all of them that share their limits, with what it is allowed."""

    name: str
    policy: Policy


@dataclass(frozen=True, kw_only=True)
class ReadingRules:
    """The rules for one vault, read anew from the policy file."""

    file: str
    """The policy file, whether it is there or not."""
    hidden: Sequence[str]
    read: Sequence[str] | None
    """Patterns that are in effect; None where every file may be read."""
    fixed: Sequence[str]
    """Patterns of hidden files that the server was started with: the policy file has them not."""
    apps: Sequence[AppSight]
    """The apps of this computer first, then keys and programs that signed in."""


class PrivacyRules(Protocol):
    """Reads and writes the policy file. `vault` is the name of a vault, empty for the default."""

    def read_rules(self, config: Config, vault: str) -> ReadingRules:
        """Return what holds for a vault now. Raises: PolicyInvalid, StorageFailed."""

    def write_patterns(
        self, config: Config, vault: str, setting: PatternList, patterns: Sequence[str] | None
    ) -> None:
        """Set the patterns of a setting for one vault, None for no such limit; everything else in
        the file stays byte for byte. Raises: InvalidArguments for a file in which that cannot be
        done, PolicyInvalid, ClientConfigRefused."""
