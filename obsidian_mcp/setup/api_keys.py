"""API keys of the HTTP server: made and removed in the policy file, in which everything else stays
(KEY rules)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from obsidian_mcp import compose, vault_builder
from obsidian_mcp.config import Config, expand_home
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.core.text.vault_path import parse_folder
from obsidian_mcp.errors import InvalidArguments, VaultNotFound
from obsidian_mcp.serve.http.access.keys import digest, is_key_name, read_keys

from . import entries, files

KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class KeyLimits:
    """What a new key may do: the choices of the page on which a person allows a program to come in,
    and the tools."""

    vaults: Sequence[str] = ()
    """Names or folders; empty = all."""
    folder: str = ""
    """Folder outside which nothing exists; empty = the whole vault."""
    read_only: bool = False
    tools: str = ""
    """As in `--tools`; empty = all."""
    days: int = 0
    """For how long it opens; 0 = until it is removed."""


def add_key(config: Config, name: str, limits: KeyLimits) -> tuple[Path, str]:
    """Make a key of this name; return the policy file, which gets its hash, and the key.

    Raises: InvalidArguments for a bad or taken name, a vault that is not served and unknown tools;
    PolicyInvalid.
    """
    if not is_key_name(name):
        raise InvalidArguments(
            f"{name!r} cannot name an API key. Give 1 to 40 letters, digits, - and _."
        )
    file, content = config.policy_file, files.read_config_file(config.policy_file)
    text = content.text
    if name in {key.name for key in read_keys(PolicyFile(text))}:
        raise InvalidArguments(
            f"There is an API key {name!r} already. Remove it first: obsidian-mcp keys remove "
            f"{name}."
        )
    with closing(compose.grant_store(config)) as store:
        names = {grant.name for grant in store.grants()}
    if name in names:
        raise InvalidArguments(
            f"A program that signed in is called {name!r} already: obsidian-mcp keys lists it. "
            "Choose another name."
        )
    settings = _settings(config, limits)
    key = f"omk_{secrets.token_urlsafe(KEY_BYTES)}"
    table = {"sha256": digest(key).hex(), **settings}
    try:
        after = entries.put_table(text, "keys", name, table)
    except ValueError:
        raise InvalidArguments(
            f"'{file}' is in a form to which this program cannot add a key without changing what "
            f"else it says. Give vaults and keys tables of their own, such as [keys.{name}], "
            "behind all other settings, and try again."
        ) from None
    files.replace_config_file(content, after)
    _forget_uses(config, name)
    return file, key


def _forget_uses(config: Config, name: str) -> None:
    """Forget the last use of a key of this name: it was another key's."""
    with closing(compose.grant_store(config)) as store:
        store.forget_key(name)


def _settings(config: Config, limits: KeyLimits) -> dict[str, Any]:
    """Return the settings of a key's table. Raises: InvalidArguments, PermissionDenied for a folder
    that is no path inside a vault."""
    if limits.tools:
        from obsidian_mcp.tools.offer import narrow

        narrow("all", limits.tools)  # refuses unknown ones
    folder = parse_folder(limits.folder)  # None for the whole vault
    expires = None
    if limits.days:
        expires = (datetime.now(UTC) + timedelta(days=limits.days)).replace(microsecond=0)
    settings = {
        "vaults": [_vault(config, vault) for vault in limits.vaults],
        "scope": folder and str(folder),
        "read_only": limits.read_only,
        "tools": limits.tools,
        "expires": expires,
    }
    return {name: value for name, value in settings.items() if value}


def remove_key(config: Config, name: str) -> Path:
    """Take a key that is there out of the policy file, and return the file.

    Raises: InvalidArguments for a form of the file in which it cannot be done, PolicyInvalid.
    """
    file, content = config.policy_file, files.read_config_file(config.policy_file)
    text = content.text
    try:
        after = entries.without_table(text, "keys", name)
    except ValueError:
        raise InvalidArguments(
            f"'{file}' holds {name!r} in a form that this program does not change. Remove it in "
            "an editor."
        ) from None
    files.replace_config_file(content, after)
    _forget_uses(config, name)
    return file


def _vault(config: Config, named: str) -> str:
    """Return a vault as the policy file names it.

    Raises: InvalidArguments for one that is not there.
    """
    served: dict[str, Path] = {}
    with suppress(VaultNotFound):
        served = vault_builder.vault_folders(config)
    if named in served:
        return named
    if (folder := expand_home(named)).is_dir():
        return str(folder.absolute())
    raise InvalidArguments(
        f"There is no vault '{named}'. Give its folder, or one of {', '.join(served) or 'none'}."
    )
