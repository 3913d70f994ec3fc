"""Rules on which the sources are silent or disagree: one named constant each, with the value chosen here.

The number in each comment is the section of the semantics specification; `obsidian` with its console decides them.
"""

from __future__ import annotations

MISSED_RELATIVE_LINK_SEARCHES_ON = False
"""1.4: a `./` or `../` link without an exact hit goes on to the suffix match, without its dots."""

MISSED_ROOTED_LINK_SEARCHES_ON = False
"""1.4 step 7: a link with a leading `/` and no exact hit goes on to the suffix match."""

DISPLAY_EQUAL_TO_TARGET_IS_LEFT_OUT = True
"""1.7: a new wikilink whose display equals its target is written without the display."""

RENAME_SHORTENS_LINKS = True
"""7, 16.2: under `shortest`, a link with folders to a moved file becomes the bare name where that is unique."""

RENAME_KEEPS_WRITTEN_MD = True
"""7: `[[A.md]]` keeps its `.md` and `[x](A)` goes on without, though a new link would be written otherwise."""

SEARCH_UNCLOSED_ENDS_WITH_QUERY = True
"""5.1: a quote, bracket or parenthesis that is not closed ends with the query; False makes it an error."""

SEARCH_UNCLOSED_REGEX_IS_A_WORD = True
"""5.1: a `/` without a second one is a plain character (`/usr`); False makes it an error."""

SEARCH_LONE_HYPHENS_ARE_A_WORD = True
"""5.1: `-` or `---` before white space or the end is text; False makes it an error."""

SEARCH_UNKNOWN_OPERATOR_IS_A_WORD = True
"""5.1: `foo:bar` looks for that text; False makes it an error."""

SEARCH_REGEX_IGNORES_CASE = True
"""5.3: a regular expression ignores case unless `match-case:` is on."""

SEARCH_FRONTMATTER_IS_CONTENT = True
"""5.2: the text of the frontmatter is searched with the rest of the content."""

SEARCH_PROPERTY_WORD_IS_PART = True
"""5.4: the word in `[property:word]` is a part of the value; False asks for the whole value."""

SEARCH_TEXT_BEFORE_FIRST_HEADING_IS_A_SECTION = True
"""5.4: `section:` also looks at what stands before the first heading."""

SEARCH_NEGATIVE_LISTS_KINDS = frozenset({"note", "canvas"})
"""5.6 row 27: kinds of file that a query without any positive term lists."""

OPEN_COMMENT_RUNS_TO_THE_END = True
"""1.2, 9: `%%` at the start of a line that nothing closes hides the blocks below it, as an open code fence does."""

WIKILINK_TARGET_IS_TRIMMED = True
"""1.1: white space around the target of `[[ a ]]` does not count."""

TAG_MAY_FOLLOW_A_TAG = True
"""3.2: `#a#b` are two tags; False makes it one."""

TASK_MARK_MAY_BE_ASTRAL = True
"""9: "exactly one character" of a task is one code point; False makes it one UTF-16 unit, so no emoji."""

DATETIME_INFERRED = False
"""4.3: an unassigned `2024-01-02T10:30` is a datetime; measured as text on 1.12."""

UNRESOLVED_LINK_IS_A_WAY_OUT = True
"""14: a note whose only links lead nowhere is no dead end."""

CANVASES_IN_LINK_MAPS = True
"""1.6: links of canvases are in `resolvedLinks` and `unresolvedLinks`."""

TAGS_OF_CANVASES_COUNT = False
"""10: tags on the cards of canvases are among the tags of the vault; they are found either way."""
