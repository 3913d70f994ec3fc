"""What hosts run at points of a session: their JSON comes in, theirs goes out (MEM-50 to 54).

A hook is never an error to its host: whatever goes wrong, it says nothing, and its exit status is
0. The end of a session and the moment before compaction open no vault: their answers are fixed.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from obsidian_mcp import TYPE_CHECKING, logger

from .options import Options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BUDGET = 1_500
"""Characters that a session is told at its start."""
PROMPT_BUDGET = 800
"""Characters that a session is told beside a prompt."""
SECONDS = 2.5
"""Longest that a hook looks into a vault: Codex waits 3 s."""
FORGET_SECONDS = 7 * 86_400
"""After which what a session has been told is forgotten."""
READ_BYTES = 2**20
"""Of what a host sends; a longer prompt is cut off, and is no JSON then."""
POINTER = (
    "The user's Obsidian vault keeps notes about this project: `obsidian-mcp recall TEXT` or "
    "obsidian_search finds them, what holds now first.\n"
)
REMINDER = (
    "If decisions were made in this session that should outlast it, write each in one line with "
    "`obsidian-mcp remember TEXT`, and mark what they replace with `obsidian-mcp supersede OLD "
    "NEW`. Do not store the transcript.\n"
)
STARTS, ENDS = ("startup", "resume", "clear"), ("pre-compact", "session-end")


def run_hook(
    options: Options, event: str, *, host: str = "claude", when: str = "true", vault: str = ""
) -> int:
    """Answer a host at a point of a session; always 0."""
    if when.lower() not in ("true", "1", "yes", "on"):
        return 0
    try:
        if answer := _answer(options, event, host, vault):
            sys.stdout.write(json.dumps(answer, ensure_ascii=True) + "\n")
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001  the host's session goes on
        logger(__name__).info("the hook %s failed: %r", event, error)
    return 0


def _answer(options: Options, event: str, host: str, vault: str) -> Mapping[str, Any] | None:
    if event in ENDS:
        return _wrap(host, event, REMINDER)
    sent = _read_input()
    if event == "prompt":
        text = sent.get("prompt")
        return _wrap(host, event, _recall(options, vault, sent, [str(text or "")], PROMPT_BUDGET))
    if sent.get("source") == "compact":
        return _wrap(host, event, POINTER)
    if host == "antigravity" and sent.get("invocationNum") not in (None, 0, 1):
        return None  # it runs before every call of the model; the first one is the start
    return _wrap(host, event, _recall(options, vault, sent, _name_project(sent), BUDGET))


def _read_input() -> Mapping[str, Any]:
    """Return what the host sent; nothing where it cannot be read."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    try:
        sent = json.loads(sys.stdin.buffer.read(READ_BYTES))
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}


def _wrap(host: str, event: str, text: str) -> Mapping[str, Any] | None:
    """Return a text as the host takes it."""
    if not text:
        return None
    if host == "antigravity":
        return {"injectSteps": [{"ephemeralMessage": text}]}
    name = {
        "session-start": "SessionStart",
        "prompt": "UserPromptSubmit",
    }.get(event)
    if name is None:  # these points take no context for the model, but a message
        return {"systemMessage": text}
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _name_project(sent: Mapping[str, Any]) -> list[str]:
    """Return what a vault may call the project of a session: its folder and its git remote."""
    workspaces = sent.get("workspacePaths")
    first = workspaces[0] if isinstance(workspaces, list) and workspaces else None
    # pathlib takes 5 ms
    folder = str(sent.get("cwd") or first or os.environ.get("CLAUDE_PROJECT_DIR") or os.curdir)
    folder = os.path.abspath(folder)  # noqa: PTH100
    names = [os.path.basename(folder.rstrip("/\\")), _read_remote(folder)]  # noqa: PTH119
    return list(dict.fromkeys(filter(None, names)))


def _read_remote(folder: str) -> str:
    """Return the name of a repository by the address of its git remote; empty without one."""
    try:
        config = os.path.join(folder, ".git", "config")  # noqa: PTH118
        with open(config, encoding="utf-8") as file:  # noqa: PTH123
            lines = [line.strip() for line in file]
    except (OSError, ValueError):
        return ""
    urls = [line.partition("=")[2].strip() for line in lines if line.startswith("url")]
    return urls[0].rstrip("/").rpartition("/")[2].removesuffix(".git") if urls else ""


def _recall(
    options: Options, vault: str, sent: Mapping[str, Any], texts: list[str], budget: int
) -> str:
    """Return what the vault knows of some texts and this session has not been told; empty where the
    vault is missing, or does not answer in time."""
    import threading

    answers: list[str] = []

    def look() -> None:
        try:
            answers.append(_look_up(options, vault, sent, texts, budget))
        except Exception as error:  # noqa: BLE001  see run_hook
            logger(__name__).info("nothing was recalled: %r", error)

    # a disk that is asleep must not hold up the host: the process ends without this thread
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return answers[0] if answers else ""


def _look_up(
    options: Options, vault: str, sent: Mapping[str, Any], texts: list[str], budget: int
) -> str:
    from obsidian_mcp.core.operations import recall as recalling
    from obsidian_mcp.core.vault.first_look import HOOK_SECONDS

    with options.app((vault,) if vault else ()) as app:
        sessions = ToldSessions(app.config.state / "hooks.json", sent)
        opened = app.vaults.get("", listed=False)
        room = budget - len(recalling.FRAME)
        passages: list[recalling.RecalledPassage] = []
        for text in texts:
            keys = [*sessions.keys, *(passage.key for passage in passages)]
            passages += recalling.recall(opened, text, room, keys, patience=HOOK_SECONDS)
            room = budget - len(recalling.frame(opened, passages))
        sessions.add([passage.key for passage in passages])
        return recalling.frame(opened, passages)


class ToldSessions:
    """What sessions have been told, in one file; those of long ago are forgotten (MEM-52)."""

    def __init__(self, file: Path, sent: Mapping[str, Any]) -> None:
        """`sent` says which session it is, and whether it begins anew."""
        self._file = file
        self._session = str(sent.get("session_id") or sent.get("conversationId") or "")
        self._sessions = self._read_sessions()
        is_new = sent.get("source") in ("startup", "clear")
        _, keys = (0, []) if is_new else self._sessions.get(self._session, (0, []))
        self.keys: list[str] = list(keys)

    def add(self, keys: list[str]) -> None:
        """Keep what the session has been told now."""
        if not self._session or not keys:
            return
        import time

        now = time.time()
        recent = {
            session: entry
            for session, entry in self._sessions.items()
            if entry[0] > now - FORGET_SECONDS
        }
        recent[self._session] = (now, [*self.keys, *keys])
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(recent), encoding="utf-8")

    def _read_sessions(self) -> dict[str, tuple[float, list[str]]]:
        try:
            sessions = json.loads(self._file.read_text(encoding="utf-8"))
            return {
                session: (float(when), list(keys)) for session, (when, keys) in sessions.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
