"""The command that starts this very program, in absolute paths, for a client that will run it later (INST-05)."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from itertools import pairwise
from pathlib import Path, PurePath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from obsidian_mcp import DISTRIBUTION, __version__

NAME = "obsidian-mcp"
"""The command."""

_UVX = re.compile(r"[/\\](archive|environments|builds)-v\d+[/\\]")
_PIPX_RUN = re.compile(r"[/\\](pipx[/\\]\.cache|\.cache[/\\]pipx|pipx[/\\]Cache)[/\\]")


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
    def here(cls, environ: Mapping[str, str]) -> Running:
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


def command_line(running: Running, is_program: Callable[[str], bool] = os.path.isfile) -> tuple[str, ...]:
    """Return the command and its first arguments. An environment of uvx or `pipx run` is swept away some day: there it
    is uvx or pipx again, with the origin pinned, so that no other package of the name is run."""
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
    """Whether a command starts this program, however installed; `uvx obsidian-mcp` without an origin is another one."""
    stem = PurePath(command.replace("\\", "/")).name.lower().removesuffix(".exe")
    if stem in (NAME, DISTRIBUTION):
        return True
    if stem in ("uv", "uvx", "pipx"):
        named = any(re.split("[@=\\[]", argument)[0] == DISTRIBUTION for argument in arguments)
        return named or (NAME in arguments and not {"--from", "--spec"}.isdisjoint(arguments))
    return any(pair == ("-m", "obsidian_mcp") for pair in pairwise(arguments))


def _origin() -> str:
    """Return the origin of the installed distribution (PEP 610), or `name==version` if it came from an index."""
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
