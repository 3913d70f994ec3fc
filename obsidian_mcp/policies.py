"""What a process and its clients are allowed: the policy file, and the limits of keys
(specs/policy.md)."""

from __future__ import annotations

import time

from obsidian_mcp import TYPE_CHECKING

from .config import Config
from .errors import InvalidArguments, PolicyInvalid

if TYPE_CHECKING:
    from pathlib import Path

    from obsidian_mcp.core.files import policy
    from obsidian_mcp.core.files.policy_file import PolicyFile
    from obsidian_mcp.serve.http.access.keys import ApiKey
    from obsidian_mcp.serve.http.access.principal import Limits, Principal


def api_keys(config: Config) -> tuple[ApiKey, ...]:
    """Return the API keys of the policy file. Raises: PolicyInvalid, InvalidArguments for unknown
    tools of one."""
    from .serve.http.access.keys import read_keys

    keys = read_keys(policy_file(config))
    for key in keys:
        _narrow_tools(config, key.limits)
    return keys


def limit_to_key(config: Config) -> Config:
    """Return the configuration of a process as its API key limits it. Raises: PolicyInvalid,
    InvalidArguments."""
    principal = principal_of(config)
    return config if principal is None else limit_config(config, principal.limits)


def principal_of(config: Config) -> Principal | None:
    """Return to whose limits a process is held: the bearer of the API key that `--key` names; None
    without one. Raises: PolicyInvalid, InvalidArguments for an unknown one."""
    if not config.key:
        return None
    keys = {key.name: key for key in api_keys(config)}
    if config.key not in keys:
        known = f"there are {', '.join(keys)}" if keys else "it has none"
        raise InvalidArguments(
            f"There is no API key {config.key!r} in '{config.policy_file}'; {known}."
        )
    key = keys[config.key]
    if key.is_over(time.time()):
        raise InvalidArguments(
            f"The API key {config.key!r} has expired. Make another one: obsidian-mcp keys add NAME."
        )
    return key.principal


def limit_config(config: Config, limits: Limits) -> Config:
    """Return the configuration of a process that is held to limits. Raises: InvalidArguments."""
    config = config.replace(tools=_narrow_tools(config, limits))
    # nothing could hold JavaScript in the app to them, and import folders are outside
    if limits.narrows_vaults:
        read_only = config.read_only or limits.policy.read_only
        config = config.replace(
            read_only=read_only, named_imports=(), app=config.app.replace(allow_eval=False)
        )
    return config


def _narrow_tools(config: Config, limits: Limits) -> str:
    """Return the profile of the tools that both offer. Raises: InvalidArguments."""
    if not limits.tools:
        return config.tools
    from .tools.offer import narrow  # reads the table of tools, which most commands do without

    return narrow(config.tools, limits.tools)


def policy_text(config: Config) -> str:
    """Return the policy file's text; empty where there is none. Raises: PolicyInvalid where it
    cannot be read."""
    file = config.policy_file
    if not file.exists():
        return ""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise PolicyInvalid(f"The policy file '{file}' cannot be read: {error}.") from error


def policy_file(config: Config) -> PolicyFile:
    """Return what the policy file says. Raises: PolicyInvalid, also for a mistake in a key: a limit
    that is not understood must not be taken for none."""
    from obsidian_mcp.core.files.policy_file import PolicyFile

    file = PolicyFile(policy_text(config))
    if file.keys:
        from .serve.http.access.keys import read_keys

        read_keys(file)
    return file


def policy_stamp(config: Config) -> object:
    """Return what is another value after each change of the policy file; None where there is
    none."""
    try:
        found = config.policy_file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def policy_of(config: Config, folder: Path, principal: Principal | None) -> policy.Policy:
    """Return what is allowed in the vault at a folder: by the file, the configuration, and the
    limits of a principal. Raises: PolicyInvalid; PermissionDenied for a scope that is no path
    inside the vault."""
    from obsidian_mcp.core.files import policy

    # most users have none, and need not import what reads it
    has_file = config.policy_file.exists()
    allowed = policy_file(config).policy(folder.name, str(folder)) if has_file else policy.DEFAULT
    own = policy.process_policy(
        config.scope,
        read_only=config.read_only,
        hidden=config.hidden,
        confirms_deleting=config.confirms_deleting,
    )
    allowed = allowed.narrow_by(own)
    return allowed if principal is None else allowed.narrow_by(principal.limits.policy)
