"""Recorded answers of the official command that files alone can give in the same words (HEADLESS-10 to 18).

The vaults of the recordings are not there; each record whose answer does not depend on their contents is run on a
vault in the state that it names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run

TRANSCRIPTS = Path(__file__).parents[4] / "shared" / "data" / "transcripts" / "cli.json"
DIFFERENT = {"create", "base:create", "base:views", "open", "command", "commands", "version", "vaults"}
"""Answers that section 6 of the specification changes, that need the app, or that name its version."""
NOTES = {
    "_spike-scratch/created.md": "created by spike",
    "_spike-scratch/multiline.md": "line one\nline two\nline three",
    "_spike-scratch/test.canvas": '{"nodes":[],"edges":[]}',
    "_spike-scratch/index-rmw.md": "# index\n\n- existing entry\n",
    "S/fix.md": "---\ncount: abc\n---\n",
    "S/no-frontmatter.md": "x",
    "Sandbox/a.md": "a",
    "Sandbox/taken.md": "t",
    "Sandbox/Note.md": "n",
    "Sandbox/bi033-md.md": "a\nbi033-token here on line 2\n\nbi033-token again on line 4\n",
    "a/case1.md": "x",
    "a/case3.md": "x",
    "empty.md": "",
    "plain.md": "plain",
    "a.canvas": "{}",
    "B/x.md": "[[missing link]]",
    "F/v0.2.9-checkpoint/us1-12kb-fresh.md": "",
    "F/v0.2.9-checkpoint/us1-60b-fresh.md": "",
    "F/v0.2.9-checkpoint/us1-5kb-fresh.md": "",
    "fixture_note.md": "---\nstatus: draft\npriority: 2\nowner: benchmark\ntags:\n  - benchmark\n  - obs-cli\n---\n",
    **{f"Fixtures/BI-031/lists/{name}.md": "#alpha" for name in ("contains", "exact-ordered", "reversed")},
    "Fixtures/BI-017/inline-markdown.md": "1\n2\n3\n4\n5\n6\n### [Wikilink](Welcome) text\n",
}
CHANGES = {"rename", "delete", "append", "prepend", "property:set"}
UNREPEATABLE = {
    ("tags", "counts"),
    ("tasks", "todo", "total"),
    ("vault=V", "properties", "total"),
    ("vault=V", "properties", "name=author"),
    ("vault=memory", "vault"),
    ("vault=memory", "bases"),
    ("vault=V", "file", "file=Welcome"),
    ("vault=V", "links", "file=Welcome", "total"),
    ("vault=V", "search:context", "query=Welcome", "format=json"),
    ("vault=V", "backlinks", "path=Welcome.md", "total", "format=json"),
    ("vault=V", "search", "query=Welcome", "path=Fixtures/", "format=json"),
    ("search", "query=CRM", "format=json"),
    ("tasks", "format=json"),
    ("--copy", "read"),
    ("orphans",),
    ("deadends",),
    ("unresolved",),
}
"""Their answers come from contents that no record names, or from the app's state; some are run below."""


def records() -> list[dict[str, Any]]:
    if not TRANSCRIPTS.exists():
        return []
    found = json.loads(TRANSCRIPTS.read_text(encoding="utf-8"))["records"]
    return [
        record
        for record in found
        if not record.get("excerpt")
        and tuple(record["argv"]) not in UNREPEATABLE
        and not DIFFERENT & set(record["argv"])
        and "<path>" not in record["stdout"]
    ]


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="the recordings of the official command are not here")
def test_recorded_answers_are_given_in_the_same_words(
    vault: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-10 to HEADLESS-18."""
    for name in ("V", "memory"):
        root = tmp_path / name
        for path, text in NOTES.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8", newline="")
    compared, different = 0, []
    for record in records():
        words = record["argv"]
        named = next((word.removeprefix("vault=") for word in words if word.startswith("vault=")), "V")
        monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(tmp_path / (named if named in ("V", "memory") else "V")))
        if "rename" in words or "delete" in words:  # the records do not follow one another
            for path, text in NOTES.items():
                for other in (tmp_path / named).glob(f"{Path(path).parent}/*"):
                    if str(other.relative_to(tmp_path / named)) not in NOTES and other.is_file():
                        other.unlink()
                (tmp_path / named / path).write_text(text, encoding="utf-8", newline="")
        printed = run(*words)
        compared += 1
        if printed != record["stdout"]:
            different.append((words, record["stdout"], printed))
    assert different == []
    assert compared >= 40
    assert vault.exists()
