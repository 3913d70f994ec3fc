"""The folders of templates, apart from what reads and fills templates.

A list of tasks asks for them alone, and does without the parser of notes (CLI-20).
"""

from __future__ import annotations

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.vault_path import VaultPath

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.vault import Vault


def template_folders(vault: Vault) -> list[str]:
    """Return the folders of templates that the settings name and the policy shows."""
    settings = vault.periodic.settings
    templater = settings.templater
    named = [settings.templates.folder, templater.folder if templater else ""]
    folders = dict.fromkeys(folder.strip("/ ") for folder in named if folder.strip("/ "))
    return [folder for folder in folders if _is_shown(vault, folder)]


def _is_shown(vault: Vault, folder: str) -> bool:
    """Return whether an answer may name a folder of the settings (POL-18)."""
    if not vault.policy.restricts_reading:
        return True
    _, disk = vault.folders.spell_folder(VaultPath(normal_form(folder)))
    return vault.folders.folders_below(disk) is not None
