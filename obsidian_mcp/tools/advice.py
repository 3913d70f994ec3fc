"""Advice to call tools, in errors and remarks, without those that the client cannot call
(specs/tools.md TOOL-27).

The core writes its advice as if every tool were there. A profile or `--read-only` may have left the
tool out, and a model that is sent to a tool which it does not have tries it all the same.
"""

from __future__ import annotations

import re

from .offer import PREFIX, Offer, table

_TOOL_NAMES = re.compile(rf"\b{PREFIX}[a-z_]+(?: or {PREFIX}[a-z_]+)*")
"""The name of a tool, or several that do as well: `obsidian_read_note or obsidian_search`."""


def usable_advice(offer: Offer, message: str) -> str:
    """Return an error or a remark without advice to call tools that are not offered.

    The first clause says what is so, and stays. A later one is left out if it advises a tool that
    is not there, but for the other one of two with "or" between. A tool of the profile research
    stands for that of the vault: `search` for `obsidian_search`.
    """
    if not _TOOL_NAMES.search(message):
        return message
    ours, listed = table().tools, offer.list_entries()

    def usable_names(advised: re.Match[str]) -> str:
        names = [
            name if name in listed or name not in ours else name[len(PREFIX) :]
            for name in advised[0].split(" or ")
        ]
        return " or ".join(name for name in names if name in listed or name.startswith(PREFIX))

    first, *clauses = re.split(r"(?<=[.;]) ", message)
    usable = [clause for clause in clauses if all(map(usable_names, _TOOL_NAMES.finditer(clause)))]
    return re.sub(
        ";$", ".", " ".join([first, *(_TOOL_NAMES.sub(usable_names, clause) for clause in usable)])
    )
