"""The meaning of a query written as plainly as possible, to compare core/query/evaluate.py with: no index, no
shortcuts, one position after the other. Also a structure of notes that are simple enough for a scan by lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.frontmatter.block import locate_block
from obsidian_mcp.core.note.elements import Heading, ListItem, Section, TextTag
from obsidian_mcp.core.query.document import DocumentKind
from obsidian_mcp.core.query.nodes import (
    And,
    Compare,
    Constant,
    Not,
    Or,
    Phrase,
    Property,
    QueryNode,
    Regex,
    ScopedQuery,
    Word,
)
from obsidian_mcp.core.text.text import Span

REGEXES = {
    # JavaScript -> what the standard library makes of it
    r"a\d+": r"(?i)a[0-9]+",
    r"^\w+ b": r"(?im)^(?-i:[0-9A-Za-z_]+) b",
    r"(?<x>[ab])\k<x>": r"(?i)([ab])\1",
    r"b$": r"(?im)b(?=\r?$)",
    r"(?:ab|#t|ß) ?c": r"(?i)(?:ab|#t|ß) ?c",
    r"東.|[^\x00-\x7f]b": r"(?i)東[^\r\n]|[^\x00-\x7f]b",
    r"(?<=a)b(?!c)": r"(?i)(?<=a)b(?!c)",
    r"A{2,}|x": r"(?i)a{2,}|x",
    r"\w{2}": r"[0-9A-Za-z_]{2}",
    r"\ba1?\b": r"(?i)(?<![0-9A-Za-z_])a1?(?![0-9A-Za-z_])",
    r"[ab]{1,2}-\d": r"(?i)[ab]{1,2}-[0-9]",
    r"\w@\w+": r"[0-9A-Za-z_]@[0-9A-Za-z_]",
    r"[r-t]@": r"(?i)[r-t]@",
    r"\b\d{1,2}:\d\d": r"(?<![0-9A-Za-z_])[0-9]{1,2}:[0-9][0-9]",
    r"^#{2,} ": r"(?m)^#{2,} ",
    r"\] [b東]|[^ ]-$": r"(?im)\] [b東]|[^ ]-(?=\r?$)",
    r"(?!@)[^\w\s]\d": r"(?!@)[^0-9A-Za-z_\s\ufeff][0-9]",
}


@dataclass(frozen=True)
class PlainStructure:
    sections: list[Section]
    headings: list[Heading]
    list_items: list[ListItem]
    tags: list[TextTag]


@dataclass(frozen=True)
class PlainFile:
    """A file whose note is read by lines: headings, list items of one level of text, fences and paragraphs."""

    path: str
    text: str = ""
    kind: DocumentKind = "note"

    @cached_property
    def properties(self) -> dict[str, object]:
        found = parser.read_frontmatter(self.text)
        return dict(found.values) if found is not None and found.values is not None else {}

    @cached_property
    def tags(self) -> list[str]:
        return (parser.tags(self.properties) or []) + [f"#{tag.name}" for tag in self.structure.tags]

    @cached_property
    def structure(self) -> PlainStructure:
        return scan(self.text)


_ITEM = re.compile(r"\s*([-*+]|\d+[.)])\s(?:\[(.)\]\s)?")
_TAG = re.compile(r"(?:^|(?<=\s))#((?=[^\s#]*[^\d\s#])[^\s#,.()\"']+)")


class _Scan:
    def __init__(self) -> None:
        self.found = PlainStructure([], [], [], [])
        self.kind: Literal["", "list", "paragraph"] = ""
        self.first = 0
        self.end = 0
        self.fenced = False

    def close(self) -> None:
        if self.kind:
            self.found.sections.append(Section(self.kind, None, Span(self.first, self.end)))
        self.kind = ""

    def open(self, kind: Literal["list", "paragraph"], start: int) -> None:
        if self.kind != kind:
            self.close()
            self.kind, self.first = kind, start

    def line(self, bare: str, start: int) -> None:
        stop = start + len(bare)
        items = self.found.list_items
        if bare.startswith("```") or self.fenced:
            self.fenced ^= bare.startswith("```")
            self.open("paragraph", start)
        elif heading := re.match(r"(#{1,6}) (.*)", bare):
            self.close()
            self.found.sections.append(Section("heading", None, Span(start, stop)))
            self.found.headings.append(Heading(len(heading.group(1)), heading.group(2), False, 0, Span(start, stop)))
        elif not bare.strip():
            self.close()
        elif item := _ITEM.match(bare):
            self.open("list", start)
            inner = stop - len(bare.lstrip())
            items.append(ListItem(0, -1, item.group(1), item.group(2), None, Span(inner, stop), Span(stop, stop)))
        elif self.kind == "list":
            items[-1] = replace(items[-1], span=Span(items[-1].span.start, stop))
        else:
            self.open("paragraph", start)
        if not self.fenced:
            self.found.tags.extend(
                TextTag(m.group(1), Span(start + m.start(), start + m.end())) for m in _TAG.finditer(bare)
            )
        if bare.strip():
            self.end = stop


def scan(text: str) -> PlainStructure:
    scanned = _Scan()
    start = 0
    if block := locate_block(text):
        scanned.found.sections.append(Section("yaml", None, block.span))
        start = block.body_start
    for line in text[start:].splitlines(keepends=True):
        scanned.line(line.rstrip("\r\n"), start)
        start += len(line)
    scanned.close()
    return scanned.found


# The meaning

Leaf = Word | Phrase | Regex


@lru_cache(maxsize=4096)
def plain_fold(text: str) -> str:
    folded = []
    for char in text:
        full = char.casefold()
        simple = full if len(full) == 1 else char.lower()
        folded.append(simple if len(simple) == 1 else simple[0])
    return "".join(folded)


@dataclass(frozen=True)
class At:
    """What a term is asked of: a place of the content, and how."""

    low: int | None = None
    high: int | None = None
    look: str = "anyplace"
    case: bool = False

    def but(self, **changes: object) -> At:
        return At(**{**self.__dict__, **changes})


def plain_matches(node: QueryNode, file: PlainFile) -> bool:
    if file.kind != "other":
        return says(node, file, At())
    # Listed if a conjunction that satisfies the query affirms something of the path.
    return any(
        all(says(term, file, at) == affirmed for term, at, affirmed in terms)
        and any(affirmed and at.look in {"path", "name"} for _, at, affirmed in terms)
        for terms in conjunctions(node, At(), affirmed=True)
    )


Conjunction = list[tuple[QueryNode, At, bool]]


def conjunctions(node: QueryNode, at: At, *, affirmed: bool) -> list[Conjunction]:
    """The disjunctive normal form."""
    match node:
        case Not():
            return conjunctions(node.part, at, affirmed=not affirmed)
        case And() | Or():
            parts = [conjunctions(part, at, affirmed=affirmed) for part in node.parts]
            if isinstance(node, Or) == affirmed:
                return [terms for part in parts for terms in part]
            product: list[Conjunction] = [[]]
            for part in parts:
                product = [before + terms for before in product for terms in part]
            return product
        case ScopedQuery(operator="match-case" | "ignore-case"):
            return conjunctions(node.part, at.but(case=node.operator == "match-case"), affirmed=affirmed)
        case ScopedQuery(operator="file" | "path" | "content" | "tag"):
            where = "name" if node.operator == "file" else node.operator
            return conjunctions(node.part, at.but(look=where), affirmed=affirmed)
    look = "unit" if isinstance(node, ScopedQuery | Property) else at.look
    return [[(node, at.but(look=look), affirmed)]]


def says(node: QueryNode, file: PlainFile, at: At) -> bool:
    match node:
        case And():
            return all(says(part, file, at) for part in node.parts)
        case Or():
            return any(says(part, file, at) for part in node.parts)
        case Not():
            return not says(node.part, file, at)
        case Property():
            return any(
                named(node.key, name) and (node.value is None or valued(node.value, value, at.case))
                for name, value in file.properties.items()
            )
        case ScopedQuery(operator="match-case" | "ignore-case"):
            return says(node.part, file, at.but(case=node.operator == "match-case"))
        case ScopedQuery(operator="file" | "path" | "content" | "tag"):
            return says(node.part, file, at.but(look="name" if node.operator == "file" else node.operator))
        case ScopedQuery():
            return any(
                says(node.part, file, At(low, high, "content", at.case))
                for low, high in units(node, file, at)
                if file.kind != "other"
            )
        case Word() | Phrase() | Regex():
            if at.look == "tag":
                return tagged(node, file, at)
            return any(occurs(leaf, text, at.case) for leaf, text in texts(node, file, at))
    raise AssertionError(node)


def texts(leaf: Leaf, file: PlainFile, at: At) -> Iterator[tuple[Leaf, str]]:
    composed = leaf if isinstance(leaf, Regex) else type(leaf)(unicodedata.normalize("NFC", leaf.text))
    if at.look == "name":
        yield composed, file.path.split("/")[-1]
    if at.look == "path" or (at.look == "anyplace" and file.kind != "other"):
        yield composed, file.path
    if at.look in {"content", "anyplace"} and file.kind != "other":
        yield leaf, file.text if at.low is None else file.text[at.low : at.high]


def occurs(leaf: Leaf, text: str, case: bool) -> bool:
    if isinstance(leaf, Regex):
        pattern = REGEXES.get(leaf.source, leaf.source)
        return re.search(pattern.replace("(?i", "(?", 1).replace("(?)", "") if case else pattern, text) is not None
    wanted = leaf.text if case else plain_fold(leaf.text)
    text = text if case else plain_fold(text)
    place = text.find(wanted)
    while place >= 0:
        if isinstance(leaf, Word) or not wanted:
            return True
        before, after = text[:place], text[place + len(wanted) :]
        glued_before = before and spaced(before[-1]) and spaced(wanted[0])
        glued_after = after and spaced(after[0]) and spaced(wanted[-1])
        if not glued_before and not glued_after:
            return True
        place = text.find(wanted, place + 1)
    return False


def spaced(char: str) -> bool:
    name = unicodedata.name(char, "")
    if re.match("CJK|HIRAGANA|KATAKANA|HANGUL|IDEOGRAPHIC|THAI|LAO|KHMER|MYANMAR", name):
        return False
    return unicodedata.category(char)[0] in "LNM"


def tagged(leaf: Leaf, file: PlainFile, at: At) -> bool:
    if at.low is None:
        names = [tag.lstrip("#") for tag in file.tags]
    else:
        names = [t.name for t in file.structure.tags if at.low <= t.span.start and t.span.end <= (at.high or 0)]
    for name in names:
        if isinstance(leaf, Regex):
            if occurs(leaf, name, False) or occurs(leaf, "#" + name, False):
                return True
            continue
        wanted = plain_fold(leaf.text).removeprefix("#").rstrip("/")
        above = plain_fold(name).split("/")
        if not wanted or wanted in ["/".join(above[: n + 1]) for n in range(len(above))]:
            return True
    return False


def units(node: ScopedQuery, file: PlainFile, at: At) -> list[tuple[int, int]]:
    text = file.text
    low, high = (0, len(text)) if at.low is None else (at.low, at.high or 0)
    found: list[tuple[int, int]] = []
    if node.operator == "line":
        start = low
        for line in text[low:high].split("\n"):
            found.append((start, start + len(line) - line.endswith("\r")))
            start += len(line) + 1
        return found
    structure = file.structure
    if node.operator == "block":
        for section in structure.sections:
            inside = [i.span for i in structure.list_items if section.span.start <= i.span.start < section.span.end]
            spans = inside if section.kind == "list" else [section.span]
            found.extend((span.start, span.end) for span in spans)
    elif node.operator == "section":
        if not text:
            return [(0, 0)]
        nested = "section:" in repr_scopes(node.part)
        starts = [(0, 0)] + [(h.span.start, h.level) for h in structure.headings]
        for n, (start, level) in enumerate(starts):
            later = [s for s, other in starts[n + 1 :] if not nested or level == 0 or other <= level]
            end = later[0] if later else len(text)
            end -= text[start:end].endswith("\n")
            end -= text[start:end].endswith("\r")
            if n or end > start or (len(starts) > 1 and starts[1][0] > 0):
                found.append((start, end))
    else:
        for task in structure.list_items:
            todo = task.mark == " "
            if task.mark is not None and node.operator != ("task-done" if todo else "task-todo"):
                found.append((task.span.start, task.span.end))
    clipped = [(max(start, low), min(end, high)) for start, end in found]
    return [(start, end) for start, end in clipped if start < end]


def repr_scopes(node: QueryNode) -> str:
    match node:
        case And() | Or():
            return " ".join(map(repr_scopes, node.parts))
        case Not():
            return repr_scopes(node.part)
        case ScopedQuery():
            return f"{node.operator}: {repr_scopes(node.part)}"
    return ""


def named(key: QueryNode, name: str) -> bool:
    match key:
        case Or():
            return any(named(part, name) for part in key.parts)
        case Regex():
            return occurs(key, name, False)
        case Word() | Phrase():
            return plain_fold(key.text) == plain_fold(name)
    raise AssertionError(key)


def valued(node: QueryNode, value: object, case: bool) -> bool:
    items = flat(value)
    match node:
        case And():
            return all(valued(part, value, case) for part in node.parts)
        case Or():
            return any(valued(part, value, case) for part in node.parts)
        case Not():
            return not valued(node.part, value, case)
        case Constant(value=None):
            return value is None
        case Constant():
            return any(item is node.value for item in items)
        case Compare():
            return any(compared(item, node) for item in items)
        case Phrase():
            return any(
                t == node.text if case else plain_fold(t) == plain_fold(node.text)
                for t in map(shown, items)
                if t is not None
            )
        case Word() | Regex():
            return any(occurs(node, t, case) for t in map(shown, items) if t is not None)
    raise AssertionError(node)


def flat(value: object) -> list[object]:
    return [item for part in value for item in flat(part)] if isinstance(value, list) else [value]


def shown(item: object) -> str | None:
    if item is None or isinstance(item, dict):
        return None
    return (
        str(item).lower()
        if isinstance(item, bool)
        else str(item).removesuffix(".0")
        if isinstance(item, float)
        else str(item)
    )


def compared(item: object, node: Compare) -> bool:
    if node.scalar.count("-") < 2:
        if isinstance(item, bool) or not isinstance(item, int | float):
            return False
        return item > float(node.scalar) if node.sign == ">" else item < float(node.scalar)
    found = re.fullmatch(r"\s*(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?)(\.\d+)?(Z|[+-]\d\d:?\d\d)?\s*", str(item))
    if not isinstance(item, str) or not found:
        return False
    return full(found[1]) > full(node.scalar) if node.sign == ">" else full(found[1]) < full(node.scalar)


def full(moment: str) -> str:
    return (moment + "T00:00:00"[len(moment) - 10 :]).replace(" ", "T")
