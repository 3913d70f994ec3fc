"""What a part of the console is: a page that is shown, and forms that do something."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from obsidian_mcp.app import App
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError

from .fields import RequestFields, write_query
from .markup import Child, Markup, element, join

CLIENT: Final = "console"
"""The name under which the journal has what is changed here."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request of a person who has signed in. It is used in a thread of its own."""

    app: App
    query: RequestFields
    """What the address says. It is the whole state of a page."""
    form: RequestFields
    """What a form says; empty where a page is asked for."""
    form_token: str

    @cached_property
    def vault(self) -> Vault:
        """The vault that the form or the address names, else the default one. Raises:
        VaultNotFound."""
        return self.app.vaults.get(self.vault_name)

    @cached_property
    def vault_name(self) -> str:
        """The vault that is named; empty where there is only one."""
        named = self.form.text("vault") or self.query.text("vault")
        return named or (self.vaults[0] if len(self.vaults) > 1 else "")

    @cached_property
    def vaults(self) -> Sequence[str]:
        """The names of all vaults, the default first.

        None where they cannot be told: a part that asks for its vault says what is wrong, and the
        others can do without.
        """
        try:
            return self.app.vaults.names()
        except AppError:
            return ()

    def link(self, part: str, /, **fields: str | int | None) -> str:
        """Return an address in the console for the same vault; empty fields are left out.

        All pages lie in one folder, so that the address is relative.
        """
        return part + write_query(**{"vault": self.vault_name, **fields})

    def write_form(
        self, part: str, /, *children: Child, class_: str = "", **fields: str | int | None
    ) -> Markup:
        """Return a form that sends its fields to a part by POST, in the same vault.

        It carries the token that a page of another site cannot know (UI-05). Without one, a form is
        refused.
        """
        hidden = {"token": self.form_token, "vault": self.vault_name, **fields}
        return element(
            "form",
            *(
                element("input", type="hidden", name=name, value=value)
                for name, value in hidden.items()
                if value not in (None, "")
            ),
            join(*children),
            method="post",
            action=part,
            class_=class_ or None,
        )


@dataclass(frozen=True)
class ConsolePage:
    """What a part shows: the frame is put around it by `page.py`."""

    title: str
    body: Markup
    status: int = 200
    is_framed: bool = True
    """Whether it is a page of its own. Else `body` is a whole document with script of its own, for
    a frame in a page: it is sent so that it can reach nothing of the console (UI-21)."""


class Part(ABC):
    """One entry of the console's navigation. Its pages are told apart by their queries."""

    name: str
    """The last segment of its address."""
    title: str
    """In the navigation."""

    @abstractmethod
    def show(self, visit: Visit) -> ConsolePage:
        """Return a page. It changes nothing. Raises: AppError, which is shown to the person."""

    @abstractmethod
    def act(self, visit: Visit) -> str:
        """Do what a form says; return the address of the page that follows (`Visit.link`).

        Raises: AppError, which is shown to the person with a way back.
        """
