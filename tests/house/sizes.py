"""Measures of form: docstrings, constructs, the sizes of lines, functions, signatures and files."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .source import Place, Source, is_text, is_tool

LINE_COLUMNS = 100
FUNCTION_LINES = 50
FILE_LINES = 400
POSITIONAL_PARAMETERS = 5


def docstring_paragraphs(sources: list[Source]) -> Iterator[Place]:
    """Yield the docstrings that say more after their summary and a blank line."""
    for source in sources:
        for owner, statement in source.docstrings:
            if "\n\n" in (ast.get_docstring(owner) or ""):
                yield source.place(statement, getattr(owner, "name", "(module)"))


def wide_lines(sources: list[Source]) -> Iterator[Place]:
    for source in sources:
        for number, line in enumerate(source.lines, 1):
            if len(line) > LINE_COLUMNS:
                yield Place(source.file, number, f"{len(line)} columns")


def walruses(sources: list[Source]) -> Iterator[Place]:
    for source in sources:
        for node in source.nodes:
            if isinstance(node, ast.NamedExpr):
                yield source.place(node, node.target.id)


def function_imports(sources: list[Source]) -> Iterator[Place]:
    """Yield the import statements inside functions; one that several functions surround counts once."""
    for source in sources:
        imports = {
            node: function.name
            for function in source.functions
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        for node, name in imports.items():
            yield source.place(node, name)


def named_tuples(sources: list[Source]) -> Iterator[Place]:
    for source in sources:
        for node in source.nodes:
            if isinstance(node, ast.ClassDef):
                bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                if "NamedTuple" in bases:
                    yield source.place(node, node.name)


def long_functions(sources: list[Source]) -> Iterator[Place]:
    """Yield the functions of too many lines, from `def` to the last one, without explanations.

    A docstring, and a text below an attribute, are left out so that nobody shortens a *why* for
    this limit. Of a tool only the body
    counts: its signature is the table of the arguments of a call, each with its type, default and
    description for models, and is read as a table.
    """
    for source in sources:
        for function in source.functions:
            first = function.body[0].lineno if is_tool(function) else function.lineno
            explained = sum(_count_lines(text) for text in function.body if is_text(text))
            count = (function.end_lineno or first) - first + 1 - explained
            if count > FUNCTION_LINES:
                yield source.place(function, f"{function.name}: {count} lines")


def _count_lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_files(sources: list[Source]) -> Iterator[Place]:
    for source in sources:
        if len(source.lines) > FILE_LINES:
            yield Place(source.file, 1, f"{len(source.lines)} lines")


def long_signatures(sources: list[Source]) -> Iterator[Place]:
    """Yield the functions that take too many parameters by position, `self` and `cls` apart.

    A tool is left out: its parameters are the arguments of a call, which all have names.
    """
    for source in sources:
        for function in source.functions:
            arguments = function.args
            count = len(arguments.posonlyargs) + len(arguments.args) - (function in source.methods)
            if count > POSITIONAL_PARAMETERS and not is_tool(function):
                yield source.place(function, f"{function.name}: {count} parameters")


OF_TEXT = {"body", "data", "escape", "head", "line", "name", "text", "value", "word", "words"}
"""Names of values whose parts have no names: texts, bytes, and words of a command line."""
OF_RECORDS = {"entry", "fact", "hit", "item", "new", "old", "earlier", "record", "row", "twin"}


def sliced_records(sources: list[Source]) -> Iterator[Place]:
    """Yield slices between two numbers, and slices of what is called as a record.

    `data[2:7]` of a record hides which columns these are, and is wrong when one is added. What is
    a record, a syntax tree does not tell: texts and bytes are known by the usual names.
    """
    for source in sources:
        for node in source.nodes:
            match node:
                case ast.Subscript(value=ast.Name(name) | ast.Attribute(attr=name), slice=ast.Slice() as part):
                    bounds = [isinstance(bound, ast.Constant) for bound in (part.lower, part.upper)]
                    if (all(bounds) and name not in OF_TEXT) or (any(bounds) and name in OF_RECORDS):
                        yield source.place(node, ast.unparse(node))


@dataclass(frozen=True)
class LineCounts:
    """How many lines are what. A line that has code and a comment is a line of code."""

    code: int = 0
    docstring: int = 0
    blank: int = 0
    comment: int = 0

    @property
    def total(self) -> int:
        return self.code + self.docstring + self.blank + self.comment


def count_lines(sources: list[Source]) -> LineCounts:
    """Count the lines of each kind.

    Texts below constants count as docstrings. Blank lines inside a docstring belong to it, and
    blank lines inside another string to the code.
    """
    counts: Counter[str] = Counter()
    for source in sources:
        kinds = ["blank"] * (len(source.lines) + 1)
        for token in tokenize.generate_tokens(io.StringIO("\n".join(source.lines)).readline):
            if token.type == tokenize.COMMENT:
                kind = "comment"
            elif token.string.strip() and token.type != tokenize.ENDMARKER:
                kind = "code"
            else:
                continue
            for line in range(token.start[0], token.end[0] + 1):
                if kinds[line - 1] != "code":
                    kinds[line - 1] = kind
        for node in source.nodes:
            if isinstance(node, ast.Expr) and is_text(node):
                first, last = node.lineno - 1, node.end_lineno or node.lineno
                kinds[first:last] = ["docstring"] * (last - first)
        counts.update(kinds[: len(source.lines)])
    return LineCounts(**counts)
