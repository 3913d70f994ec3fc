"""The official command's words on a small vault (HEADLESS-01 to HEADLESS-18)."""

from __future__ import annotations

import pytest

from .conftest import Run

NO_ACTIVE = "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"
CASES: list[tuple[list[str], str]] = [
    (["links", "path=Alpha.md"], "Beta.md\nMissing (unresolved)\npic.png\n"),
    (["links", "path=Alpha.md", "total"], "3\n"),
    (["links", "file=pic.png"], "No links found.\n"),
    (["backlinks", "file=Beta", "counts"], "Alpha.md\t2\n"),
    (["backlinks", "file=Beta", "total"], "2\n"),
    (
        ["backlinks", "file=Alpha", "format=json"],
        '[\n  {\n    "file": "Board.canvas"\n  },\n  {\n    "file": "Folder/Gamma.md"\n  }\n]\n',
    ),
    (["backlinks", "file=Gamma", "format=json"], "No backlinks found.\n"),
    (["unresolved", "verbose"], "Ghost\t1\tFolder/Gamma.md\nMissing\t1\tAlpha.md\n"),
    (["unresolved", "total"], "2\n"),
    (["orphans"], "Board.canvas\ndata.csv\nFolder/Gamma.md\n"),
    (["deadends"], "Beta.md\ndata.csv\npic.png\n"),
    (["tags", "counts"], "#bar\t1\n#baz\t2\n#foo\t3\n#qux\t1\n"),
    (["tags", "sort=count"], "#foo\n#baz\n#bar\n#qux\n"),
    (["tags", "file=Folder/Gamma"], "No tags found.\n"),
    (["tag", "name=FOO"], 'Error: Tag "#FOO" not found.\n'),
    (["tag", "name=#foo", "verbose"], "#foo\t3\nAlpha.md\nBeta.md\n"),
    (["properties", "path=Alpha.md", "format=tsv"], "tags\tfoo, bar\naliases\tA1, Shared\nstatus\tdraft\ncount\t2\n"),
    (
        ["properties", "path=Alpha.md"],
        "tags:\n  - foo\n  - bar\naliases:\n  - A1\n  - Shared\nstatus: draft\ncount: 2\nempty:\n",
    ),
    (["properties", "path=Folder/Gamma.md", "json"], "No frontmatter found.\n"),
    (["properties", "counts"], "aliases\t2\ncount\t1\ncssclasses\t0\ndone\t1\nempty\t1\nstatus\t1\ntags\t2\n"),
    (["properties", "name=status"], "1\n"),
    (["properties", "name=none"], 'Error: Property "none" not found.\n'),
    (["property:read", "name=empty", "path=Alpha.md"], "(empty)\n"),
    (["property:read", "name=tags", "path=Alpha.md"], "foo\nbar\n"),
    (["property:read", "name=x", "path=Alpha.md"], 'Error: Property "x" not found.\n'),
    (["outline", "path=Beta.md"], "└── Beta\n    ├── Part A\n    │   └── Deep\n    └── Part B\n"),
    (["outline", "path=Beta.md", "md"], "# Beta\n## Part A\n### Deep\n## Part B\n"),
    (["outline", "path=Board.canvas"], "Error: File is not a markdown file.\n"),
    (["outline", "file=Gamma", "total"], "No headings found.\n"),
    (["tasks", "todo", "format=tsv"], " \t- [ ] one\tAlpha.md\t12\n"),
    (["tasks", "verbose"], "Alpha.md\n12: - [ ] one\n13: - [x] two\n\nBeta.md\n12: - [-] gone\n"),
    (["tasks", "status=-"], "- [-] gone\n"),
    (["tasks", "path=Folder"], "No tasks found.\n"),
    (["aliases", "verbose"], "A1\tAlpha.md\nShared\tAlpha.md, Beta.md\n"),
    (["create", "name=a/b"], 'Error: name cannot contain "/". Use path for a full file path.\n'),
    (["create"], "Error: Missing required parameter: name or path\n"),
    (["create", "path=../x", "content=y"], 'Error: Path "../x.md" is outside the vault.\n'),
    (["create", "path=Beta", "content=y"], 'Error: File "Beta.md" already exists. Add overwrite to replace it.\n'),
    (["append", "path=Nope.md", "content=x"], 'Error: File "Nope.md" not found.\n'),
    (
        ["append"],
        (
            "Error: Missing required parameter: content=<text>\n"
            "Usage: append [file=<name>] [path=<path>] content=<text> [inline]\n"
        ),
    ),
    (["append", "path=Board.canvas", "content=x"], "Error: File is not a markdown file.\n"),
    (["files", "folder=Nope"], ""),
    (["files"], "Alpha.md\nBeta.md\nBoard.canvas\ndata.csv\nFolder/Gamma.md\npic.png\n"),
    (["files", "ext=.md", "total"], "3\n"),
    (["files", "ext=MD"], ""),
    (["folder", "path=Nope"], 'Error: Folder "Nope" not found.\n'),
    (["folder", "path=Folder"], "path\tFolder\nfiles\t1\nfolders\t0\nsize\t31\n"),
    (["folder", "path=Alpha.md"], 'Error: "Alpha.md" is a file, not a folder.\n'),
    (["folders"], "/\nFolder\n"),
    (["search", "query=body", "total", "format=json"], '{"total":2}\n'),
    (["search", "query=body", "format=json"], '["Beta.md","Folder/Gamma.md"]\n'),
    (["search", "query=body", "path=Fold"], "No matches found.\n"),
    (["search", "query=PLAIN", "case"], "No matches found.\n"),
    (["search", "query=body", "limit=1"], "Beta.md\n"),
    (
        ["search:context", "query=Beta"],
        "Alpha.md:10: #foo #baz [[Beta]] [[Beta]] [[Missing]] ![[pic.png]]\n" * 2 + "Beta.md:7: # Beta\n",
    ),
    (["search:context", "query=Gamma", "json"], '[{"file":"Folder/Gamma.md","matches":[]}]\n'),
    (["vault=nosuch", "files"], "Vault not found.\n"),
    (["files", "total", "vault=Cases"], "6\n"),
    (["read"], NO_ACTIVE),
    (["read", "path=Folder"], 'Error: "Folder" is a folder, not a file.\n'),
    (["read", "path=../x.md"], 'Error: File "../x.md" not found.\n'),
    (["read", "path=pic.png"], "Error: File is not a text file.\n"),
    (["read", "file=gamma"], "plain body [[Alpha]] [[Ghost]]\n"),
    (["wordcount", "file=Gamma"], "words: 4\ncharacters: 30\n"),
    (["wordcount", "file=Gamma", "words"], "4\n"),
    (["wordcount", "path=data.csv"], "Error: Word count is only available for markdown files.\n"),
    (["bases"], "No base files found in vault\n"),
    (["base:query", "path=x.base"], "Error: Base file not found: x.base\n"),
    (["bookmarks"], "No bookmarks found.\n"),
    (["recents"], "No recent files.\n"),
    (["workspaces"], "No workspaces saved.\n"),
    (["templates"], "Error: No template folder configured.\n"),
    (["daily:path"], "2026-11-22.md\n"),
    (["daily:read"], 'Error: File "2026-11-22.md" not found.\n'),
    (["weekly:path"], "2026-W48.md\n"),
    (["weekly"], "Error: Weekly notes are not set up.\n"),
    (["daily:date", "path=2026-11-20.md"], "2026-11-20\n"),
    (["daily:date", "path=x.md"], 'Error: "x.md" is not a daily note.\n'),
    (["task", "ref=Alpha.md:12"], "file\tAlpha.md\nline\t12\nstatus\t \ntext\t- [ ] one\n"),
    (["task", "ref=Alpha.md:1", "toggle"], "Error: No task found at Alpha.md:1.\n"),
    (["vault", "info=files"], "6\n"),
    (["vault", "info=name"], "Cases\n"),
    (["doesnotexistverb"], 'Error: Command "doesnotexistverb" not found. It may require a plugin to be enabled.\n'),
    (["daily:pat"], 'Error: Command "daily:pat" not found. Did you mean: daily:path, daily:date, daily:list?\n'),
    (["open"], "Error: Missing required parameter: file or path\n"),
    (["rename", "path=Alpha.md", "name=Beta"], "Error: Destination file already exists!\n"),
    (["rename", "path=Alpha.md", "name=Alpha.md"], "Renamed: Alpha.md -> Alpha.md\n"),
    (["property:set", "name=count", "value=abc", "type=number", "path=Alpha.md"], "Error: Invalid number: abc\n"),
    (
        ["property:set", "name=d", "value=x", "type=date", "path=Alpha.md"],
        "Error: Invalid date format. Use YYYY-MM-DD\n",
    ),
]


@pytest.mark.parametrize(("words", "printed"), CASES, ids=[" ".join(words) for words, _ in CASES])
@pytest.mark.usefixtures("vault")
def test_a_command_prints_what_the_official_one_prints(words: list[str], printed: str, run: Run) -> None:
    """HEADLESS-03 to HEADLESS-18."""
    assert run(*words) == printed
