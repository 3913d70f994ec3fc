"""The changes of one conversation, which a person reviews together (specs/console.md UI-36)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from obsidian_mcp.core.files.ports import Author, ChangeHead
from obsidian_mcp.core.vault.vault import Vault

from .history import visible_numbers

PAUSE_SECONDS: Final = 1_800.0
"""A conversation ends with a pause of this length: the process of a server, which is all that tells
conversations apart on stdio, may live for days."""


def list_visible_heads(vault: Vault) -> list[ChangeHead]:
    """Return all changes that the policy does not hide, latest first, without their steps."""
    heads = vault.journal.list_heads()
    if not vault.policy.restricts_reading:
        return heads
    visible = visible_numbers(vault)
    return [head for head in heads if head.number in visible]


def group_conversations(heads: Sequence[ChangeHead]) -> list[list[ChangeHead]]:
    """Return changes by conversation: those of one author without a longer pause.

    Changes of somebody else in between end none. The conversation with the latest change comes
    first, and so do the changes in each. `heads` are the latest first.
    """
    conversations: list[list[ChangeHead]] = []
    latest_by_author: dict[Author, list[ChangeHead]] = {}
    for head in heads:
        conversation = latest_by_author.get(head.author)
        if conversation is None or conversation[-1].time - head.time > PAUSE_SECONDS:
            conversation = latest_by_author[head.author] = []
            conversations.append(conversation)
        conversation.append(head)
    return conversations


def conversation_of(heads: Sequence[ChangeHead], number: int) -> list[ChangeHead]:
    """Return the changes of the conversation that a change belongs to, latest first; none for an
    unknown number."""
    return next(
        (
            conversation
            for conversation in group_conversations(heads)
            if any(head.number == number for head in conversation)
        ),
        [],
    )
