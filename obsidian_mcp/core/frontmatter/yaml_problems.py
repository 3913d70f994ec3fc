"""What is wrong with a YAML text, said in plain words."""

from __future__ import annotations

import yaml

_COLON = (
    "text with a colon and a space in it must be quoted, and a property must not be indented more "
    "than the others"
)
_NEIGHBOURS = (
    "it is not in line with the properties around it, or text goes on after a quote or bracket"
)
_IN_PLAIN_WORDS = {
    "mapping values are not allowed in this context": _COLON,
    "mapping values are not allowed here": _COLON,
    "found character that cannot start any token": (
        "text must be quoted that begins with @, ` or %, or with a tab"
    ),
    "did not find expected alphabetic or numeric character": (
        "text that begins with * or & must be quoted"
    ),
    "did not find expected key": _NEIGHBOURS,
    "did not find expected node content": (
        "text that begins with a bracket or a comma must be quoted"
    ),
    "block sequence entries are not allowed in this context": (
        "a list item must be on a line of its own"
    ),
}
_UNFINISHED = {
    "could not find expected ':'": "it is no 'name: value'",
    "found unexpected end of stream": "a quote is not closed",
    "did not find expected ',' or ']'": "a [ is not closed, or a comma is missing",
    "did not find expected ',' or '}'": "a { is not closed, or a comma is missing",
}
"""Problems that are reported at the start of their construct."""


class InvalidYaml(ValueError):
    """The text is not a YAML mapping.

    `problem` is a clause without a full stop, `line` counts from 1 in the text.
    """

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class NoValue(ValueError):
    """The text contains only white space and comments, or a null."""


def explain_problem(error: yaml.MarkedYAMLError) -> InvalidYaml:
    """Return an error of PyYAML in plain words, with the line of the problem."""
    problem = error.problem or "it is not valid YAML"
    mark = error.problem_mark or error.context_mark
    if problem in _UNFINISHED:
        mark = error.context_mark or mark
    words = _UNFINISHED.get(problem) or _IN_PLAIN_WORDS.get(problem, problem)
    return InvalidYaml(words, mark.line + 1 if mark else 1)
