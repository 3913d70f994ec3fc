"""What the owner of a vault tells assistants about it (MEM-30)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.text.fit import cut_text_within
from obsidian_mcp.core.text.text import Text, hidden_text_warnings, remove_hidden_text, to_printable

RULES_FILES = ("AGENTS.md", "CLAUDE.md")
"""At the root of the vault; the first one that there is counts."""
RULES_CHARACTERS = 1_500
READ_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class VaultRules:
    """The beginning of the owner's rules."""

    path: str
    text: str
    """At most RULES_CHARACTERS, without properties and hidden text."""
    warning: str
    """Says that hidden text was left out; empty without any."""

    def introduce(self) -> str:
        """Return the rules as instructions have them."""
        parts = [f"The vault owner's own rules, from {self.path}:", self.text, self.warning]
        return "\n".join(filter(None, parts))


def read_rules(
    read: Callable[[str], bytes | None], policy: Policy, named: str = ""
) -> VaultRules | None:
    """Return the rules of a vault; None where it has none, or the policy leaves them out.

    `read` returns the beginning of a file of the vault, None where there is none. `named` is the
    path of a note in the settings, which counts where the root has neither file.
    """
    if not policy.rules:
        return None
    for path in _candidates(named):
        data = read(path) if policy.is_visible(path) else None
        if data is None or b"\0" in data:
            continue
        body = Text.decode(data).body.replace("\r\n", "\n")
        body = body[text_start(body) :]
        text = to_printable(remove_hidden_text(body)).strip()
        if not text:
            continue
        hidden = hidden_text_warnings(body, path, lambda _: None)
        warning = f"Hidden text was left out of {path}. Tell the user." if hidden else ""
        return VaultRules(path, cut_text_within(text, RULES_CHARACTERS), warning)
    return None


def _candidates(named: str) -> Iterable[str]:
    return (*RULES_FILES, *([named] if named else ()))
