"""Recorded answers of the official command, each on a vault in the state that its answer needs (HEADLESS-10 to 18).

Where the answer of a record cannot be ours, `REASONS` says why.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Ran
from .test_surroundings import register

TRANSCRIPTS = Path(__file__).parents[4] / "shared" / "data" / "transcripts" / "cli.json"
APP, SAFER, OLDER = (
    "needs the app",
    "section 6 of the specification: ours is safer",
    "of a version that worked otherwise",
)
REASONS = {
    "version": "names the version that is installed",
    "vault=memory vault": "the size of a vault that is not here",
    "vault=memory create": SAFER,
    "create content=x overwrite": SAFER,
    "vault=V create path=S/../../etc/x.md content=x": SAFER,
    "vault=memory commands filter=app:": APP,
    "vault=memory command id=__definitely_not_a_command__": APP,
    "vault=V open path=S/alpha.md": APP,
    "search query=benchmark path=F limit=5 format=json matches": OLDER,
}
TAGS = "1C2833:73 2C3E50:10 2E86AB:67 5D6D7E:34 27AE60:13 AAB7B8:25 academic:15 agentic-ai:22 AI:3 ai-agent:3"
SCRATCH = {
    "_spike-scratch/multiline.md": "line one\nline two\nline three",
    "_spike-scratch/test.canvas": '{"nodes":[],"edges":[]}',
    "_spike-scratch/index-rmw.md": "# index\n\n- existing entry\n",
}
BASE = "views:\n  - type: table\n    name: {}\n"
BACKLOG = BASE.format("Obsidian CLI MCP - Backlog") + "  - type: table\n    name: Obsidian CLI MCP - Backlog by Tier\n"
FIXTURE = "---\nstatus: draft\npriority: 2\nowner: benchmark\ntags:\n  - benchmark\n  - obs-cli\n---\n"
CREATED = {"_spike-scratch/created.md": "created by spike"}
REWRITTEN = {"_spike-scratch/index-rmw.md": "- prepended entry\n\n# index\n\n- existing entry\n"}
APPENDED = {"_spike-scratch/created.md": "prepended line\ncreated by spike\nappended line\n"}
WELCOME = {"Fixtures/BI-017/inline-markdown.md": "\n" * 6 + "### [Wikilink](Welcome) text\n"}
MUTUAL = {"a.md": "[[b]]", "b.md": "[[a]]"}
SEARCHED = {"Sandbox/bi033-md.md": "a\nbi033-token here on line 2\n\nbi033-token again on line 4\n"}
STATES: dict[str, dict[str, str]] = {
    "vault=memory append path=_spike-scratch/created.md content=appended line": CREATED,
    "vault=memory prepend path=_spike-scratch/created.md content=prepended line": CREATED,
    "vault=memory read path=_spike-scratch/multiline.md": SCRATCH,
    "vault=memory read path=_spike-scratch/created.md": APPENDED,
    "vault=memory read path=_spike-scratch/test.canvas": SCRATCH,
    "vault=memory read path=_spike-scratch/index-rmw.md": SCRATCH,
    "vault=memory read path=_spike-scratch/index-rmw.md #2": REWRITTEN,
    r"vault=memory prepend path=_spike-scratch/index-rmw.md content=- prepended entry\n": SCRATCH,
    "vault=memory bases": {"Untitled.base": "", "wiki/meta/dashboard.base": ""},
    "vault=memory backlinks path=wiki/index.md format=json": {
        "wiki/index.md": "",
        "notes/index.md": "[[wiki/index]]",
        "wiki/comparisons/wiki-vs-rag.md": "[[wiki/index]]",
        "wiki/Wiki Map.canvas": '{"nodes":[{"id":"1","type":"file","file":"wiki/index.md"}],"edges":[]}',
    },
    "vault=memory unresolved format=json": {"n.md": "![[_attachments/images/canvas/skill-autoresearch.png]] [[z]]"},
    "vault=memory tasks": {"n.md": "  - [x] **Frontmatter validation** — All 49 pages have required fields\n"},
    "properties path=fixture_note.md": {"fixture_note.md": FIXTURE},
    "properties path=fixture_note.md format=tsv": {"fixture_note.md": FIXTURE},
    "tags all counts": {f"{tag[:4]}.md": f"#{tag} " * int(n) for tag, n in (word.split(":") for word in TAGS.split())},
    "base:views": {"<path>.md": ""},
    "base:views #2": {"<path>.base": BACKLOG},
    "vault=V rename path=Sandbox/a.md name=b": {"Sandbox/a.md": ""},
    "vault=V rename path=Sandbox/a.md name=a.md": {"Sandbox/a.md": ""},
    "vault=V rename path=Sandbox/Note.md name=note": {"Sandbox/Note.md": ""},
    "vault=V rename path=Sandbox/a.md name=taken": {"Sandbox/a.md": "", "Sandbox/taken.md": ""},
    "vault=V create path=S/case1.md content=rewritten overwrite": {"S/case1.md": "hello"},
    "vault=V create path=S/case1.md content=again": {"S/case1.md": "hello"},
    "vault=V delete path=a/case1.md": {"a/case1.md": ""},
    "vault=V delete path=a/case3.md permanent": {"a/case3.md": ""},
    "vault=V property:read name=count path=S/fix.md": {"S/fix.md": "---\ncount: abc\n---\n"},
    "vault=V properties total": {"n.md": "---\n" + "".join(f"p{n}: x\n" for n in range(70)) + "---\n"},
    "vault=V properties name=author": {f"{n}.md": "---\nauthor: x\n---\n" for n in range(5)},
    "vault=V properties path=S/no-frontmatter.md format=json": {"S/no-frontmatter.md": "x"},
    "vault=V file file=Welcome": {"Welcome.md": "x" * 220},
    "vault=V files folder=B ext=qqq total": {"B/x.md": ""},
    "vault=V files folder=F/v0.2.9-checkpoint": {
        f"F/v0.2.9-checkpoint/us1-{size}-fresh.md": "" for size in ("12kb", "60b", "5kb")
    },
    "vault=V links path=empty.md": {"empty.md": ""},
    "vault=V links file=Welcome total": {"Welcome.md": "[[x]] [[x]]"},
    "vault=V outline path=a.canvas format=json": {"a.canvas": "{}"},
    "vault=V outline path=plain.md total": {"plain.md": "plain"},
    "vault=V backlinks path=Welcome.md total format=json": {"Welcome.md": "", **WELCOME},
    "vault=V search query=welcome case format=json": WELCOME,
    "vault=V search query=Welcome path=Fix format=json": WELCOME,
    "vault=V search query=Welcome path=Fixtures/ format=json": WELCOME,
    "vault=V search:context query=Welcome format=json": {"Welcome.md": "", **WELCOME},
    "vault=V search:context query=bi033-token limit=1 format=json": SEARCHED,
    "base:create path=b.base name=X": {"b.base": BASE.format("All")},
    "base:create path=b.base name=X #2": {"b.base": BASE.format("All"), "X.md": ""},
    "tasks format=json": {"Money.md": "\n" * 12 + "- [ ] Confirm the deposit cleared\n"},
    "search query=CRM format=json": {"CRM.md": "", "CRM2.md": ""},
    "orphans": MUTUAL,
    "deadends": MUTUAL,
    "unresolved": MUTUAL,
}
ENVIRONMENT = {
    "base:views": ("OBSIDIAN_MCP_ACTIVE", "<path>.md"),
    "base:views #2": ("OBSIDIAN_MCP_ACTIVE", "<path>.base"),
    "vault=V create path=S/case1.md content=again": ("OBSIDIAN_MCP_NUMBERED", "1"),
}


def records() -> dict[str, dict[str, Any]]:
    """The records by their words; of equal ones the second has ` #2` behind it."""
    if not TRANSCRIPTS.exists():
        return {}
    met: Counter[str] = Counter()
    found = {}
    for record in json.loads(TRANSCRIPTS.read_text(encoding="utf-8"))["records"]:
        words = " ".join(record["argv"])
        met[words] += 1
        found[words if met[words] == 1 else f"{words} #{met[words]}"] = record
    return found


RECORDS = records()


@pytest.mark.skipif(not RECORDS, reason="the recordings of the official command are not here")
def test_a_record_is_left_out_only_with_a_reason() -> None:
    """HEADLESS-02"""
    assert len(RECORDS) == 92
    assert REASONS.keys() | STATES.keys() | ENVIRONMENT.keys() <= RECORDS.keys()


@pytest.mark.parametrize("words", [words for words in RECORDS if words not in REASONS])
def test_a_recorded_answer_is_given_in_the_same_words(
    words: str, vault: Path, ran: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-10 to HEADLESS-18"""
    record = RECORDS[words]
    vaults = [tmp_path / name for name in ("memory", "default", "V")]
    register(tmp_path, {f"{number:016x}": {"path": str(path)} for number, path in enumerate(vaults[:2])})
    recorded = record["stdout"].replace("file: <path>", "file: Folder/Note")
    if words in ("vault=memory orphans", "vault=memory orphans format=json", "vault=memory deadends"):
        notes = dict.fromkeys(recorded.splitlines(), "")
    elif words == "vault=memory unresolved":
        notes = {"n.md": "".join(f"[[{line}]]\n" for line in recorded.splitlines())}
    elif words.startswith("vault=V tag "):
        notes = {f"Fixtures/BI-031/lists/{name}.md": "#alpha" for name in ("contains", "exact-ordered", "reversed")}
    elif words.startswith("vault=V property:set "):
        notes = {"S/fix.md": "---\ncount: 7\n---\n"}
    else:
        notes = {path.replace("<path>", "Folder/Note"): text for path, text in STATES.get(words, {}).items()}
    for root in vaults:
        root.mkdir()
        for path, text in notes.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8", newline="")
    monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(vaults[2]))
    if words in ENVIRONMENT:
        name, value = ENVIRONMENT[words]
        monkeypatch.setenv(name, value.replace("<path>", "Folder/Note"))
    printed = ran(*record["argv"])
    assert vault.exists()
    assert printed.status == record.get("exit", 0)
    ours, theirs = comparable(words, printed.out), comparable(words, recorded)
    if record.get("excerpt") and ours != theirs:
        assert ours.startswith(theirs.removesuffix("\n"))
    else:
        assert ours == theirs


def comparable(words: str, text: str) -> str:
    """The text without what differs from machine to machine, and in an order that both have."""
    if words == "vaults verbose":
        return "\n".join(line.partition("\t")[0] for line in text.splitlines())
    if words == "vault=V file file=Welcome":  # when it was made and changed
        return "\n".join(text.splitlines()[:4])
    if words in ("search query=CRM format=json", "vault=V search:context query=Welcome format=json"):  # order of index
        return json.dumps(sorted(json.loads(text), key=str))
    if words == "tasks format=json":  # its source did not keep the white space
        return json.dumps(json.loads(text))
    return text
