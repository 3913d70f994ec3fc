"""API keys of the HTTP server: made and removed in the policy file, in which everything else stays
(KEY rules)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from obsidian_mcp import vault_builder
from obsidian_mcp.config import Config, expand_home
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.core.text.vault_path import parse_folder
from obsidian_mcp.errors import InvalidArguments, VaultNotFound
from obsidian_mcp.serve.http.access.keys import ApiKey, digest, is_key_name, read_keys

from . import entries, files

KEY_BYTES = 32


def add(
    config: Config, name: str, *, vaults: Sequence[str], scope: str, read_only: bool, tools: str
) -> tuple[Path, str]:
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
    opened = [_vault(config, vault) for vault in vaults]
    if tools:
        from obsidian_mcp.tools.offer import narrow

        narrow("all", tools)  # refuses unknown ones
    key = f"omk_{secrets.token_urlsafe(KEY_BYTES)}"
    folder = parse_folder(scope)  # None for the whole vault
    limits = {
        "vaults": opened,
        "scope": folder and str(folder),
        "read_only": read_only,
        "tools": tools,
    }
    table = {
        "sha256": digest(key).hex(),
        **{name: limit for name, limit in limits.items() if limit},
    }
    try:
        after = entries.put_table(text, "keys", name, table)
    except ValueError:
        raise InvalidArguments(
            f"'{file}' is in a form to which this program cannot add a key without changing what "
            "else it says. Give "
            f"vaults and keys tables of their own, such as [keys.{name}], behind all other "
            "settings, and try again."
        ) from None
    files.replace(content, after)
    return file, key


def remove(config: Config, name: str) -> Path:
    """Take a key out of the policy file, and return the file.

    Raises: InvalidArguments, PolicyInvalid.
    """
    file, content = config.policy_file, files.read_config_file(config.policy_file)
    text = content.text
    known = [key.name for key in read_keys(PolicyFile(text))]
    if name not in known:
        raise InvalidArguments(
            f"There is no API key {name!r}; there are: {', '.join(known) or 'none'}."
        )
    try:
        after = entries.without_table(text, "keys", name)
    except ValueError:
        raise InvalidArguments(
            f"'{file}' holds {name!r} in a form that this program does not change. Remove it in "
            "an editor."
        ) from None
    files.replace(content, after)
    return file


def describe(key: ApiKey) -> dict[str, str]:
    """Return what a key opens, in words; never the key or its hash."""
    limits, policy = key.limits, key.limits.policy
    rules = {
        "read only": policy.read_only,
        "hidden files": bool(policy.hidden),
        "only some files to read": bool(policy.read),
        "only some files to write": bool(policy.write),
        "size of writes": policy.largest_write is not None,
        "no deleting for good": not policy.permanent_delete,
        "confirmation": policy.asks,
    }
    return {
        "name": key.name,
        "vaults": ", ".join(limits.vaults) or "all",
        "folder": ", ".join(policy.scopes) or "all",
        "tools": limits.tools or "all",
        "limits": ", ".join(rule for rule, holds in rules.items() if holds) or "none",
    }


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
