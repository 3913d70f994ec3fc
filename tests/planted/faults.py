"""The faults that a file can be given: each changes one operator, one constant or one returned value.

Places where a fault changes nothing that a test could see are left out as far as the source tells: annotations,
decorators, messages, and what only bounds time or memory.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath

OTHER_BOUNDARY = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
OPPOSITE = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPERATOR = re.compile(r"not\s+in\b|is\s+not\b|is\b|in\b|[<>=!]=|[<>]")
CONNECTIVE = re.compile(r"\b(?:and|or)\b")
COMMENT = re.compile(r"#.*")
EMPTY = {
    "str": '""',
    "list": "[]",
    "tuple": "()",
    "dict": "{}",
    "set": "set()",
    "frozenset": "frozenset()",
}
"""What a function returns instead, by its annotation."""

FEW = 10
"""Up to this number a constant gets one more; a larger one is doubled, because most are sizes."""
ONLY_COST = re.compile(
    r"cache|remember|clock|monotonic|deadline|checkpoint|seconds|at once|batch|chunk|buffer|recursion"
    r"|faster|quick|cheap|\bslow|\bcosts?\b|\btakes? (?:long|too long)",
    re.IGNORECASE,
)
"""Words by which a statement, or the text below a constant, says that it is about time or memory alone."""
RESOURCE_LIMIT = re.compile(r"^_?(?:MAX|MOST|LONGEST|DEEPEST)_|_(?:BYTES|UNITS|CHARACTERS|TICKS|SECONDS|COMPARISONS)$")
"""Constants that keep hostile input from taking too much: another number refuses it as well."""
INERT_KEYWORDS = {
    "strict",
    "repr",
    "compare",
    "hash",
    "slots",
    "frozen",
    "maxsize",
    "timeout",
    "ensure_ascii",
}
INERT_FUNCTIONS = {"__repr__", "__hash__", "__del__"}


@dataclass(frozen=True)
class Fault:
    """One change of a file: the characters from `start` to `end` become `replacement`."""

    file: str
    function: str
    """Qualified name of the function or class around it, "" at the top of a file."""
    kind: str
    line: int
    start: int
    end: int
    replacement: str

    def plant(self, source: str) -> str:
        return source[: self.start] + self.replacement + source[self.end :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function or 'top of the file'} ({self.kind})"


def faults_in(file: str, source: str) -> list[Fault]:
    """Return every fault that the file can be given, in the order of its text."""
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return sorted(finder.faults, key=lambda fault: (fault.start, fault.kind))


@dataclass
class _Finder(ast.NodeVisitor):
    file: str
    source: str
    faults: list[Fault] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    """Names of the classes and functions around the node."""
    returned: list[str] = field(default_factory=list)
    """What the functions around the node return, as their annotations say."""

    def __post_init__(self) -> None:
        self.lines = self.source.splitlines(keepends=True)
        self.line_starts = [0]
        for line in self.lines:
            self.line_starts.append(self.line_starts[-1] + len(line))

    def position(self, line: int, column_bytes: int) -> int:
        """Return the index in the source: `ast` counts columns in bytes of UTF-8."""
        text = self.lines[line - 1]
        if not text.isascii():
            column_bytes = len(text.encode()[:column_bytes].decode())
        return self.line_starts[line - 1] + column_bytes

    def span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        end = self.position(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self.position(node.lineno, node.col_offset), end

    def text(self, node: ast.stmt | ast.expr) -> str:
        start, end = self.span(node)
        return self.source[start:end]

    def add(self, kind: str, line: int, start: int, end: int, replacement: str) -> None:
        function = ".".join(self.around)
        self.faults.append(Fault(self.file, function, kind, line, start, end, replacement))

    def add_between(
        self,
        kind: str,
        first: ast.expr,
        second: ast.expr,
        pattern: re.Pattern[str],
        replacement: str,
    ) -> None:
        """Add a fault that replaces the operator between two operands."""
        start, end = self.span(first)[1], self.span(second)[0]
        between = COMMENT.sub(lambda comment: " " * len(comment[0]), self.source[start:end])
        operator = pattern.search(between)
        assert operator, f"no operator between operands in {self.file}:{first.lineno}"
        line = (first.end_lineno or first.lineno) + between.count("\n", 0, operator.start())
        self.add(kind, line, start + operator.start(), start + operator.end(), replacement)

    # what is left out

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.around.append(node.name)
        self.visit_block(node.body)
        self.around.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in INERT_FUNCTIONS:
            return
        self.around.append(node.name)
        self.returned.append(ast.unparse(node.returns) if node.returns else "")
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default:
                self.visit(default)
        self.visit_block(node.body)
        self.around.pop()
        self.returned.pop()

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    def visit_Module(self, node: ast.Module) -> None:
        self.visit_block(node.body)

    def visit_block(self, body: list[ast.stmt]) -> None:
        """Visit the statements but for constants and conditions that are about time or memory alone."""
        for statement, following in pairwise([*body, ast.Pass()]):
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                explanation = self.text(following) if _is_docstring(following) else ""
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                if any(RESOURCE_LIMIT.search(name) for name in names) or ONLY_COST.search(explanation):
                    continue
            self.visit(statement)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return
        head = self.head(node)
        if head and ONLY_COST.search(head):
            return
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                self.visit_block(value)
            else:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self.visit(child)

    def head(self, node: ast.AST) -> str:
        """Return the condition of a statement, or the whole of one without a block."""
        match node:
            case ast.If() | ast.While():
                return self.text(node.test)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Return():
                return self.text(node)
            case _:
                return ""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in INERT_KEYWORDS:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if self.text(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    # what is changed

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for operator, (first, second) in zip(node.ops, pairwise(operands), strict=True):
            kind = type(operator)
            self.add_between("comparison", first, second, OPERATOR, OPPOSITE[kind])
            if kind in OTHER_BOUNDARY:
                self.add_between("boundary", first, second, OPERATOR, OTHER_BOUNDARY[kind])
        for operand in operands:
            self.add_compared_texts(operand)
        self.generic_visit(node)

    def add_compared_texts(self, operand: ast.expr) -> None:
        """Let a text that something is compared with lack its last character."""
        texts = operand.elts if isinstance(operand, ast.Tuple | ast.Set | ast.List) else [operand]
        for text in texts:
            if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value:
                self.add("constant", text.lineno, *self.span(text), repr(text.value[:-1]))

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        replacement = "or" if isinstance(node.op, ast.And) else "and"
        for first, second in pairwise(node.values):
            self.add_between("connective", first, second, CONNECTIVE, replacement)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            operand = self.text(node.operand)
            self.add("negation", node.lineno, *self.span(node), f"({operand})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool(value):
                self.add("constant", node.lineno, *self.span(node), str(not value))
            case int(value) | float(value):
                larger = value + 1 if value <= FEW else value * 2
                self.add("constant", node.lineno, *self.span(node), str(larger))

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and self.returned and not isinstance(node.value, ast.Constant):
            value = self.text(node.value)
            replacement = _other_value(self.returned[-1], value)
            if replacement != value:
                self.add("returned value", node.lineno, *self.span(node.value), replacement)
        self.generic_visit(node)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _other_value(annotation: str, value: str) -> str:
    """Return another value of the annotated type; the value itself if none can be told."""
    if annotation == "bool":
        return f"not ({value})"
    if annotation in ("int", "float"):
        return f"({value}) + 1"
    if annotation.endswith("| None"):
        return "None"
    return EMPTY.get(annotation.partition("[")[0], value)


def all_faults(files: Iterator[tuple[PurePosixPath, str]]) -> list[Fault]:
    """Return the faults of many files, each given by its path and its source."""
    return [fault for file, source in files for fault in faults_in(file.as_posix(), source)]
