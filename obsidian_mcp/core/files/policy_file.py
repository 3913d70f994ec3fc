"""Reads the file in which the user writes down what is allowed (specs/policy.md).

Settings at the top level hold for every vault, those of `[vaults."name or folder"]` win for one. A
mistake anywhere is reported with its line and key and allows nothing until it is corrected
(POL-05): a rule that was meant and is not understood must not be taken for none. What the tables
`[keys.…]` mean is known to who asks for keys (`serve/http/access/keys.py`); here they are only
taken apart as those of vaults are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from obsidian_mcp.core.text.vault_path import VaultPath, name_key, parse_folder
from obsidian_mcp.errors import AppError, PolicyInvalid

from .policy import CONFIRMABLE, Globs, Policy

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)?\s*\Z", re.IGNORECASE)
_UNITS = {"b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}

POLICY_SETTINGS = (
    "read_only, scope, hidden, read, write, largest_write, permanent_delete, confirm, "
    "confirm_after_hidden_text, rules"
)
"""What any table may set, for the error about what it may not."""
_TOP_LEVEL = f"{POLICY_SETTINGS}, and tables of vaults and keys"


class PolicyFile:
    """The text of a policy file, taken apart; an empty one allows everything."""

    def __init__(self, text: str) -> None:
        """Raises: PolicyInvalid for a text that is no TOML."""
        self._text = text
        settings = _read_toml(text)
        self.keys: Any = settings.pop("keys", {})
        """The tables of API keys by name, not checked yet."""
        self._vaults = settings.pop("vaults", {})
        self._common = settings

    def policy(self, vault: str, folder: str) -> Policy:
        """Return what the file allows in the vault of this name at this folder.

        Raises: PolicyInvalid, also for a mistake in the table of another vault.
        """
        settings = self._settings(self._common, _TOP_LEVEL)
        settings["common_scopes"] = settings.get("scopes", ())
        for named, table in self.table("vaults", self._vaults).items():
            own = self._settings(self.table(named, table), _TOP_LEVEL)
            if names_vault(named, vault, folder):
                settings |= own | ({"common_scopes": ()} if "scopes" in own else {})
        return Policy(**settings)

    def limits(self, table: Mapping[str, Any], known: str) -> Policy:
        """Return the policy that a table with settings of every vault makes; `known` lists its
        settings for the error about another one. Raises: PolicyInvalid."""
        settings = self._settings(table, known)
        return Policy(**settings, common_scopes=settings.get("scopes", ()))

    def unmatched_vaults(self, vaults: Iterable[tuple[str, str]]) -> list[str]:
        """Return the tables `[vaults.…]` that name none of the vaults, given by name and folder.

        Raises: PolicyInvalid.
        """
        served = list(vaults)
        self.policy("", "")  # for its mistakes
        tables = self.table("vaults", self._vaults)
        return [
            named for named in tables if not any(names_vault(named, *vault) for vault in served)
        ]

    def table(self, key: str, value: Any) -> Mapping[str, Any]:
        """Return a value that must be a table. Raises: PolicyInvalid."""
        if not isinstance(value, Mapping):
            raise self.mistake(
                key, 'must be a table of settings, such as [vaults."Notes"] or [keys.phone]'
            )
        return value

    def texts(self, key: str, value: Any) -> Sequence[str]:
        """Return a value that must be a list of texts. Raises: PolicyInvalid."""
        if not isinstance(value, list) or not all(
            isinstance(item, str) and item.strip() for item in value
        ):
            raise self.mistake(
                key, 'must be a list of patterns such as ["Private/", "*.secret.md"]'
            )
        return value

    def mistake(self, key: str, problem: str) -> PolicyInvalid:
        """Return the error about a key of the file, with the number of its line; 0 where it is not
        found."""
        place = re.compile(rf"""^\s*(\[.*)?["']?{re.escape(key)}["']?""", re.MULTILINE).search(
            self._text
        )
        line = 0
        if place:
            before_key = place.start() + len(place.group()) - len(place.group().lstrip())
            line = self._text.count("\n", 0, before_key) + 1
        return PolicyInvalid(f"The policy file, line {line}: {key} {problem}.", key=key, line=line)

    def _settings(self, table: Mapping[str, Any], known: str) -> dict[str, Any]:
        """Return the fields of a Policy that a table sets. Raises: PolicyInvalid."""
        settings: dict[str, Any] = {}
        for key, value in table.items():
            match key:
                case "read_only" | "permanent_delete" | "confirm_after_hidden_text" | "rules":
                    if not isinstance(value, bool):
                        raise self.mistake(key, "must be true or false")
                    settings[key] = value
                case "hidden" | "read" | "write":
                    patterns = self.texts(key, value)
                    settings[key] = (Globs(patterns),) if patterns or key != "hidden" else ()
                case "scope":
                    settings["scopes"] = self._scopes(value)
                case "largest_write":
                    settings[key] = self._size(value)
                case "confirm":
                    settings[key] = self._kinds_of_change(value)
                case _:
                    raise self.mistake(key, f"is not a setting; there are {known}")
        return settings

    def _scopes(self, value: Any) -> tuple[VaultPath, ...]:
        try:
            folder = parse_folder(value) if isinstance(value, str) else None
        except AppError:
            folder = None
        if folder is None:
            raise self.mistake("scope", 'must be a folder of the vault such as "Projects/Alpha"')
        return (folder,)

    def _size(self, value: Any) -> int:
        """Return a number of bytes."""
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        size = _SIZE.match(value) if isinstance(value, str) else None
        if size is None:
            raise self.mistake(
                "largest_write", 'must be a size such as "200 KB" or a number of bytes'
            )
        return int(float(size[1]) * _UNITS[(size[2] or "b").lower()])

    def _kinds_of_change(self, value: Any) -> frozenset[str]:
        kinds = self.texts("confirm", value)
        if unknown := [kind for kind in kinds if kind not in CONFIRMABLE]:
            raise self.mistake(
                "confirm", f"knows no {unknown[0]!r}; it may name {', '.join(CONFIRMABLE)}"
            )
        return frozenset(kinds)


def names_vault(named: str, vault: str, folder: str) -> bool:
    """Return whether a name in the file, compared as the app compares names, is that of a vault or
    of its folder."""
    return name_key(named) in (name_key(vault), name_key(folder))


def _read_toml(text: str) -> dict[str, Any]:
    if not text:
        return {}
    import tomllib  # most users have no policy

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyInvalid(f"The policy file is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise PolicyInvalid(
            "The policy file is nested too deeply. Remove brackets from it."
        ) from error
