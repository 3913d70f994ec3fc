"""What a person should know of an entry that was written: a folder that may be no vault, a vault
that it replaces, another list of the same program (specs/install.md INST-16 to INST-18)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from obsidian_mcp.errors import ClientConfigRefused

from . import entries
from .clients import CLIENTS
from .entries import Broken
from .install import ConfigChange, command_of, list_configured
from .system import System

SETTINGS: Final = ".obsidian"
"""Folder that the app makes in every vault."""
MOST_FILES: Final = 5_000
"""Files and folders that are looked at to find a note."""
_OTHER_LIST: Final = {"claude-desktop": "claude-code", "claude-code": "claude-desktop"}
_PLACE: Final = {"claude-desktop": "chat", "claude-code": "Code tab"}
"""The part of Claude Desktop that reads each list."""


def list_remarks(change: ConfigChange, system: System) -> list[str]:
    """Return sentences about a change that was made or would be; none about a removal."""
    if change.action in ("removed", "absent"):
        return []
    folders = vaults_of(change.command)
    doubts = [doubt for folder in folders if (doubt := doubt_of(Path(folder), system.home))]
    return [*doubts, *_replaced_vaults(change, folders), *_other_list(change, system, folders)]


def doubt_of(folder: Path, home: Path) -> str:
    """Return why a folder is perhaps not the vault that was meant; empty where it looks like one.

    A folder of notes without settings of the app is a vault: many people never open it there.
    """
    if folder == Path(folder.anchor):
        return f"'{folder}' is the whole disk: the assistant sees every note on it."
    if folder == home:
        return f"'{folder}' is your home folder: the assistant sees every note in it."
    if (folder / SETTINGS).is_dir():
        return ""
    if (around := _vault_around(folder)) is not None:
        outside = "links to its other notes lead nowhere"
        return f"'{folder}' is a folder of the vault '{around}': {outside}."
    inner = _vaults_inside(folder)
    if len(inner) == 1:
        return f"'{folder}' is no vault, but holds one: was '{inner[0]}' meant?"
    if not _has_note(folder):
        return f"'{folder}' holds no {SETTINGS} and no note: is it the right folder?"
    return ""


def vaults_of(command: Sequence[str]) -> list[str]:
    """Return the vaults that a command line names."""
    return [value for option, value in pairwise(command) if option in ("--vault", "-V")]


def _vault_around(folder: Path) -> Path | None:
    return next((parent for parent in folder.parents if (parent / SETTINGS).is_dir()), None)


def _vaults_inside(folder: Path) -> list[Path]:
    """Return the vaults directly below a folder."""
    try:
        return sorted(settings.parent for settings in folder.glob(f"*/{SETTINGS}"))
    except OSError:
        return []


def _has_note(folder: Path) -> bool:
    """Whether a note lies among the first files below a folder; of very many it is assumed."""
    count = 0
    for _, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if any(name.lower().endswith(".md") for name in names):
            return True
        count += len(folders) + len(names)
        if count > MOST_FILES:
            return True
    return False


def _replaced_vaults(change: ConfigChange, folders: Sequence[str]) -> Iterator[str]:
    """Name the vaults that the entry had before and has no more."""
    try:
        previous = entries.servers(change.client, change.before).get(change.name)
    except Broken:  # the file was checked before it was changed
        return
    gone = [named for named in vaults_of(command_of(previous or {})) if named not in folders]
    if gone:
        listed = ", ".join(f"'{named}'" for named in gone)
        yield (
            f"it replaces the vault {listed}. To have both, name both, or give this one another "
            "name with --name."
        )


def _other_list(change: ConfigChange, system: System, folders: Sequence[str]) -> Iterator[str]:
    """Say which of Claude Desktop's two lists this is, and how to write the other one."""
    client = change.client
    other = CLIENTS.get(_OTHER_LIST.get(client.id, ""))
    if other is None or not CLIENTS["claude-desktop"].is_present(system):
        return
    try:
        if list_configured(other, system):
            return
    except ClientConfigRefused:  # said when that one is installed
        pass
    vaults = "".join(f' --vault "{folder}"' for folder in folders)
    yield (
        f"this is the list of Claude Desktop's {_PLACE[client.id]}; its {_PLACE[other.id]} has one "
        f"of its own: obsidian-mcp install {other.id}{vaults}"
    )
