"""The command that starts this very program, in absolute paths, for a client that will run it later
(INST-05); and its link on PATH under the name `obsidian`, where the app's own command is absent
(INST-10, INST-11)."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import pairwise
from pathlib import Path, PurePath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from obsidian_mcp import DISTRIBUTION, __version__, computer
from obsidian_mcp.errors import ClientConfigRefused, InvalidArguments

from .system import KnownVault, System

NAME = "obsidian-mcp"
"""The command."""
NAME_OF_LINK = "obsidian"
"""The word that the app's own command has, too."""

_UVX = re.compile(r"[/\\](archive|environments|builds)-v\d+[/\\]")
_PIPX_RUN = re.compile(r"[/\\](pipx[/\\]\.cache|\.cache[/\\]pipx|pipx[/\\]Cache)[/\\]")
"""Folders of environments that uv and pipx make for one run and remove some day."""


@dataclass(frozen=True, slots=True)
class Running:
    """How this process was started, and where its program comes from."""

    argv0: str
    executable: str
    """The Python interpreter, symbolic links not followed: a virtual environment's is one."""
    scripts: str
    """The folder of this environment's console scripts."""
    origin: str
    """The package's origin: `name==version`, a folder, or the address of a repository."""
    find: Callable[[str], str | None]
    """Absolute path of a program on PATH."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Running:
        path = environ.get("PATH")
        if uv := environ.get("UV"):  # set by uv for what it runs, which need not have it on PATH
            path = os.pathsep.join([str(Path(uv).parent), path or os.defpath])
        return cls(
            argv0=sys.argv[0],
            executable=sys.executable,
            scripts=sysconfig.get_path("scripts"),
            origin=_origin(),
            find=lambda name: shutil.which(name, path=path),
        )


def command_line(
    running: Running, is_program: Callable[[str], bool] = os.path.isfile
) -> tuple[str, ...]:
    """Return the command and its first arguments.

    An environment of uvx or `pipx run` is swept away some day, and the entry would lead nowhere
    then. There the command is uvx or pipx again, with the origin pinned, so that no other package
    of the name is run. `is_program`: whether a file can be started.
    """
    if _UVX.search(running.executable):
        if uvx := running.find("uvx"):
            return (uvx, "--from", running.origin, NAME)
        if uv := running.find("uv"):
            return (uv, "tool", "run", "--from", running.origin, NAME)
    if _PIPX_RUN.search(running.executable) and (pipx := running.find("pipx")):
        return (pipx, "run", "--spec", running.origin, NAME)
    started = Path(running.argv0).absolute()
    candidates = [started] if started.stem.lower() in (NAME, DISTRIBUTION) else []
    for folder in (Path(running.scripts), Path(running.executable).parent):
        candidates += [folder / NAME, folder / f"{NAME}.exe"]
    for candidate in candidates:
        if is_program(str(candidate)):
            return (str(candidate),)
    return (running.executable, "-m", "obsidian_mcp")


def is_ours(command: str, arguments: list[str]) -> bool:
    """Return whether a command starts this program, however installed; `uvx obsidian-mcp` without
    an origin is another one."""
    stem = PurePath(command.replace("\\", "/")).name.lower().removesuffix(".exe")
    if stem in (NAME, DISTRIBUTION):
        return True
    if stem in ("uv", "uvx", "pipx"):
        named = any(re.split("[@=\\[]", argument)[0] == DISTRIBUTION for argument in arguments)
        return named or (NAME in arguments and not {"--from", "--spec"}.isdisjoint(arguments))
    return any(pair == ("-m", "obsidian_mcp") for pair in pairwise(arguments))


def _origin() -> str:
    """Return the origin of the installed distribution (PEP 610), or `name==version` if it came from
    an index."""
    try:
        text = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        text = None
    if not text:
        return f"{DISTRIBUTION}=={__version__}"
    direct_url = json.loads(text)
    url = str(direct_url["url"])
    if version_control := direct_url.get("vcs_info"):
        return f"{version_control['vcs']}+{url}@{version_control['commit_id']}"
    if url.startswith("file:"):
        return url2pathname(urlsplit(url).path)
    return url


# The link


def install_command(
    system: System, running: Running, vaults: Sequence[KnownVault], *, dry_run: bool = False
) -> Path:
    """Link this program as `obsidian` in the user's folder of programs; return the link. `vaults`:
    the app's vaults here. Raises: ClientConfigRefused where another `obsidian` is here,
    InvalidArguments."""
    line = command_line(running)
    if len(line) > 1:
        raise InvalidArguments(
            f"'{' '.join(line)}' cannot be linked. Install the program first, for example with "
            "uv tool install."
        )
    link = link_path(system, running)
    if is_our_link(link):
        return link
    first_in_path = running.find(NAME_OF_LINK)
    if first_in_path is None and (link.exists() or link.is_symlink()):
        first_in_path = str(link)
    if first_in_path is not None and not is_our_link(Path(first_in_path)):
        raise ClientConfigRefused(
            f"There is another obsidian command: {first_in_path}. It was left as it is.",
            path=first_in_path,
        )
    if vaults:
        raise ClientConfigRefused(
            "The Obsidian app is registered on this computer (it knows the vault "
            f"{vaults[0].path}) and brings its own obsidian command. Nothing was linked; use "
            "obsidian-mcp obsidian.",
            path=str(vaults[0].path),
        )
    if not dry_run:
        link.parent.mkdir(parents=True, exist_ok=True)
        if system.platform == "win32":
            shutil.copy2(line[0], link)
        else:
            link.symlink_to(line[0])
    return link


def uninstall_command(system: System, running: Running, *, dry_run: bool = False) -> Path | None:
    """Remove the link and return it, None where there is none. Raises: ClientConfigRefused for
    another program."""
    link = link_path(system, running)
    if not (link.exists() or link.is_symlink()):
        return None
    if not is_our_link(link):
        raise ClientConfigRefused(
            f"{link} is not a link of this program. It was left as it is.", path=str(link)
        )
    if not dry_run:
        try:
            computer.remove_file(link)
        except OSError as error:
            raise ClientConfigRefused(
                f"{link} cannot be removed: {error.strerror}. End the programs that run it, then "
                "try again.",
                path=str(link),
            ) from error
    return link


def link_path(system: System, running: Running) -> Path:
    """Return where the link is: `~/.local/bin`, on Windows the folder of console scripts."""
    if system.platform == "win32":
        return Path(running.scripts) / f"{NAME_OF_LINK}.exe"
    return system.home / ".local/bin" / NAME_OF_LINK


def is_our_link(path: Path) -> bool:
    """Return whether a file is this program under another name: a link to it, or on Windows a copy
    of it."""
    resolved = Path(os.path.realpath(path))
    if resolved.stem.lower() == NAME:
        return path.exists() or path.is_symlink()
    beside = path.with_name(f"{NAME}.exe")
    try:
        return (
            beside.is_file() and path.suffix == ".exe" and path.read_bytes() == beside.read_bytes()
        )
    except OSError:
        return False
