"""Every command of the official program: its words, what it needs, and the module that answers it (HEADLESS-02)."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Verdict = Literal["files", "limits", "app"]
"""`files`: as the official command. `limits`: with a difference named in specs/headless.md. `app`: needs the app."""

PLACEHOLDERS: Final = {
    "file": "<name>",
    "path": "<path>",
    "folder": "<path>",
    "content": "<text>",
    "template": "<name>",
    "name": "<name>",
    "to": "<path>",
    "query": "<text>",
    "limit": "<n>",
    "value": "<value>",
    "ref": "<path:line>",
    "line": "<n>",
    "status": '"<char>"',
    "title": "<title>",
    "subpath": "<subpath>",
    "search": "<query>",
    "url": "<url>",
    "view": "<name>",
    "id": "<id>",
    "ext": "<extension>",
    "filter": "<prefix>",
    "version": "<n>",
    "from": "<n>",
    "code": "<javascript>",
    "date": "<date>",
    "sort": "count",
    "paneType": "tab|split|window",
    "into": "<note>",
    "part": "<part>",
    "card": "<card>",
    "text": "<text>",
    "note": "<name>",
    "label": "<text>",
    "color": "<color>",
    "x": "<n>",
    "y": "<n>",
    "width": "<n>",
    "height": "<n>",
    "beside": "<card>",
    "group": "<card>",
}
"""What stands for the value of a key; a key that is not here, and names no value of its own, is a flag."""
TEXTS: Final = {
    "<command>": "only this command, and those below it",
    "active": "of the active file",
    "all": "all of them",
    "attr": "value of this attribute",
    "beside": "next to this card",
    "card": "id, text, file or label of a card",
    "case": "match upper and lower case",
    "changed": "only changed files",
    "characters": "only the number of characters",
    "clear": "empty the list",
    "code": "JavaScript to run",
    "color": "1 to 6, or #RRGGBB",
    "content": "text; \\n is a new line, \\t a tab",
    "contents": "also the cards of a group",
    "counts": "with numbers",
    "css": "value of this property",
    "daily": "of the daily note",
    "date": "another day, as 2026-11-22 or yesterday",
    "deleted": "only deleted files",
    "done": "every mark but a space; for a task: [x]",
    "enable": "switch it on",
    "ext": "only files with this extension",
    "file": "file by its name, as in a link",
    "filter": "only of this kind, or with this beginning",
    "folder": "path of a folder",
    "format": "how to print",
    "from": "where it begins",
    "group": "group",
    "height": "height",
    "id": "id",
    "ids": "with ids",
    "info": "only this fact",
    "inline": "without a newline",
    "inner": "without the element itself",
    "into": "note that the text goes to",
    "label": "text on it; for a new card: a group of this name",
    "leave": "what stays in the old place",
    "level": "only messages of this level",
    "limit": "highest number",
    "line": "number of the line, from 1",
    "method": "method to call",
    "name": "name",
    "new": "only new files",
    "newtab": "no effect without the app",
    "note": "file to show on a card",
    "off": "switch it off",
    "on": "switch it on",
    "open": "no effect without the app",
    "overwrite": "replace a file that is there",
    "paneType": "no effect without the app",
    "params": "parameters of the method",
    "part": "heading, ^block, or lines such as 10-20",
    "path": "path from the root of the vault",
    "permanent": "do not use the trash",
    "position": "at which end",
    "prop": "only this property",
    "query": "what to search for",
    "ref": "note and line",
    "remove": "take the bookmark out",
    "resolve": "with the variables replaced",
    "search": "search to bookmark",
    "selector": "CSS selector",
    "side": "on which side of the other card",
    "sort": "most frequent first",
    "status": "the character in the brackets",
    "stdin": "take the content from standard input",
    "subpath": "heading or block in the file",
    "template": "template to start from",
    "text": "text of a card; of an element",
    "title": "title to show",
    "to": "where it goes, or ends",
    "todo": "only [ ]; for a task: [ ]",
    "toggle": "[ ] to [x], anything else to [ ]",
    "total": "only the number",
    "type": "type of the value",
    "url": "address",
    "value": 'value; ["a", "b, c"] for a list',
    "verbose": "with more facts",
    "version": "number of the version",
    "versions": "with versions",
    "view": "name of a view",
    "width": "width",
    "words": "only the number of words",
    "x": "place from the left",
    "y": "place from the top",
}
"""What the help says of a key."""


LONGER: Final = ("weekly", "monthly", "quarterly", "yearly")


class Parameter(NamedTuple):
    name: str
    placeholder: str
    """Empty for a flag."""
    required: bool = False
    may_be_empty: bool = False
    is_ours: bool = False
    """Whether the official command does not have it."""

    @property
    def shown(self) -> str:
        return f"{self.name}={self.placeholder}" if self.placeholder else self.name

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that a placeholder such as `json|tsv` lists."""
        return tuple(self.placeholder.split("|")) if "|" in self.placeholder else ()


class Command(NamedTuple):
    name: str
    words: str
    """Parameters in the order of the official help: `content!` is required, `value!!` may also be empty,
    `format=json|tsv` lists values, `case-` is a flag in spite of its name, `+date` is an addition of ours."""
    verdict: Verdict
    module: str
    """Module of this package, with a function of the command's name; empty for what needs the app."""
    summary: str
    marks: frozenset[str] = frozenset()
    """`writes`; `developer`: listed at the end of the help; `ours`: the official program does not have it."""

    @property
    def function(self) -> str:
        """Name of the function that answers: `daily_append` for `daily:append` and for the same of longer periods."""
        period, colon, rest = self.name.partition(":")
        return f"{'daily' if period in LONGER else period}{colon}{rest}".replace(":", "_")

    @property
    def parameters(self) -> list[Parameter]:
        found = []
        for word in self.words.split():
            name, _, value = word.strip("+!").partition("=")
            flag = name.endswith("-")
            name = name.removesuffix("-")
            placeholder = "" if flag else value or PLACEHOLDERS.get(name, "")
            found.append(Parameter(name, placeholder, "!" in word, word.endswith("!!"), is_ours=word.startswith("+")))
        return found

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def usage(self) -> str:
        shown = [
            parameter.shown if parameter.required else f"[{parameter.shown}]"
            for parameter in self.parameters
            if not parameter.is_ours
        ]
        return " ".join(["Usage:", self.name, *shown])


_ROWS: Final = """
aliases | file path total verbose active | files | properties | List aliases
append | file path content! inline +stdin | files | writing | Add text at the end of a note | writes
backlinks | file path counts total format=json|tsv|csv | files | links | List the files that link to a file
base:create | file path view name content open newtab | limits | bases | Create a note that a base lists | writes
base:query | file path view format=json|csv|tsv|md|paths | limits | bases | Run a view of a base
base:views | +file +path | limits | bases | List the views of a base
bases | | files | bases | List bases
bookmark | file=<path> subpath folder search url title +remove | files | app_files | Add a bookmark | writes
bookmarks | total verbose format=json|tsv|csv | files | app_files | List bookmarks
canvas:add | file path text note url label x y width height color beside side=right|left|above|below group | files | canvas | Add a card to a canvas | writes | ours
canvas:connect | file path from=<card>! to=<card>! label color | files | canvas | Connect two cards of a canvas | writes | ours
canvas:edit | file path card! text note url label x y width height color beside side=right|left|above|below group | files | canvas | Change or move a card of a canvas | writes | ours
canvas:remove | file path card! contents | files | canvas | Remove a card with its edges | writes | ours
command | id=<command-id>! | app | | Run a command of the app
commands | filter | app | | List the commands of the app
create | name path content template overwrite open newtab +stdin | limits | writing | Create a file | writes
daily | paneType +date | limits | periodic | Make the daily note | writes
daily:append | content! inline open paneType +stdin +date | files | periodic | Add text at the end of the daily note | writes
daily:date | path! | files | periodic | First day of a daily note | ours
daily:list | | files | periodic | List daily notes | ours
daily:path | +date | files | periodic | Path of the daily note
daily:prepend | content! inline open paneType +stdin +date | files | periodic | Add text at the start of the daily note | writes
daily:read | +date | limits | periodic | Print the daily note
daily:settings | | files | periodic | Settings of daily notes | ours
deadends | total all | files | links | List files without links to other files
delete | file path permanent | files | writing | Delete a file | writes
diff | file path from to=<n> filter=local|sync | app | | Compare versions
file | file path | files | files | Facts about a file
files | folder ext total | files | files | List files
folder | path! info=files|folders|size | files | files | Facts about a folder
folders | folder total | files | files | List folders
help | <command> | files | own | Print this help
history | file path | app | | List the versions of a file
history:list | | app | | List the files with versions
history:open | file path | app | | Open the file recovery
history:read | file path version | app | | Print a version
history:restore | file path version! | app | | Restore a version
hotkey | id=<command-id>! verbose | app | | Hotkey of a command
hotkeys | total verbose format=json|tsv|csv all | app | | List hotkeys
links | file path total | files | links | List the links of a file
move | file path to! | limits | writing | Move a file; links follow | writes
note:extract | file path part! into position=append|prepend leave=link|embed|nothing | files | writing | Take a part of a note into another one | writes | ours
note:merge | file path into! position=append|prepend | files | writing | Merge a note into another one | writes | ours
open | file path newtab | app | | Open a file
orphans | total all | files | links | List files that no file links to
outline | file path format=tree|md|json total | files | files | Print the headings of a note
plugin | id=<plugin-id>! | app | | Facts about a plugin
plugin:disable | id! filter=core|community | app | | Disable a plugin
plugin:enable | id! filter=core|community | app | | Enable a plugin
plugin:install | id! enable | app | | Install a plugin
plugin:reload | id! | app | | Reload a plugin
plugin:uninstall | id! | app | | Uninstall a plugin
plugins | filter=core|community versions format=json|tsv|csv | files | appearance | List installed plugins
plugins:enabled | filter=core|community versions format=json|tsv|csv | files | appearance | List enabled plugins
plugins:restrict | on off | app | | Restricted mode
prepend | file path content! inline +stdin | files | writing | Add text at the start of a note | writes
properties | file path name total sort counts format=yaml|json|tsv active | files | properties | List properties
property:read | name! file path | files | properties | Print a property
property:remove | name! file path | files | writing | Remove a property | writes
property:set | name! value!! type=text|list|number|checkbox|date|datetime file path | limits | writing | Set a property | writes
publish:add | file path changed | app | | Publish a file
publish:list | total | app | | List published files
publish:open | file path | app | | Open a published file
publish:remove | file path | app | | Unpublish a file
publish:site | | app | | Facts about the published site
publish:status | total new changed deleted | app | | List changes to publish
random | folder newtab | limits | files | Choose a note at random
random:read | folder | files | files | Print a note at random
read | file path | files | files | Print a file
recents | total | files | app_files | List the files that were open last
reload | | app | | Reload the app
rename | file path name! | limits | writing | Rename a file; links follow | writes
restart | | app | | Restart the app
search | query! path=<folder> limit total case format=text|json | files | search | Search notes
search:context | query! path=<folder> limit case format=text|json | files | search | Search notes and print the lines
search:open | query | app | | Open the search
snippet:disable | name! | files | appearance | Disable a CSS snippet | writes
snippet:enable | name! | files | appearance | Enable a CSS snippet | writes
snippets | | files | appearance | List CSS snippets
snippets:enabled | | files | appearance | List enabled CSS snippets
sync | on off | app | | Pause or resume Sync
sync:deleted | total | app | | List deleted files
sync:history | file path total | app | | List the versions of a file in Sync
sync:open | file path | app | | Open the versions in Sync
sync:read | file path version! | app | | Print a version in Sync
sync:restore | file path version! | app | | Restore a version from Sync
sync:status | | app | | State of Sync
tab:open | group=<id> file=<path> view=<type> | app | | Open a tab
tabs | ids | files | app_files | List the tabs that were open
tag | name=<tag>! total verbose | files | properties | List the files with a tag
tags | file path total counts sort format=json|tsv|csv active | files | properties | List tags
task | ref file path line toggle done todo daily status | files | tasks | Print or change a task | writes
tasks | file path total done todo status verbose format=json|tsv|csv active daily | limits | tasks | List tasks
template:insert | name=<template>! +file +path | limits | periodic | Insert a template | writes
template:read | name=<template>! resolve title | files | periodic | Print a template
templates | total | files | periodic | List templates
theme | name | files | appearance | The theme, or facts about one
theme:install | name! enable | app | | Install a theme
theme:set | name!! | files | appearance | Set the theme; an empty name is the default | writes
theme:uninstall | name! | app | | Uninstall a theme
themes | versions | files | appearance | List installed themes
unique | name=<text> content open paneType +stdin | files | periodic | Create a note named by the minute | writes
unresolved | total counts verbose format=json|tsv|csv | files | links | List links that lead nowhere
vault | info=name|path|files|folders|size | files | files | Facts about the vault
vault:open | name! | app | | Open a vault
vaults | total verbose | files | own | List vaults
version | | files | own | Print the version
web | url! newtab | app | | Open a web page
wordcount | file path words characters | files | files | Count words and characters
workspace | ids | files | app_files | Print the layout
workspace:delete | name! | files | app_files | Delete a workspace | writes
workspace:load | name! | app | | Load a workspace
workspace:save | name | app | | Save a workspace
workspaces | total | files | app_files | List workspaces
dev:cdp | method=<CDP.method>! params=<json> | app | | Run a command of the debugger | developer
dev:console | clear limit level=log|warn|error|info|debug | app | | Print the console | developer
dev:css | selector=<css>! prop=<name> | app | | Print CSS | developer
dev:debug | on off | app | | Attach the debugger | developer
dev:dom | selector=<css>! total text- inner all attr=<name> css=<prop> | app | | Print elements | developer
dev:errors | clear | app | | Print errors | developer
dev:mobile | on off | app | | Emulate a phone | developer
dev:screenshot | path=<filename> | app | | Take a picture | developer
devtools | | app | | Open the developer tools | developer
eval | code! | app | | Run JavaScript | developer
"""  # noqa: E501  one command a line


def _period_rows() -> str:
    """The commands of longer periods, which are those of days under another name."""
    daily = [line for line in _ROWS.splitlines() if line.startswith("daily")]
    return "\n".join(f"{line.replace('daily', adjective)} | ours" for adjective in LONGER for line in daily)


_CELL_END = re.compile(r"\s\|(?=\s|$)")


def _commands() -> dict[str, Command]:
    found = {}
    for line in (_ROWS + _period_rows()).splitlines():
        if line.strip():
            name, words, verdict, module, summary, *marks = (cell.strip() for cell in _CELL_END.split(line))
            found[name] = Command(name, words, verdict, module, summary, frozenset(marks))  # type: ignore[arg-type]
    return dict(sorted(found.items()))


COMMANDS: Final = _commands()
