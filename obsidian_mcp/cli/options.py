"""The options that stand before the command and hold for every command."""

from __future__ import annotations

import os

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.config import CommandOptions, Config

if TYPE_CHECKING:
    from typing import Any, Final

    from obsidian_mcp.app import App

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


class Options(CommandOptions):
    """The options of one command line, from which the configuration and the App are made."""

    def __init__(self, vaults: tuple[str, ...] = (), **values: Any) -> None:
        """`values` are the arguments of CommandOptions by name."""
        super().__init__(**values)
        self.vaults: Final = vaults
        """Folders, or names of vaults that the Obsidian app knows."""

    def with_vaults(self, vaults: tuple[str, ...]) -> Options:
        """These options with vaults named behind the command, which count before the others."""
        return self.replace(vaults=vaults + self.vaults)

    def words(self) -> list[str]:
        """These options as a command line has them, but for the vaults."""
        flags = {"--read-only": self.read_only, "--allow-eval": self.allow_eval}
        valued = {
            "--backend": self.backend,
            "--scope": self.scope,
            "--key": self.key,
            "--tools": self.tools,
        }
        return [
            *(name for name, is_set in flags.items() if is_set),
            *(word for name, value in valued.items() if value for word in (name, value)),
        ]

    def config(self) -> Config:
        """Return the configuration of this process. Raises: InvalidArguments."""
        settings = Config(self.vaults, options=self)
        return settings.replace(
            named_vaults=tuple(_folder(named, settings) for named in settings.named_vaults)
        )

    def config_here(self, vaults: tuple[str, ...] = ()) -> Config:
        """Return the configuration of a command that a person runs. Raises: InvalidArguments.

        Where no vault is named, that of the current folder is meant, as git takes the repository
        that one is in (CLI-04). A server has no such folder: clients start it anywhere.
        """
        settings = self.with_vaults(vaults).config()
        if not settings.named_vaults and (around := vault_around()):
            settings = settings.replace(named_vaults=(around,))
        return settings

    def app(self, vaults: tuple[str, ...] = (), *, serving: bool = False) -> App:
        """Return the App for one command, which closes it; `serving` one that runs for long."""
        from obsidian_mcp import compose

        return compose.build(self.config_here(vaults), serving=serving)


def vault_around() -> str | None:
    """Return the nearest folder with settings of the app, from the current one upwards; None where
    there is none, or the current folder is gone."""
    try:
        folder = os.getcwd()  # noqa: PTH109  loading pathlib takes 3 ms
    except OSError:
        return None
    while not os.path.isdir(os.path.join(folder, ".obsidian")):  # noqa: PTH112, PTH118
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return None
        folder = above
    return folder


def _folder(named: str, settings: Config) -> str:
    """Return the folder of a vault that is named by its folder, by the name of a folder of the
    configuration, or by the name that the Obsidian app shows (CLI-04)."""
    # loading pathlib takes 3 ms
    if not named or os.path.exists(named) or os.sep in os.path.normpath(named):  # noqa: PTH110
        return named
    from obsidian_mcp.core.text.vault_path import name_key
    from obsidian_mcp.setup.system import known_vaults

    configured = [path for path in (*settings.vaults, *Config().vaults) if path.exists()]
    vault_paths = [vault.path for vault in known_vaults(settings.app_folders)]
    return next(
        (
            str(path)
            for path in [*configured, *vault_paths]
            if name_key(path.name) == name_key(named)
        ),
        named,
    )
