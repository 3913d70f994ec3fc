"""What apps see of a vault: the policy file as the console reads and changes it (UI-50)."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from obsidian_mcp import compose, policies, vault_builder
from obsidian_mcp.config import Config
from obsidian_mcp.core.files.policy import Globs, Policy, process_policy
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.console.privacy.rules import AppSight, PatternList, ReadingRules

from . import files
from .policy_patterns import VAULTS, put_patterns, table_of

THIS_COMPUTER: Final = "apps on this computer"
"""Programs that start this server themselves: the policy file alone limits them."""


class PolicyFileRules:
    """The rules of a configuration's policy file."""

    def read_rules(self, config: Config, vault: str) -> ReadingRules:
        """Return what holds for a vault now. Raises: PolicyInvalid, StorageFailed."""
        folder = _find_folder(vault_builder.vault_folders(config), vault)
        common = policies.policy_file(config).policy(folder.name, str(folder))
        own = process_policy(
            config.scope,
            read_only=config.read_only,
            hidden=config.hidden,
            confirms_deleting=config.confirms_deleting,
        )
        allowed = common.narrow_by(own)
        return ReadingRules(
            file=str(config.policy_file),
            hidden=_patterns(common.hidden),
            read=_patterns(common.read) if common.read else None,
            fixed=config.hidden,
            apps=[
                AppSight(name=THIS_COMPUTER, policy=allowed),
                *_limited_apps(config, allowed, folder),
            ],
        )

    def write_patterns(
        self, config: Config, vault: str, setting: PatternList, patterns: Sequence[str] | None
    ) -> None:
        """Set the patterns of a setting for one vault, None for no such limit.

        They go to where those in effect stand: to the vault's own table, or to the top level where
        this is the only vault that it could mean. Raises: InvalidArguments, PolicyInvalid,
        ClientConfigRefused.
        """
        folders = vault_builder.vault_folders(config)
        folder = _find_folder(folders, vault)
        content = files.read_config_file(config.policy_file)
        # a mistake anywhere is for an editor, and allows nothing until then
        PolicyFile(content.text).policy(folder.name, str(folder))
        settings = tomllib.loads(content.text)
        table = table_of(settings, folder.name, str(folder))
        is_common = setting in settings and (
            table is None or setting not in settings[VAULTS][table]
        )
        if is_common and len(folders) == 1:
            table = None
        else:
            is_unique = sum(other.name == folder.name for other in folders.values()) == 1
            table = table or (folder.name if is_unique else str(folder))
            if patterns is None and setting in settings:  # else the top level would count
                patterns = [] if setting == "hidden" else ["*"]
        try:
            after = put_patterns(content.text, table, setting, patterns)
        except ValueError:
            raise InvalidArguments(
                f"'{config.policy_file}' has {setting!r} in a form that this program cannot change "
                "and leave everything else as it is. Change it in an editor."
            ) from None
        files.replace_config_file(content, after)


def _find_folder(folders: Mapping[str, Path], vault: str) -> Path:
    """Return the folder of a vault, of the default one for ""."""
    return folders[vault] if vault in folders else next(iter(folders.values()))


def _patterns(several: Iterable[Globs]) -> list[str]:
    return [pattern for globs in several for pattern in globs.patterns]


def _limited_apps(config: Config, allowed: Policy, folder: Path) -> Iterator[AppSight]:
    """Yield the keys and the programs that signed in which open a vault, each with its limits."""
    for key in policies.api_keys(config):
        if key.limits.opens(folder.name, str(folder)) and not key.is_over(time.time()):
            yield AppSight(name=key.name, policy=allowed.narrow_by(key.limits.policy))
    with closing(compose.grant_store(config)) as store:
        grants = store.grants()
    for grant in grants:
        if grant.vault in ("", str(folder)):
            scopes = (VaultPath(grant.folder),) if grant.folder else ()
            yield AppSight(name=grant.name, policy=allowed.narrow_by(Policy(scopes=scopes)))
