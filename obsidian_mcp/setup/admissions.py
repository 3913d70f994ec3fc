"""Who may come in over HTTP: keys and the programs that signed in, in one list (specs/remote.md
KEYS-…)."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from obsidian_mcp import compose, policies
from obsidian_mcp.config import Config
from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.grants.grant import Grant
from obsidian_mcp.core.grants.key_use import KeyUse
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.access.keys import ApiKey

from .api_keys import remove_key

KEY: Final = "key"
"""How somebody comes in who did not sign in."""
EXPIRED: Final = "expired"
"""In place of a time that is past."""


@dataclass(frozen=True, kw_only=True)
class Admission:
    """A key or a grant in words; never a key, a token or a hash of one."""

    name: str
    way: str
    """`key`, or where the browser went when a person allowed the program to come in."""
    app: str
    """What the program that used it last calls itself, or the one that signed in."""
    vaults: str
    folder: str
    rights: str
    tools: str
    limits: str
    """Other rules that narrow it."""
    since: str
    """When a program signed in; empty for a key, which the policy file keeps without a date."""
    used: str
    ends: str
    """When it ends by itself, `expired`, or empty."""


def list_admissions(config: Config) -> list[Admission]:
    """Return the keys in the order of the file, then the programs that signed in, those used last
    first. Raises: PolicyInvalid, StorageFailed."""
    with closing(compose.grant_store(config)) as store:
        uses, grants = store.key_uses(), store.grants()
    keys = policies.api_keys(config)
    return [
        *(_describe_key(key, uses.get(key.name)) for key in keys),
        *(_describe_grant(grant) for grant in grants),
    ]


def end_admission(config: Config, name: str) -> str:
    """End the key or grant with a name, and return what was ended, in words. Raises:
    InvalidArguments with those that there are, PolicyInvalid, StorageFailed."""
    keys = [key.name for key in policies.api_keys(config)]
    with closing(compose.grant_store(config)) as store:
        grants = {grant.name: grant for grant in store.grants()}
        if name in keys:
            return f"the key {name} from {remove_key(config, name)}"
        if name in grants:
            store.end_grant(grants[name].id)
            return f"{name}, with which {grants[name].app or 'a program'} had signed in"
    raise InvalidArguments(
        f"There is no key or program {name!r}; there are: {', '.join([*keys, *grants]) or 'none'}."
    )


def _describe_key(key: ApiKey, use: KeyUse | None = None) -> Admission:
    """Return what a key opens, and when it was used last."""
    limits, policy = key.limits, key.limits.policy
    rules = {
        "hidden files": bool(policy.hidden),
        "only some files to read": bool(policy.read),
        "only some files to write": bool(policy.write),
        "size of writes": policy.largest_write is not None,
        "no deleting for good": not policy.permanent_delete,
        "confirmation": policy.asks,
    }
    return Admission(
        name=key.name,
        way=KEY,
        app=use.app if use else "",
        vaults=", ".join(limits.vaults) or "all",
        folder=", ".join(policy.scopes) or "all",
        rights=_rights(is_read_only=policy.read_only),
        tools=limits.tools or "all",
        limits=", ".join(rule for rule, holds in rules.items() if holds) or "none",
        since="",
        used=_time(use.used) if use else "never",
        ends=_end(key.expires),
    )


def _describe_grant(grant: Grant) -> Admission:
    return Admission(
        name=grant.name,
        way=grant.host,
        app=grant.app,
        vaults=Path(grant.vault).name if grant.vault else "all",
        folder=grant.folder or "all",
        rights=_rights(is_read_only=grant.is_read_only),
        tools="all",
        limits="none",
        since=_time(grant.created),
        used=_time(grant.used) if grant.used > grant.created else "never",
        ends=_end(grant.expires),
    )


def _rights(*, is_read_only: bool) -> str:
    return "read only" if is_read_only else "read and write"


def _time(seconds: float) -> str:
    """Return a time to the minute, on this computer's clock."""
    return clock.to_local_time(int(seconds * 1_000_000)).strftime("%Y-%m-%d %H:%M")


def _end(seconds: float) -> str:
    if not seconds:
        return ""
    return EXPIRED if seconds <= time.time() else _time(seconds)
