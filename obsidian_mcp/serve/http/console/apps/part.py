"""The part Apps of the console: who works with the vaults, when last, and ending that (UI-70 to
UI-73)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.console.markup import Markup, element, join
from obsidian_mcp.serve.http.console.part import ConsolePage, Part, Visit

from .roster import AppCheck, AppEntry, Roster


class AppsPart(Part):
    """Programs of this computer, keys, and programs that signed in."""

    name = "apps"
    title = "Apps"

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    def show(self, visit: Visit) -> ConsolePage:
        """Return all of them; with `check`, with what is wrong with those of this computer."""
        admissions = self._roster.list_admissions(visit.app.config)
        ended = visit.query.text("ended")
        has_ended = ended and ended not in [admission["name"] for admission in admissions]
        body = join(
            element("p", f"{ended} may no longer come in.", class_="done", role="status")
            if has_ended
            else None,
            element("h2", "On this computer"),
            self._write_entries(visit),
            element("h2", "Over the network"),
            self._write_admissions(visit, admissions),
        )
        return ConsolePage("Apps", body)

    def act(self, visit: Visit) -> str:
        """End a key or a sign-in. Raises: InvalidArguments."""
        name = visit.form.text("name")
        if visit.form.text("do") != "end" or not name:
            raise InvalidArguments("This form says nothing that can be done here.")
        self._roster.end_admission(visit.app.config, name)
        return visit.link(self.name, ended=name)

    def _write_entries(self, visit: Visit) -> Markup:
        if visit.query.text("check"):
            return element("ul", *map(_write_check, self._roster.check_entries()), class_="plain")
        entries = self._roster.list_entries()
        if not entries:
            command = element("code", "obsidian-mcp install CLIENT")
            return element("p", "No program is set up here. ", command, " does it.")
        check = element("a", "Check them", class_="button", href=visit.link(self.name, check="1"))
        hint = "Checking starts each of them as its program does, which takes some seconds."
        return join(
            element("ul", *map(_write_entry, entries), class_="plain"),
            element("p", check, " ", element("span", hint, class_="hint")),
        )

    def _write_admissions(self, visit: Visit, admissions: Sequence[Mapping[str, str]]) -> Markup:
        if not admissions:
            return element(
                "p", "There are no keys, and no program has signed in: nobody comes in over HTTP."
            )
        rows = [self._write_admission(visit, admission) for admission in admissions]
        return element("ul", *rows, class_="plain")

    def _write_admission(self, visit: Visit, admission: Mapping[str, str]) -> Markup:
        name = admission["name"]
        is_key = admission["way"] == "key"
        origin = "Key" if is_key else f"Signed in at {admission['way']}"
        app = f", used by {admission['app']}" if admission["app"] else ""
        facts = {
            "Last use": admission["used"],
            "Signed in": admission["since"],
            "Ends": admission["ends"],
            "Vaults": admission["vaults"],
            "Folder": admission["folder"],
            "May": admission["rights"],
            "Tools": admission["tools"],
            "Limits": admission["limits"],
        }
        usual = ("", "none")
        pairs = [
            join(element("dt", label), element("dd", fact))
            for label, fact in facts.items()
            if fact not in usual
        ]
        button = element(
            "button",
            "Revoke",
            element("span", f" {name}", class_="hidden-text"),
            class_="danger",
        )
        text = element(
            "div",
            element("h3", name),
            element("p", f"{origin}{app}", class_="meta"),
            element("dl", *pairs, class_="facts"),
            class_="grow",
        )
        form = visit.write_form(self.name, button, do="end", name=name)
        return element("li", element("div", text, form, class_="row"), class_="card pad")


def _write_entry(entry: AppEntry) -> Markup:
    vaults = ", ".join(entry.vaults) or "the vaults that Obsidian knows"
    return element(
        "li",
        element("h3", entry.title),
        element("p", f"Vaults: {vaults}", class_="meta"),
        element("p", "Set up in ", element("code", entry.file), class_="meta"),
        class_="card pad",
    )


def _write_check(check: AppCheck) -> Markup:
    kind = "fault" if check.is_problem else "meta"
    return element(
        "li",
        element("h3", check.title),
        element("p", check.message, class_=kind),
        element("p", check.remedy, class_="meta") if check.remedy else None,
        class_="card pad",
    )
