"""One level of a vault's folders with what of each an app sees (UI-50)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.text.vault_path import name_key

from .rules import AppSight


@dataclass(frozen=True, kw_only=True)
class FolderSight:
    """A folder, or the files beside the folders of a level, with how much of it apps see."""

    path: str
    """From the vault's root; that of the level itself for the files in it."""
    files: int
    """Below it, also in deeper folders."""
    seen: Sequence[int]
    """By app: how many of these it sees."""


def describe_level(
    paths: Iterable[str], level: str, apps: Sequence[AppSight]
) -> tuple[list[FolderSight], FolderSight]:
    """Return the folders in a folder of the vault, by name, and the files that lie in it itself.

    `paths`: of all files of the vault, hidden ones too; `level` is "" for the vault's root.
    """
    head = f"{level}/" if level else ""
    members: dict[str, list[str]] = {}
    direct: list[str] = []
    for path in paths:
        if path.startswith(head):
            name, slash, _ = path[len(head) :].partition("/")
            (members.setdefault(name, []) if slash else direct).append(path)
    folders = [
        _look_at(f"{head}{name}", files, apps)
        for name, files in sorted(members.items(), key=lambda member: name_key(member[0]))
    ]
    return folders, _look_at(level, direct, apps)


def _look_at(path: str, files: Sequence[str], apps: Sequence[AppSight]) -> FolderSight:
    counts: dict[Policy, int] = {}
    for app in apps:
        if app.policy not in counts:
            counts[app.policy] = _count_visible(files, app.policy)
    return FolderSight(path=path, files=len(files), seen=[counts[app.policy] for app in apps])


def _count_visible(files: Sequence[str], policy: Policy) -> int:
    return sum(map(policy.is_visible, files)) if policy.restricts_reading else len(files)


def folder_pattern(folder: str) -> str:
    """Return the pattern of a policy file that means one folder of the vault and no other."""
    escaped = "".join(f"\\{char}" if char in "\\*?[]" else char for char in folder)
    return f"/{escaped}/"


def excluded_patterns(filters: Iterable[str]) -> Iterator[str]:
    """Yield the patterns that mean what the app's own excluded files mean. Regular expressions
    have none."""
    for text in filters:
        if text.startswith("/") and text.endswith("/") and len(text) > 2:
            continue
        folder = text.strip("/")
        if folder:
            pattern = folder_pattern(folder)
            yield pattern if text.endswith("/") else f"{pattern.removesuffix('/')}*"
