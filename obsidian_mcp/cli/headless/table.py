"""Every command of the official program: its words, what it needs, and the module that answers it (HEADLESS-02)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Verdict = Literal["files", "limits", "app", "later"]
"""`files`: as the official command. `limits`: with a difference named in specs/headless.md. `app`: needs the app.
`later`: could be answered from the files and is not yet."""

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
    "ext": "<ext>",
    "filter": "<prefix>",
    "version": "<n>",
    "from": "<n>",
    "code": "<javascript>",
    "date": "<date>",
    "site": "<url>",
}
TEXTS: Final = {
    "file": "file by its name, as in a link",
    "path": "path from the root of the vault",
    "folder": "path of a folder",
    "content": "text; \\n is a new line, \\t a tab",
    "total": "only the number",
    "counts": "with numbers",
    "verbose": "with more facts",
    "format": "how to print",
    "name": "name",
    "to": "new path or folder",
    "query": "what to search for",
    "limit": "most files",
    "open": "no effect without the app",
    "newtab": "no effect without the app",
    "paneType": "no effect without the app",
    "overwrite": "replace a file that is there",
    "inline": "without a newline",
    "permanent": "do not use the trash",
    "stdin": "take the content from standard input",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    placeholder: str
    """Empty for a flag."""
    required: bool

    @property
    def shown(self) -> str:
        return f"{self.name}={self.placeholder}" if self.placeholder else self.name

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that a placeholder such as `json|tsv` lists."""
        return tuple(self.placeholder.split("|")) if "|" in self.placeholder else ()


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    words: str
    """Parameters with spaces between: `content!` is required, `format=json|tsv` lists values."""
    verdict: Verdict
    module: str
    """Module of this package; empty for what needs the app."""
    summary: str
    developer: bool = False

    @property
    def parameters(self) -> list[Parameter]:
        found = []
        for word in self.words.split():
            name, _, choices = word.rstrip("!").partition("=")
            placeholder = choices or PLACEHOLDERS.get(name, "")
            if name == "search" and self.name != "bookmark":
                placeholder = ""
            found.append(Parameter(name, placeholder, required=word.endswith("!")))
        return found

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def usage(self) -> str:
        words = [each.shown if each.required else f"[{each.shown}]" for each in self.parameters]
        return " ".join(["Usage:", self.name, *words])


_ROWS: Final = """
aliases | file path active total verbose | files | properties | List aliases
append | file path content! inline | files | writing | Append to a note
backlinks | file path counts total format=json|tsv|csv | files | links | List files that link to a file
base:create | file path view name content open newtab | later | | Create a note in a base
base:query | file path view format=json|csv|tsv|md|paths | limits | bases | Run a view of a base
base:views | file path | limits | bases | List the views of a base
bases | | files | bases | List bases
bookmark | file subpath folder search url title | files | app_files | Add a bookmark
bookmarks | total verbose format=json|tsv|csv | files | app_files | List bookmarks
command | id=<command-id>! | app | | Run a command of the app
commands | filter | app | | List commands of the app
create | name path content template overwrite open newtab | limits | writing | Create a file
daily | paneType | limits | periodic | Make the daily note
daily:append | content! inline open paneType | files | periodic | Append to the daily note
daily:date | path! | files | periodic | Day of a daily note
daily:list | | files | periodic | List daily notes
daily:path | | files | periodic | Path of the daily note
daily:prepend | content! inline open paneType | files | periodic | Prepend to the daily note
daily:read | | limits | periodic | Print the daily note
daily:settings | | files | periodic | Settings of daily notes
deadends | total all | files | links | List files without links
delete | file path permanent | files | writing | Delete a file
diff | file path from to filter=local|sync | app | | Compare versions
file | file path | files | files | Facts of a file
files | folder ext=<extension> total | files | files | List files
folder | path! info=files|folders|size | files | files | Facts of a folder
folders | folder total | files | files | List folders
help | command | files | own | Print this help
history | file path | app | | List versions of a file
history:list | | app | | List files with versions
history:open | file path | app | | Open the file recovery
history:read | file path version | app | | Print a version
history:restore | file path version! | app | | Restore a version
hotkey | id=<command-id>! verbose | app | | Hotkey of a command
hotkeys | total verbose format=json|tsv|csv | app | | List hotkeys
links | file path total | files | links | List links of a file
move | file path to! | limits | writing | Move a file
open | file path newtab | app | | Open a file
orphans | total all | files | links | List files without links to them
outline | file path format=tree|md|json total | files | files | Print the headings of a note
plugin | id=<plugin-id>! | app | | Facts of a plugin
plugin:disable | id=<plugin-id>! filter=core|community | app | | Disable a plugin
plugin:enable | id=<plugin-id>! filter=core|community | app | | Enable a plugin
plugin:install | id=<plugin-id>! enable | app | | Install a plugin
plugin:reload | id=<plugin-id>! | app | | Reload a plugin | developer
plugin:uninstall | id=<plugin-id>! | app | | Uninstall a plugin
plugins | filter=core|community versions format=json|tsv|csv | files | appearance | List plugins
plugins:enabled | filter=core|community versions format=json|tsv|csv | files | appearance | List enabled plugins
plugins:restrict | on off | app | | Restricted mode
prepend | file path content! inline | files | writing | Prepend to a note
properties | file path name sort=count format=yaml|json|tsv total counts active | files | properties | List properties
property:read | name! file path | files | properties | Print a property
property:remove | name! file path | files | writing | Remove a property
property:set | name! value! type=text|list|number|checkbox|date|datetime file path | limits | writing | Set a property
publish:add | file path changed | app | | Publish a file
publish:list | total | app | | List published files
publish:open | file path | app | | Open a published file
publish:remove | file path | app | | Unpublish a file
publish:site | | app | | Facts of the site
publish:status | total new changed deleted | app | | List changes to publish
random | folder newtab | limits | files | Choose a note at random
random:read | folder | files | files | Print a note at random
read | file path | files | files | Print a file
recents | total | files | app_files | List files opened last
reload | | app | | Reload the app
rename | file path name! | limits | writing | Rename a file
restart | | app | | Restart the app
search | query! path=<folder> limit total case format=text|json | files | search | Search notes
search:context | query! path=<folder> limit case format=text|json | files | search | Search notes, with lines
search:open | query | app | | Open the search
snippet:disable | name! | later | | Disable a CSS snippet
snippet:enable | name! | later | | Enable a CSS snippet
snippets | | files | appearance | List CSS snippets
snippets:enabled | | files | appearance | List enabled CSS snippets
sync | on off | app | | Pause or resume Sync
sync:deleted | total | app | | List deleted files
sync:history | file path total | app | | List versions in Sync
sync:open | file path | app | | Open the versions in Sync
sync:read | file path version! | app | | Print a version in Sync
sync:restore | file path version! | app | | Restore a version from Sync
sync:status | | app | | State of Sync
tab:open | group=<id> file view=<type> | app | | Open a tab
tabs | ids | later | | List open tabs
tag | name=<tag>! total verbose | files | properties | List files with a tag
tags | file path sort=count total counts format=json|tsv|csv active | files | properties | List tags
task | ref file path line status toggle done todo daily | files | tasks | Print or change a task
tasks | file path status total done todo verbose format=json|tsv|csv active daily | limits | tasks | List tasks
template:insert | name=<template>! | limits | periodic | Insert a template
template:read | name=<template>! resolve title | files | periodic | Print a template
templates | total | files | periodic | List templates
theme | name | later | | The theme
theme:install | name! enable | app | | Install a theme
theme:set | name! | later | | Set the theme
theme:uninstall | name! | app | | Uninstall a theme
themes | versions | files | appearance | List themes
unique | name content open paneType | files | periodic | Create a note named by the minute
unresolved | total counts verbose format=json|tsv|csv | files | links | List links that lead nowhere
vault | info=name|path|files|folders|size | files | files | Facts of the vault
vault:open | name! | app | | Open a vault
vaults | total verbose | files | own | List vaults
version | | files | own | Print the version
web | url! newtab | app | | Open a web page
wordcount | file path words characters | files | files | Count words and characters
workspace | ids | later | | Print the layout
workspace:delete | name! | later | | Delete a workspace
workspace:load | name! | app | | Load a workspace
workspace:save | name | app | | Save a workspace
workspaces | total | files | app_files | List workspaces
dev:cdp | method=<CDP.method>! params=<json> | app | | Run a command of the debugger | developer
dev:console | limit level=log|warn|error|info|debug clear | app | | Print the console | developer
dev:css | selector=<css>! prop=<name> | app | | Print CSS | developer
dev:debug | on off | app | | Attach the debugger | developer
dev:dom | selector=<css>! attr=<name> css=<prop> total text inner all | app | | Print elements | developer
dev:errors | clear | app | | Print errors | developer
dev:mobile | on off | app | | Emulate a phone | developer
dev:screenshot | path | app | | Take a picture | developer
devtools | | app | | Open the developer tools | developer
eval | code! | app | | Run JavaScript | developer
"""


def _period_rows() -> str:
    """The commands of longer periods, which are those of days under another name."""
    daily = [line for line in _ROWS.splitlines() if line.startswith("daily")]
    return "\n".join(
        line.replace("daily", adjective) for adjective in ("weekly", "monthly", "quarterly", "yearly") for line in daily
    )


_CELL_END = re.compile(r"\s\|(?=\s|$)")


def _commands() -> dict[str, Command]:
    found = {}
    for line in (_ROWS + _period_rows()).splitlines():
        if line.strip():
            name, words, verdict, module, summary, *rest = (cell.strip() for cell in _CELL_END.split(line))
            found[name] = Command(name, words, verdict, module, summary, bool(rest))  # type: ignore[arg-type]
    return dict(sorted(found.items()))


COMMANDS: Final = _commands()
