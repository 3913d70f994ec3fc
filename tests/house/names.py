"""Measures of names: vague values, functions that a search does not find or that are no verbs, and
types that bear one name."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .source import Function, Place, Source, decorators, parameters

_WORDS = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))
VAGUE, VERBS, CONVERSIONS, PREPOSITIONS, PARTICIPLES, NO_PARTICIPLES, ALONE, PREPOSITIONS_FIRST = (
    frozenset(_WORDS[name].split())
    for name in (
        "vague",
        "verbs",
        "conversions",
        "prepositions",
        "participles",
        "no_participles",
        "alone",
        "prepositions_first",
    )
)
SEARCHLESS = ("read", "run", "answer", "holds")
"""Names of functions that a search for their users does not find, because so many bear them."""
OUTSIDE = {
    "run": "threading.Thread",
    "connection_made": "asyncio.Protocol",
    "connection_lost": "asyncio.Protocol",
    "data_received": "asyncio.Protocol",
    "main_loop": "uvicorn.Server",
    "aclose": "anyio's streams",
}
"""Methods of classes that another package calls by this name, and whose interface it is."""
DROP_IN_COMMANDS = ("obsidian_mcp/cli/headless/", "call: DropInCall")
"""Functions of these files with this one parameter are the commands of Obsidian's own program.
`commands.txt` names them, as Obsidian does: `read`, `recents`, `unresolved`."""
YES_OR_NO = {"is", "are", "has", "can", "may", "must", "should", "was", "were", "would", "does", "will"}
PROPERTIES = {"property", "cached_property", "functools.cached_property"}
TYPE_NAME = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")
"""A name in the form of a class; constants are in capitals, type variables such as `T` one letter."""


@dataclass(frozen=True)
class LocalNames:
    """The local names of a package."""

    count: int
    vague: list[Place]

    @property
    def share(self) -> float:
        return len(self.vague) / self.count if self.count else 0.0


def local_names(sources: list[Source]) -> LocalNames:
    """Return how many local names there are, and where the vague ones are.

    A local name is a parameter, or what a function binds: by an assignment, a loop, a `with`, an
    `except`, a pattern, a comprehension or a lambda in it. In each function a name counts once,
    however often it is bound; a function inside another is one of its own. `self`, `cls` and names
    that begin with an underscore do not count, and neither does `other` in a method of an operator,
    such as `__eq__`, where Python's documentation calls it so, nor `left` beside `right`: a side.
    """
    count, vague = 0, []
    for source in sources:
        for function in source.functions:
            names = _bound_in(function)
            count += len(names)
            vague += [
                source.place(node, name)
                for name, node in names.items()
                if name in VAGUE and not _is_usual(name, function, names)
            ]
    return LocalNames(count, vague)


def _is_usual(name: str, function: Function, names: Mapping[str, object]) -> bool:
    if name == "left":
        return "right" in names
    return name == "other" and function.name.startswith("__")


def _bound_in(function: Function) -> dict[str, ast.stmt | ast.expr | ast.arg]:
    """Return the local names of a function, each with the node that binds it first."""
    names: dict[str, ast.stmt | ast.expr | ast.arg] = {}

    def bind(name: str | None, node: ast.stmt | ast.expr | ast.arg) -> None:
        if name and not name.startswith("_"):
            names.setdefault(name, node)

    def visit(node: ast.AST, around: ast.stmt | ast.expr) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return
            case ast.Name(ctx=ast.Store()):
                bind(node.id, node)
            case ast.arg():  # of a lambda
                bind(node.arg, node)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                bind(node.name, around)
        for child in ast.iter_child_nodes(node):
            visit(child, node if isinstance(node, ast.stmt | ast.expr) else around)

    for parameter in parameters(function):
        if parameter.arg not in ("self", "cls"):
            bind(parameter.arg, parameter)
    for statement in function.body:
        visit(statement, statement)
    return names


def functions_called(name: str, sources: list[Source]) -> Iterator[Place]:
    for source in sources:
        for function in source.functions:
            if function.name == name:
                yield source.place(function, name)


def shared_type_names(sources: list[Source]) -> Iterator[Place]:
    """Yield the classes, and the aliases of modules, whose name another one has as well.

    Whether a name is private makes no difference: a search for `Reader` lists `_Reader` too, and
    a reader of the code meets both.
    """
    places: dict[str, list[Place]] = defaultdict(list)
    for source in sources:
        classes = [(node.name, node) for node in source.nodes if isinstance(node, ast.ClassDef)]
        for name, node in (*classes, *_aliases(source.tree.body)):
            places[name.lstrip("_")].append(source.place(node, name))
    for name in sorted(places):
        if len(places[name]) > 1:
            yield from places[name]


def _aliases(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if TYPE_NAME.fullmatch(name.lstrip("_")):
                    yield name, node
            case ast.If():  # `if TYPE_CHECKING`
                yield from _aliases(node.body)
                yield from _aliases(node.orelse)


def functions_that_are_no_verbs(sources: list[Source]) -> Iterator[Place]:
    """Yield the functions whose name does not begin with a verb, as far as a list of verbs tells.

    A conversion (`to_json`) is none either, but is usual in Python. In the third person a verb is
    fine where the answer is yes or no: `holds`. Left out are properties, which are values, special
    methods, and functions with a decorator that takes arguments: they are named for what they are
    registered as, such as a tool or a function of a query language.
    """
    for source in sources:
        for function in source.functions:
            if not (_is_named_outside(source, function) or _is_named_by_others(function) or _is_verb(function)):
                yield source.place(function, function.name)


def functions_that_are_participles(sources: list[Source]) -> Iterator[Place]:
    """Yield those of the functions that are no verbs whose name is a participle, without a noun.

    `applied`, `linking` or `wrapped_in` says neither what is done nor what is returned;
    `broken_links` says that.
    """
    for place in functions_that_are_no_verbs(sources):
        first, second = _first_words(place.name)
        has_ending = first.endswith(("ed", "ing")) and first not in NO_PARTICIPLES
        if (has_ending or first in PARTICIPLES) and (not second or second in PREPOSITIONS):
            yield place


def unclear_functions(sources: list[Source]) -> Iterator[Place]:
    """Yield the functions whose name says neither what they do nor what they return.

    The rule, which `test_house` holds for the program:

    - A function that does something and returns nothing begins with a verb: `apply_edits`.
    - One that answers yes or no reads as an assertion: `is_allowed`, `contains`, `names_vault`.
    - One that returns a thing may be called by the noun, as in Python's library and httpx
      (`path_of`, `nearest_texts`, `weekday`), but not by a participle (`allowed`), a preposition
      (`below`) or a pronoun or adjective alone (`others`, `whole`): those are the names of a
      value's state, and leave out what the value is.
    - None is called `read`, `run`, `answer` or `holds`: a search for its users would list those of
      all others.

    Left out are properties, which are values; special methods; functions that are registered under
    their name, such as tools and the commands of the drop-in; and methods whose name is another
    package's (`OUTSIDE`).
    """
    participles = {(place.file, place.line) for place in functions_that_are_participles(sources)}
    for source in sources:
        for function in source.functions:
            if _is_named_by_others(function) or _is_named_outside(source, function):
                continue
            if (source.file, function.lineno) in participles:
                advice = "a participle; write what it does (`apply_…`) or what it returns"
            else:
                advice = _advice(function)
            if advice:
                yield source.place(function, f"{function.name} is {advice}")


def _advice(function: Function) -> str:
    """Return what is wrong with a name that is no participle; empty where nothing is."""
    first, second = _first_words(function.name)
    if function.name in SEARCHLESS:
        return f"the name of too many; write what it is about (`{first}_…`)"
    if not second and first in ALONE:
        return f"an adjective or pronoun alone; write whose (`{first}_…`, `find_{first}`)"
    if first in PREPOSITIONS_FIRST and not _is_verb(function):
        return "a preposition; write what stands there (`place_…`, `files_…`) or what it does"
    returned = ast.unparse(function.returns) if function.returns else ""
    if returned == "bool" and first not in YES_OR_NO and _infinitive(first) not in VERBS:
        return "no assertion, and answers yes or no; write `is_…`, `has_…` or a verb"
    if returned in ("None", "NoReturn") and first not in VERBS | CONVERSIONS:
        return "no verb, and returns nothing; write what it does"
    return ""


def _is_named_outside(source: Source, function: Function) -> bool:
    folder, parameter = DROP_IN_COMMANDS
    is_command = source.file.startswith(folder) and ast.unparse(function.args) == parameter
    return is_command or (function in source.methods and function.name in OUTSIDE)


def _first_words(name: str) -> tuple[str, str]:
    words = name.strip("_").split("_")
    return words[0], words[1] if len(words) > 1 else ""


def _is_named_by_others(function: Function) -> bool:
    return (
        function.name.startswith("__")
        or function.name == "main"
        or any(isinstance(node, ast.Call) for node in function.decorator_list)
        or any(name in PROPERTIES or name.endswith(".setter") for name in decorators(function))
    )


def _is_verb(function: Function) -> bool:
    first, second = _first_words(function.name)
    if second == "of":  # `count_of` is a noun
        return False
    if first in VERBS or first in CONVERSIONS:
        return True
    answers_yes_or_no = function.returns is not None and ast.unparse(function.returns) == "bool"
    return answers_yes_or_no and _infinitive(first) in VERBS


def _infinitive(verb: str) -> str:
    """Return the verb of which a word can be the third person: `holds`, `matches`, `carries`."""
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if verb.endswith("es") and verb[:-2] in VERBS:
        return verb[:-2]
    return verb.removesuffix("s")
