"""The programs that work with the vaults, as the console shows them (specs/console.md UI-70)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from obsidian_mcp.config import Config
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.console.apps.roster import AppCheck, AppEntry

from . import admissions, install
from .client_checks import check_clients, readable_entries, vaults_named
from .system import System

USUAL_NAME = "obsidian"
"""Of an entry, which goes without saying."""


class ThisComputerRoster:
    """The clients that `install` knows, the policy file's keys, and the programs that signed in."""

    def list_entries(self) -> Sequence[AppEntry]:
        """Return the programs that are set up; one whose file cannot be read is shown by the
        check."""
        try:
            system = System.from_this_computer()
        except InvalidArguments:  # an account without a home has none
            return []
        return list(map(_describe_entry, readable_entries(system)))

    def check_entries(self) -> Sequence[AppCheck]:
        """Start each program's entry, and return what is wrong with it. Raises:
        InvalidArguments for an account without a home."""
        return [
            AppCheck(
                title=finding.subject,
                is_problem=finding.status == "problem",
                message=finding.message,
                remedy=finding.remedy,
            )
            for finding in check_clients(System.from_this_computer())
        ]

    def list_admissions(self, config: Config) -> Sequence[Mapping[str, str]]:
        """Return the keys and the programs that signed in. Raises: PolicyInvalid,
        StorageFailed."""
        return [asdict(admission) for admission in admissions.list_admissions(config)]

    def end_admission(self, config: Config, name: str) -> None:
        """End a key or a sign-in. Raises: InvalidArguments, PolicyInvalid, StorageFailed."""
        admissions.end_admission(config, name)


def _describe_entry(server: install.Configured) -> AppEntry:
    name = "" if server.name == USUAL_NAME else f" ({server.name})"
    return AppEntry(
        title=f"{server.client.title}{name}",
        file=str(server.path),
        vaults=[str(folder) for folder in vaults_named(server.command)],
    )
