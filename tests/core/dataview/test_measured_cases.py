"""Cases measured by running the plugin's own code (specs/dataview.md, "Differences from the measured cases")."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from obsidian_mcp.core.dataview import literals, query_syntax
from obsidian_mcp.core.dataview.cells import date_text
from obsidian_mcp.core.dataview.durations import duration_text
from obsidian_mcp.core.dataview.query_parser import QueryParser
from obsidian_mcp.core.dataview.values import link_text
from obsidian_mcp.core.expressions import syntax as nodes
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.values import LinkValue
from obsidian_mcp.errors import QueryInvalid

from .note_vault import NOW, SHARED, NoteVault, cases, needs_cases

EXPRESSIONS = cases("expressions.json")
FIELDS = cases("fields.json")
QUERIES = cases("queries.json")
PARSES = cases("parse.json")
BROKEN_PATTERN = "Invalid regular expression"
INFINITE_PROPERTY = {"expr": "m", "value": "Infinity", "type": "number"}


def groups(found: list[dict[str, Any]], by: str) -> list[str]:
    return sorted({case[by] for case in found}) or ["none"]


def of_group(found: list[dict[str, Any]], by: str, name: str) -> Iterator[dict[str, Any]]:
    return (case for case in found if case[by] == name)


@cache
def expression_vault() -> NoteVault:
    return NoteVault(EXPRESSIONS["expression_files"])


@needs_cases
@pytest.mark.parametrize("group", groups(EXPRESSIONS.get("expressions", []), "group"))
def test_expressions_have_the_measured_values(group: str) -> None:
    wrong = []
    for case in of_group(EXPRESSIONS["expressions"], "group", group):
        try:
            found: Any = expression_vault().value(case["expr"])
        except QueryInvalid as error:
            found = error
        if not agrees(case, found):
            wrong.append((case["expr"], case.get("value", case.get("error")), found))
    assert not wrong


def agrees(case: dict[str, Any], found: Any) -> bool:
    if "parse_error" in case:
        return isinstance(found, QueryInvalid)
    if "error" in case:
        wanted = case["error"]
        wanted = BROKEN_PATTERN if wanted.startswith(BROKEN_PATTERN) else wanted
        return isinstance(found, QueryInvalid) and wanted in found.message
    return bool(found == case["value"] and isinstance(found, type(case["value"])))


@needs_cases
@pytest.mark.parametrize("group", groups(FIELDS.get("fields", []), "group"))
def test_fields_of_notes_have_the_measured_values(group: str) -> None:
    wrong = []
    for case in of_group(FIELDS["fields"], "group", group):
        vault = NoteVault({**FIELDS["field_files"], case["path"]: case["note"]})
        for expected in case["expect"]:
            found = vault.value(expected["expr"], case["path"])
            if found != expected["value"] and expected != INFINITE_PROPERTY:
                wrong.append((case["note"], expected, found))
    assert not wrong


@cache
def query_vault(name: str) -> NoteVault:
    if name == "@dataview-test":
        return NoteVault.of_folder(SHARED / "vaults" / "dataview-test")  # type: ignore[return-value]  # the class's own
    if name == "@recordings":
        found = (json.loads(path.read_text("utf-8")) for path in (SHARED / "recordings").glob("*.json"))
        return NoteVault({recording["filePath"]: recording["fileContents"] for recording in found})
    return NoteVault(QUERIES["vaults"][name])


@needs_cases
@pytest.mark.parametrize("group", groups(QUERIES.get("queries", []), "group"))
def test_queries_have_the_measured_answers(group: str) -> None:
    wrong = []
    for case in of_group(QUERIES["queries"], "group", group):
        found = answer(case)
        wanted = {key: case[key] for key in ("fails", "kind", "columns", "rows", "groups") if key in case}
        if "fails" in wanted:
            wanted = {"fails": True}
        elif not (case.get("ordered", True) or case.get("path_order")):
            wanted["rows"], found["rows"] = ordered(wanted["rows"]), ordered(found.get("rows", []))
        if {key: found.get(key) for key in wanted} != wanted or bool(case.get("left_out")) > found.get("warned", 0):
            wrong.append((case["query"], wanted, found))
    assert not wrong


def answer(case: dict[str, Any]) -> dict[str, Any]:
    try:
        found = query_vault(case["vault"]).run(case["query"], this=case.get("this", ""))
    except QueryInvalid:
        return {"fails": True}
    rows = found.rows
    if case["kind"] == "task":
        rows = [[*row[:5], row[6]] for row in rows]
    elif case.get("left_out"):
        rows = [row for row in rows if not any(isinstance(cell, dict) and "error" in cell for cell in row)]
    data = found.data()
    return {
        "kind": data["kind"],
        "columns": [column["name"] for column in data["columns"]],
        "rows": rows,
        "groups": data.get("groups"),
        "warned": len(found.warnings),
    }


def ordered(rows: list[list[Any]]) -> list[list[Any]]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


# Parsing


@needs_cases
@pytest.mark.parametrize("rule", groups(PARSES.get("parse", []), "rule"))
def test_texts_parse_as_measured(rule: str) -> None:
    wrong = []
    for case in of_group(PARSES["parse"], "rule", rule):
        found = parsed(rule, case["text"])
        if found != (None if case.get("fails") else case.get("ast", case.get("value"))):
            wrong.append((case["text"], case.get("ast", case.get("value", "fails")), found))
    assert not wrong


def parsed(rule: str, text: str) -> Any:
    """What a text is by a rule of the grammar in the form of the cases, None where it does not parse as a whole."""
    if rule == "inlineField":
        return shown(literals.inline_value(text))
    parser = QueryParser(text, NOW)
    rules: dict[str, Callable[[], Any]] = {
        "duration": parser.duration,
        "date": parser.date,
        "number": parser.number,
        "string": parser.string,
        "bool": parser.expression,
        "tag": parser.tag,
        "identifier": parser.name,
        "source": parser.source,
        "queryType": parser.query_kind,
        "comment": parser.comment,
        "namedField": parser.named_expression,
        "sortField": parser.sort_key,
        "query": parser.query,
    }
    found = parser.attempt(rules.get(rule, parser.expression))
    if not parser.at_end:
        return None
    if rule in ("bool", "link"):
        return shown(found.value) if isinstance(found, nodes.Literal) else None
    return shown(found)


def shown(value: Any) -> Any:
    match value:
        case Date():
            return date_text(value)
        case Duration():
            return duration_text(value)
        case LinkValue():
            return link_text(value)
        case list():
            return [shown(item) for item in value]
        case query_syntax.NamedExpression(name, expression):
            return [name, tree(expression)]
        case query_syntax.SortTerm(expression, descending):
            return [tree(expression), "descending" if descending else "ascending"]
        case query_syntax.DataviewQuery():
            return query_tree(value)
        case (
            nodes.Literal()
            | nodes.BareName()
            | nodes.FieldAccess()
            | nodes.IndexAccess()
            | nodes.FunctionCall()
            | nodes.Unary()
        ):
            return tree(value)
        case nodes.Binary() | nodes.ListOf() | nodes.ObjectOf() | nodes.Lambda():
            return tree(value)
        case bool() | float() | str() | None:
            return value
        case _:
            return source_tree(value)


TYPES = {bool: "boolean", float: "number", str: "string", Date: "date", Duration: "duration", LinkValue: "link"}


def tree(node: nodes.Node) -> Any:
    match node:
        case nodes.Literal(value):
            return {"lit": shown(value), "type": TYPES.get(type(value), "null")}
        case nodes.BareName(name):
            return {"var": name.rstrip(".")}
        case nodes.FieldAccess(of, name):
            return {"index": tree(of), "by": {"lit": name, "type": "string"}}
        case nodes.IndexAccess(of, by):
            return {"index": tree(of), "by": tree(by)}
        case nodes.FunctionCall(callee, arguments):
            return {"call": tree(callee), "args": [tree(argument) for argument in arguments]}
        case nodes.Unary(_, operand):
            return {"not": tree(operand)}
        case nodes.Binary(operator, left, right):
            return {"op": operator, "left": tree(left), "right": tree(right)}
        case nodes.ListOf(items):
            return {"list": [tree(item) for item in items]}
        case nodes.ObjectOf(entries):
            return {"object": {key: tree(value) for key, value in entries}}
        case nodes.Lambda(parameters, body):
            return {"lambda": list(parameters), "body": tree(body)}


def source_tree(source: query_syntax.QuerySource) -> Any:
    match source:
        case query_syntax.FromPath(path):
            return {"path": path}
        case query_syntax.FromTag(tag):
            return {"tag": tag}
        case query_syntax.FromLink(path, outgoing):
            return {"linked_from" if outgoing else "links_to": path}
        case query_syntax.FromCsv(path):
            return {"csv": path}
        case query_syntax.ExceptFor(inner):
            return {"not": source_tree(inner)}
        case query_syntax.Combined(operator, left, right):
            word = "and" if operator == "&" else "or"
            return {"op": word, "left": source_tree(left), "right": source_tree(right)}


def query_tree(query: query_syntax.DataviewQuery) -> Any:
    found: dict[str, Any] = {"type": query.kind}
    if query.without_id:
        found["without_id"] = True
    columns = [shown(column) for column in query.columns]
    if query.kind == "table":
        found["columns"] = columns
    elif query.kind == "calendar":
        found["date"] = columns[0]
    elif columns:
        found["value"] = columns[0][1]
    return found | {"from": source_tree(query.source), "then": [command_tree(command) for command in query.commands]}


def command_tree(command: query_syntax.QueryCommand) -> Any:
    match command:
        case query_syntax.Where(condition):
            return {"where": tree(condition)}
        case query_syntax.Sort(keys):
            return {"sort": [shown(key) for key in keys]}
        case query_syntax.LimitRows(amount):
            return {"limit": tree(amount)}
        case query_syntax.GroupBy(key):
            return {"group_by": tree(key.expression), "as": key.name}
        case query_syntax.Flatten(items):
            return {"flatten": tree(items.expression), "as": items.name}
        case query_syntax.SecondFrom(source):
            return {"second_from": source_tree(source)}
