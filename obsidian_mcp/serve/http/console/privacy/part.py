"""The part Privacy of the console: what each app sees of a vault's folders, and what its person
hides (UI-50 to UI-56)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from obsidian_mcp.core.files.policy import Globs
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.console.markup import Markup, element, join
from obsidian_mcp.serve.http.console.part import ConsolePage, Part, Visit

from .folder_tree import FolderSight, describe_level, excluded_patterns, folder_pattern
from .rules import AppSight, PatternList, PrivacyRules, ReadingRules

MOST_FOLDERS: Final = 500
"""Folders of one page; a vault has fewer beside each other."""
_DONE: Final = {
    "hide": "Hidden from all apps.",
    "show": "No longer hidden.",
    "only": "Apps see these folders alone now.",
    "not-only": "Taken out of the folders that apps see.",
    "everything": "Apps see every folder again that is not hidden.",
    "excluded": "Obsidian's excluded files are hidden from apps, too.",
}
"""What a form did, by its field `do`, for the page that follows."""


class PrivacyPart(Part):
    """Which folders apps see."""

    name = "privacy"
    title = "Privacy"

    def __init__(self, rules: PrivacyRules) -> None:
        self._rules = rules

    def show(self, visit: Visit) -> ConsolePage:
        """Return one level of the folder tree, and the patterns that hold."""
        rules = self._rules.read_rules(visit.app.config, visit.vault_name)
        paths = [normal_form(file.disk) for file in visit.vault.files.scan("")]
        level = visit.query.text("folder").strip("/")
        folders, files = describe_level(paths, level, rules.apps)
        report = _DONE.get(visit.query.text("done"))
        body = join(
            element("p", report, class_="done", role="status") if report else None,
            element(
                "p",
                "What is hidden does not exist for apps: no list, search, link or count tells of "
                "it, also in programs that run now. They may remember what they have read before.",
                class_="hint",
            ),
            _write_way(visit, level),
            self._write_folders(visit, rules, level, folders, files),
            self._write_patterns(visit, rules, paths),
            self._write_excluded(visit, rules),
            element("p", "The rules stand in ", element("code", rules.file), ".", class_="hint"),
        )
        return ConsolePage("Privacy", body)

    def act(self, visit: Visit) -> str:
        """Write the policy as a form says. Raises: InvalidArguments, PolicyInvalid."""
        rules = self._rules.read_rules(visit.app.config, visit.vault_name)
        action, pattern = visit.form.text("do"), visit.form.text("pattern")
        hidden, read = list(rules.hidden), list(rules.read or ())
        match action:
            case "hide":
                self._write(visit, "hidden", [*hidden, pattern])
            case "show":
                self._write(visit, "hidden", [other for other in hidden if other != pattern])
            case "only":
                self._write(visit, "read", [*read, pattern])
            case "not-only":
                remaining = [other for other in read if other != pattern]
                self._write(visit, "read", remaining or None)
            case "everything":
                self._write(visit, "read", None)
            case "excluded":
                patterns = excluded_patterns(visit.vault.settings.ignore_filters)
                self._write(visit, "hidden", [*hidden, *patterns])
            case _:
                raise InvalidArguments("This form says nothing that can be done here.")
        return visit.link(self.name, folder=visit.form.text("folder"), done=action)

    def _write(self, visit: Visit, setting: PatternList, patterns: Sequence[str] | None) -> None:
        if patterns is not None and not all(pattern.strip() for pattern in patterns):
            raise InvalidArguments("Write a pattern, such as /Private/ or *.secret.md.")
        each_once = None if patterns is None else list(dict.fromkeys(patterns))
        self._rules.write_patterns(visit.app.config, visit.vault_name, setting, each_once)

    def _write_folders(
        self,
        visit: Visit,
        rules: ReadingRules,
        level: str,
        folders: Sequence[FolderSight],
        files: FolderSight,
    ) -> Markup:
        rows = [self._write_folder(visit, rules, level, sight) for sight in folders[:MOST_FOLDERS]]
        if files.files:
            sight = _describe_sight(files, rules.apps)
            rows.append(
                element("li", element("div", "Files in this folder: ", sight), class_="card pad")
            )
        if len(folders) > MOST_FOLDERS:
            more = len(folders) - MOST_FOLDERS
            rows.append(element("li", f"{write_count(more, 'folder')} more are not listed."))
        if not rows:
            return element("p", "There are no files here.")
        return element("ul", *rows, class_="plain")

    def _write_folder(
        self, visit: Visit, rules: ReadingRules, level: str, sight: FolderSight
    ) -> Markup:
        name = sight.path.rpartition("/")[2]
        link = element("a", f"{name}/", href=visit.link(self.name, folder=sight.path))
        pattern = folder_pattern(sight.path)
        actions = []
        if pattern in rules.hidden:
            actions.append(("show", "Stop hiding"))
        elif sight.seen[0]:
            actions.append(("hide", "Hide"))
        if pattern in (rules.read or ()):
            actions.append(("not-only", "Take out of the list"))
        else:
            label = "Only this folder" if rules.read is None else "Also this folder"
            actions.append(("only", label))
        forms = [
            visit.write_form(
                self.name,
                element("button", label, element("span", f" {name}", class_="hidden-text")),
                do=action,
                pattern=pattern,
                folder=level,
            )
            for action, label in actions
        ]
        text = element(
            "div",
            element("h2", link),
            element("p", _describe_sight(sight, rules.apps), class_="meta"),
            class_="grow",
        )
        return element("li", element("div", text, *forms, class_="row"), class_="card pad")

    def _write_patterns(self, visit: Visit, rules: ReadingRules, paths: Sequence[str]) -> Markup:
        """Return the patterns that hold, each with what it matches; what matches nothing is red."""
        lists: list[tuple[str, str, Sequence[str]]] = [
            ("Hidden from all apps", "show", rules.hidden),
            ("Apps see only", "not-only", rules.read or ()),
            ("Hidden by the server's own settings", "", rules.fixed),
        ]
        parts = []
        for title, action, patterns in lists:
            if patterns:
                rows = [self._write_pattern(visit, action, pattern, paths) for pattern in patterns]
                parts += [element("h2", title), element("ul", *rows, class_="plain")]
        if rules.read is not None:
            button = element("button", "Show every folder again")
            parts.append(visit.write_form(self.name, button, do="everything"))
        field = element("input", id="pattern", name="pattern", required=True, autocomplete="off")
        new_pattern = visit.write_form(
            self.name,
            element("label", "Hide by a pattern", for_="pattern"),
            element("div", field, element("button", "Hide"), class_="row"),
            element(
                "p",
                "As in a .gitignore: /Private/ is a folder, *.secret.md are files of that ending.",
                class_="hint",
            ),
            do="hide",
        )
        return join(*parts, element("h2", "Another pattern"), new_pattern)

    def _write_pattern(
        self, visit: Visit, action: str, pattern: str, paths: Sequence[str]
    ) -> Markup:
        count = sum(map(Globs([pattern.removeprefix("!")]).match, paths))
        matched = (
            element("span", write_count(count, "file"), class_="meta")
            if count
            else element("span", "matches nothing", class_="fault")
        )
        button = element("button", "Remove", element("span", f" {pattern}", class_="hidden-text"))
        form = visit.write_form(self.name, button, do=action, pattern=pattern) if action else None
        text = element("div", element("code", pattern), " ", matched, class_="grow")
        return element("li", element("div", text, form, class_="row"), class_="card pad")

    def _write_excluded(self, visit: Visit, rules: ReadingRules) -> Markup:
        """Return what the app itself excludes, with a button that hides it from apps, too."""
        filters = visit.vault.settings.ignore_filters
        patterns = [
            pattern for pattern in excluded_patterns(filters) if pattern not in rules.hidden
        ]
        if not patterns:
            return Markup()
        return join(
            element("h2", "Excluded in Obsidian"),
            element("p", "Obsidian leaves these out of its own search. Apps see them:"),
            element("ul", *(element("li", element("code", pattern)) for pattern in patterns)),
            visit.write_form(self.name, element("button", "Hide these from apps"), do="excluded"),
        )


def _write_way(visit: Visit, level: str) -> Markup:
    """Return the links from the vault's root down to a folder."""
    names = level.split("/") if level else []
    links = [
        element(
            "a",
            "All folders",
            href=visit.link(PrivacyPart.name),
            aria_current=None if names else "page",
        )
    ]
    for depth, name in enumerate(names, 1):
        path = "/".join(names[:depth])
        current = "page" if depth == len(names) else None
        links.append(
            element("a", name, href=visit.link(PrivacyPart.name, folder=path), aria_current=current)
        )
    steps = [part for link in links for part in (" / ", link)][1:]
    return element("nav", *steps, aria_label="Folder")


def _describe_sight(sight: FolderSight, apps: Sequence[AppSight]) -> Markup:
    """Return in words which apps see how much of a folder."""
    by_state: dict[str, list[str]] = {}
    for app, visible in zip(apps, sight.seen, strict=True):
        state = "seen by"
        if visible < sight.files:
            state = f"{visible} of {sight.files} seen by" if visible else "hidden from"
        by_state.setdefault(state, []).append(app.name)
    total = write_count(sight.files, "file")
    parts = [f"{state} {', '.join(names)}" for state, names in by_state.items()]
    return join(f"{total}: ", "; ".join(parts))
