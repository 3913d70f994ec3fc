"""Put this program on PATH under the name `obsidian`, where the app's own command is absent (INST-10, INST-11)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from obsidian_mcp.adapters.place import patiently
from obsidian_mcp.errors import ClientConfigRefused, InvalidArguments

from .known import KnownVault
from .launcher import NAME, Running, command_line
from .system import System

NAME_OF_LINK = "obsidian"


def install_command(system: System, running: Running, known: Sequence[KnownVault], *, dry_run: bool = False) -> Path:
    """Link this program as `obsidian` in the user's folder of programs; return the link. `known`: the app's vaults
    here. Raises: ClientConfigRefused where another `obsidian` is here, InvalidArguments."""
    line = command_line(running)
    if len(line) > 1:
        raise InvalidArguments(
            f"{' '.join(line)!r} cannot be linked. Install the program first, for example with uv tool install."
        )
    link = link_path(system, running)
    if is_our_link(link):
        return link
    other = running.find(NAME_OF_LINK)
    if other is None and (link.exists() or link.is_symlink()):
        other = str(link)
    if other is not None and not is_our_link(Path(other)):
        raise ClientConfigRefused(f"There is another obsidian command: {other}. It was left as it is.", path=other)
    if known:
        raise ClientConfigRefused(
            f"The Obsidian app is registered on this computer (it knows the vault {known[0].path}) and brings its own "
            "obsidian command. Nothing was linked; use obsidian-mcp obsidian.",
            path=str(known[0].path),
        )
    if not dry_run:
        link.parent.mkdir(parents=True, exist_ok=True)
        if system.platform == "win32":
            shutil.copy2(line[0], link)
        else:
            link.symlink_to(line[0])
    return link


def uninstall_command(system: System, running: Running, *, dry_run: bool = False) -> Path | None:
    """Remove the link and return it, None where there is none. Raises: ClientConfigRefused for another program."""
    link = link_path(system, running)
    if not (link.exists() or link.is_symlink()):
        return None
    if not is_our_link(link):
        raise ClientConfigRefused(f"{link} is not a link of this program. It was left as it is.", path=str(link))
    if not dry_run:
        try:
            patiently(link.unlink)
        except OSError as error:
            raise ClientConfigRefused(
                f"{link} cannot be removed: {error.strerror}. End the programs that run it, then try again.",
                path=str(link),
            ) from error
    return link


def link_path(system: System, running: Running) -> Path:
    """Where the link is: `~/.local/bin`, on Windows the folder of console scripts."""
    if system.platform == "win32":
        return Path(running.scripts) / f"{NAME_OF_LINK}.exe"
    return system.home / ".local/bin" / NAME_OF_LINK


def is_our_link(path: Path) -> bool:
    """Whether a file is this program under another name: a link to it, or on Windows a copy of it."""
    resolved = Path(os.path.realpath(path))
    if resolved.stem.lower() == NAME:
        return path.exists() or path.is_symlink()
    beside = path.with_name(f"{NAME}.exe")
    try:
        return beside.is_file() and path.suffix == ".exe" and path.read_bytes() == beside.read_bytes()
    except OSError:
        return False
