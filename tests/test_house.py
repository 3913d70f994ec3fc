"""What `python -m tests.house` counts, on sources of a few lines; and the limits that the program keeps."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.house import names, sizes
from tests.house.__main__ import COUNTS, PACKAGE, main
from tests.house.source import Place, Source, read_sources
from tests.house.subjects import SUBJECT_COLUMNS, long_subjects


def sources(*texts: str) -> list[Source]:
    return [Source(f"{number}.py", text) for number, text in enumerate(texts)]


def listed(measure: Callable[[list[Source]], Iterable[Place]], *texts: str) -> list[str]:
    return [str(place) for place in measure(sources(*texts))]


def test_a_docstring_has_a_paragraph_where_more_follows_its_summary() -> None:
    text = '"""Summary\nof two lines."""\ndef f():\n    """Summary.\n\n    Why."""\n'

    assert listed(sizes.docstring_paragraphs, text) == ["0.py:4 f"]


@pytest.mark.parametrize(
    ("measure", "text", "places"),
    [
        (sizes.wide_lines, "x = 1\n# " + "x" * 99, ["0.py:2 101 columns"]),
        (sizes.walruses, "if (hit := 1):\n    pass", ["0.py:1 hit"]),
        (sizes.function_imports, "import a\ndef f():\n    def g():\n        import b", ["0.py:4 g"]),
        (sizes.named_tuples, "class A(typing.NamedTuple): pass\nclass B(A): pass", ["0.py:1 A"]),
    ],
)
def test_constructs_are_counted(
    measure: Callable[[list[Source]], Iterable[Place]], text: str, places: list[str]
) -> None:
    assert listed(measure, text) == places


def test_a_function_is_as_long_as_it_is_without_its_docstring() -> None:
    head = '@cache\ndef f():\n    """A.\n\n    B.\n    """\n'
    fitting, long = ("    x = 0\n" * count for count in (sizes.FUNCTION_LINES - 1, sizes.FUNCTION_LINES))

    assert listed(sizes.long_functions, head + fitting) == []
    assert listed(sizes.long_functions, head + fitting + '    """What x is."""\n') == []
    assert listed(sizes.long_functions, head + long) == ["0.py:2 f: 51 lines"]


def test_the_arguments_of_a_tool_do_not_count_as_lines_of_its_function() -> None:
    signature = "def f(\n" + "    a,\n" * sizes.FUNCTION_LINES + '):\n    """A."""\n'
    fitting, long = ("    x = 0\n" * count for count in (sizes.FUNCTION_LINES, sizes.FUNCTION_LINES + 1))

    assert listed(sizes.long_functions, f"@tool(title='T')\n{signature}{fitting}") == []
    assert listed(sizes.long_functions, f"@tool(title='T')\n{signature}{long}") == ["0.py:2 f: 51 lines"]
    assert listed(sizes.long_functions, signature + "    x = 0\n") == ["0.py:1 f: 53 lines"]


def test_self_and_arguments_of_tools_are_no_positional_parameters() -> None:
    method = "class A:\n    def f(self, a, b, c, d, e{}): pass\n    @staticmethod\n    def g(a, b, c, d, e, f): pass"

    assert listed(sizes.long_signatures, method.format("")) == ["0.py:4 g: 6 parameters"]
    assert listed(sizes.long_signatures, method.format(", f")) == [
        "0.py:2 f: 6 parameters",
        "0.py:4 g: 6 parameters",
    ]
    assert listed(sizes.long_signatures, "def f(a, b, c, d, e, *f, g, h): pass") == []
    assert listed(sizes.long_signatures, "@tool(title='T')\ndef f(a, b, c, d, e, f): pass") == []


def test_slices_of_records_are_counted_and_those_of_texts_are_not() -> None:
    text = "a = new[2:7]\nb = self.fields[1:4]\nc = row[1:]\nd = text[2:4]\ne = words[1:]\nf = line[:n]"

    assert listed(sizes.sliced_records, text) == ["0.py:1 new[2:7]", "0.py:2 self.fields[1:4]", "0.py:3 row[1:]"]


def test_a_line_is_of_code_of_a_docstring_blank_or_a_comment() -> None:
    text = '"""Doc\n\nstring."""\n\n# comment\nx = """text\n\nend"""  # why\nMOST = 1\n"""What."""\n'

    assert sizes.count_lines(sources(text)) == sizes.LineCounts(code=4, docstring=4, blank=1, comment=1)


MANY_BINDINGS = """
def f(self, found, *rest, key=lambda one: one):
    found = [found for known in rest]
    with open() as told:
        kept = (said := told)
    try:
        pass
    except E as done:
        pass
    match x:
        case [made, *left]:
            pass
    def g(found):
        _seen = self.held = found
"""


def test_a_local_name_counts_once_in_a_function_however_it_is_bound() -> None:
    local = names.local_names(sources(MANY_BINDINGS))

    inner = ["found"]
    assert [place.name for place in local.vague] == [
        *("found", "rest", "known", "told", "kept", "said", "done", "made", "left"),
        *inner,
    ]
    assert local.count == len(local.vague) + len(["key"])


def test_the_other_operand_of_an_operator_is_not_vague() -> None:
    local = names.local_names(sources("def __eq__(self, other): ...\ndef f(other): ..."))

    assert [str(place) for place in local.vague] == ["0.py:2 other"]


def test_left_is_a_side_beside_right_and_vague_alone() -> None:
    local = names.local_names(sources("def f(left, right): ...\ndef g(left): ..."))

    assert [str(place) for place in local.vague] == ["0.py:2 left"]


def test_classes_and_aliases_share_their_names() -> None:
    texts = [
        "class Answer: pass\nKind = int | str\nT = TypeVar('T')\nMOST = 1\nclass _Reader: pass\n_Place = int | str",
        "if TYPE_CHECKING:\n    Answer: TypeAlias = str\nT = TypeVar('T')\nMOST = 1\nclass Reader: pass",
    ]

    assert listed(names.shared_type_names, *texts) == [
        *("0.py:1 Answer", "1.py:2 Answer"),
        *("0.py:5 _Reader", "1.py:5 Reader"),
    ]


@pytest.mark.parametrize(
    "function",
    [
        "def read_note(): ...",
        "def _plan(): ...",
        "def is_hidden(): ...",
        "def to_json(): ...",
        "def holds() -> bool: ...",
        "def matches() -> bool: ...",
        "def __len__(): ...",
        "@property\ndef name(): ...",
        "@tool(title='Backlinks')\ndef backlinks(): ...",
    ],
)
def test_verbs_assertions_and_names_of_others_are_fine(function: str) -> None:
    assert listed(names.functions_that_are_no_verbs, function) == []


def test_nouns_and_participles_are_told_from_verbs() -> None:
    functions = ["keys", "holds", "count_of", "applied", "linking", "made_by", "broken_links", "string"]
    text = "".join(f"def {name}(): ...\n" for name in functions)

    assert [place.name for place in names.functions_that_are_no_verbs(sources(text))] == functions
    participles = [place.name for place in names.functions_that_are_participles(sources(text))]
    assert participles == ["applied", "linking", "made_by"]


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        ("def applied() -> str: ...", "a participle"),
        ("def wrapped_in(): ...", "a participle"),
        ("def others() -> list[str]: ...", "an adjective or pronoun alone"),
        ("def below() -> str: ...", "a preposition"),
        ("def by_path() -> dict[str, int]: ...", "a preposition"),
        ("def same_text() -> bool: ...", "no assertion"),
        ("def warnings() -> None: ...", "no verb"),
        ("def read() -> str: ...", "the name of too many"),
        ("def run(): ...", "the name of too many"),
    ],
)
def test_a_name_that_says_neither_what_is_done_nor_what_is_returned_is_refused(function: str, advice: str) -> None:
    (place,) = names.unclear_functions(sources(function))

    assert advice in place.name


@pytest.mark.parametrize(
    "function",
    [
        "def apply_edits() -> None: ...",
        "def is_of_text() -> bool: ...",
        "def names_vault() -> bool: ...",
        "def nearest_texts() -> list[str]: ...",
        "def path_of() -> str: ...",
        "@property\ndef whole() -> str: ...",
        "class A(Thread):\n    def run(self) -> None: ...",
        "@register('in')\ndef inside() -> bool: ...",
    ],
)
def test_verbs_assertions_nouns_and_names_of_interfaces_are_fine(function: str) -> None:
    assert listed(names.unclear_functions, function) == []


def test_a_method_called_as_another_package_wants_is_refused_as_a_function() -> None:
    assert listed(names.unclear_functions, "def run() -> None: ...") != []


def test_an_unknown_row_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--list", "vague", "--of", __file__])

    assert "there is no row 'vague'; the rows are paragraphs, vague-names" in capsys.readouterr().err


WHAT_TO_DO = {
    "wide-lines": "Break the line. The reason of a `noqa` or `type: ignore` goes into a comment line above it.",
    "long-functions": "Give a part of it that does one thing a function and a name of its own.",
    "long-files": "A file has one noun: give the second one a file, with a docstring that says what it is.",
    "long-signatures": "Make parameters keyword-only, or pass a record that has a meaning of its own.",
    "sliced-records": "Name the columns: unpack the record, or give it a property.",
    "named-tuples": "Make the new one a frozen dataclass with slots, or lower the number of others (CONTRIBUTING.md).",
    "unclear-functions": "The rule is the docstring of `tests.house.names.unclear_functions`.",
    "participles": "Write what the function does, or the noun that it returns.",
    "shared-type-names": "Name each for what it is, so that a search for a name finds its own uses only.",
}
"""The limits of docs/architecture.md, and what helps where one is passed."""


@pytest.mark.parametrize("key", WHAT_TO_DO)
def test_the_program_keeps_the_limits_of_its_form(key: str) -> None:
    measure = next(count for count in COUNTS if count.key == key)
    places = [str(place) for place in measure.find_places(read_sources(PACKAGE))]

    assert len(places) <= (measure.most or 0), f"{measure.title}: {'; '.join(places)}. {WHAT_TO_DO[key]}"


VAGUE_NAMES = {
    "adapters": 39,
    "tools": 38,
    "serve": 33,
    "contracts": 22,
    "core/operations": 13,
    "core/search": 8,
    "core/files": 7,
    "core/index": 5,
    "core/graph": 4,
    "core/note": 4,
    "core/vault": 3,
    "setup": 3,
    "core/bases": 2,
    "core/dataview": 2,
    "core/expressions": 2,
    "cli": 1,
}
"""How many local names of each package are vague at most: lower a figure when you rename some, and raise none.

A package that is not here has none, and the files beside the packages have at most two each.
"""


def package_of(file: str) -> str:
    """Return a file's package below obsidian_mcp, of the core its room; "" for a file beside the packages."""
    parts = file.split("/")[1:-1]
    return "/".join(parts[: 2 if parts[:1] == ["core"] else 1])


def test_vague_local_names_do_not_come_back() -> None:
    vague: dict[str, list[str]] = {}
    for place in names.local_names(read_sources(PACKAGE)).vague:
        vague.setdefault(package_of(place.file) or place.file, []).append(str(place))

    for package, places in vague.items():
        ceiling = VAGUE_NAMES.get(package, 2 if package.endswith(".py") else 0)
        assert len(places) <= ceiling, (
            f"{package} has {len(places)} vague local names, {ceiling} at most. Write what the value is (`hits`, "
            f"`entry`, `matching_lines`, `allowed_paths`), not how it came about: {'; '.join(places)}."
        )


def git(folder: Path, *words: str) -> None:
    """Run git with settings of its own: a person's may sign commits or have hooks."""
    author = {f"GIT_{role}_{part}": "a@b.example" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    environment = {**os.environ, **author, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, check=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_long_subject_is_listed_until_it_is_pushed(tmp_path: Path) -> None:
    remote, clone, shallow, alone = (tmp_path / name for name in ("remote", "clone", "shallow", "alone"))
    fitting, long = "f" * SUBJECT_COLUMNS, "l" * (SUBJECT_COLUMNS + 1)
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    git(tmp_path, "clone", "--quiet", str(remote), str(clone))
    git(tmp_path, "init", "--quiet", str(alone))
    for folder in (clone, alone):
        git(folder, "commit", "--quiet", "--allow-empty", "-m", f"An old one, {long}")
    git(clone, "push", "--quiet", "origin", "HEAD")
    git(tmp_path, "clone", "--quiet", "--depth=1", remote.as_uri(), str(shallow))
    assert [long_subjects(folder) for folder in (tmp_path, alone, clone, shallow)] == [[], [], [], []]

    for folder in (clone, shallow):
        git(folder, "commit", "--quiet", "--allow-empty", "-m", f"{long}\n\nA body of {long}.")
        git(folder, "commit", "--quiet", "--allow-empty", "-m", fitting)
        (subject,) = long_subjects(folder)
        assert subject.endswith(f" {long}")
    git(clone, "push", "--quiet", "origin", "HEAD")
    assert long_subjects(clone) == []


def test_the_subjects_of_commits_fit_before_they_are_pushed() -> None:
    commits = long_subjects(PACKAGE.parent)

    assert not commits, (
        f"A subject has at most {SUBJECT_COLUMNS} characters; what does not fit goes into the body. Change the last "
        f"one by `git commit --amend`, earlier ones by `git rebase -i`: {'; '.join(commits)}."
    )
