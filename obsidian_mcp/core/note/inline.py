"""The inline syntax of a note: links, embeds, tags, footnote references, code, math, comments.

One pass over each region of text. Every search that can fail for the rest of a region is
remembered, so that ten thousand unclosed brackets, dollars or comments cost no more than as many
letters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.call import UNCHECKED, checkpoint
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.wikilink import match_wikilink, split_subpath, split_wikilink

from .elements import Area, AreaKind, NamedPart, Region, TextTag
from .links import (
    Link,
    Style,
    decode,
    find_destination,
    is_internal,
)
from .markdown import HTML_TAG
from .region_text import RegionText

EMPHASIS_REACH = 1000
"""Maximum distance, in characters, from a tag to the other mark of its emphasis."""
FOOTNOTE_REACH = 1002
"""Maximum length, in characters, of a footnote reference with its brackets."""

_EMPHASIS = frozenset("*_=~")
_SCHEMES = ("http", "https")
_LONGEST_SCHEME = max(map(len, _SCHEMES))
_trigger = re.compile(r"[\\`<$%\[\]#:]")
_punctuation = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_white_space = re.compile(f"[{tags.WHITE_SPACE}]").match
_code_runs = re.compile(r"`+").finditer
_footnote_ref = re.compile(rf"\[\^([^\s\]]{{1,{FOOTNOTE_REACH - 3}}})\]").match
_html = re.compile(rf"{HTML_TAG}|<![A-Za-z]+\s+[^>]*>").match
_autolink = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>").match
_url = re.compile(r"://[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+(?::[0-9]+)?(?:[/?#][^\s<]*)?").match
_url_in_link = re.compile(
    r"://[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+(?::[0-9]+)?(?:[/?#][^\s<\[\]]*)?"
).match


@dataclass(slots=True)
class Inlines:
    """All inline elements of a note, in document order."""

    links: list[Link] = field(default_factory=list)
    tags: list[TextTag] = field(default_factory=list)
    footnote_refs: list[NamedPart] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    external_links: list[Span] = field(default_factory=list)


def read_inlines(body: str, regions: Iterable[Region]) -> Inlines:
    """Return the inline elements of these regions of the body.

    Raises: OperationTimeout.
    """
    scanner = _InlineScanner(body)
    for number, region in enumerate(regions, 1):
        if not number % UNCHECKED:
            checkpoint()
        if trigger := _trigger.search(body, region.start, region.end):
            scanner.scan(region, trigger.start())
    inlines = scanner.elements
    for listed in (inlines.links, inlines.tags, inlines.footnote_refs):
        listed.sort(key=lambda element: element.span.start)
    return inlines


@dataclass(slots=True)
class _Bracket:
    """An open `[`, which a later `](` may turn into a link."""

    at: int
    image: bool
    tag: TextTag | None = None
    """A tag directly after the `[`; it counts only if the bracket becomes a link (TAG-06)."""


class _InlineScanner:
    """Reads the regions in order.

    Offsets count in the text of the region (`RegionText`); `_span` leads back to the note.
    """

    def __init__(self, body: str) -> None:
        self.elements = Inlines()
        self._body = body
        self._steps = 0
        """Characters that were looked at."""

    def _enter(self, region: Region) -> None:
        """Begin a region; what is remembered of the one before is forgotten."""
        self._cell = region.cell
        joined = RegionText(self._body, region)
        self._text, self._first, self._end = joined.text, joined.first, joined.end
        self._span, self._find = joined.span, joined.find
        self._fresh = self._first
        """Offset at which a tag may start (TAG-05).

        It is the start of the region, or the end of another element.
        """
        self._escaped = -1
        """Offset of the last character escaped by a backslash."""
        self._brackets: list[_Bracket] = []
        self._comment_end = -1
        self._code_runs: dict[int, list[int]] | None = None
        """Offsets of the runs of backticks of each length."""

    def scan(self, region: Region, first_trigger: int) -> None:
        """Read the elements of a region from left to right.

        Before `first_trigger`, an offset of the note, there are none.
        Only characters that can begin or end an element are looked at. Each method reads one
        element and returns where to go on, so that nothing inside of code or a link is read again.
        """
        self._enter(region)
        text = self._text
        read_to = self._first
        # the text of several parts has offsets of its own
        begin = self._first if region.parts else first_trigger
        for trigger in _trigger.finditer(text, begin, self._end):
            at = trigger.start()
            if at < read_to:
                continue
            self._steps += 1
            if not self._steps % UNCHECKED:
                checkpoint()
            match text[at]:
                case "#":
                    read_to = self._tag(at)
                case "[":
                    read_to = self._bracket(at)
                case "]":
                    read_to = self._closing_bracket(at) if self._brackets else at + 1
                case ":":
                    read_to = self._address(at) if text.startswith("://", at) else at + 1
                case "`":
                    read_to = self._code(at)
                case "\\":
                    read_to = self._escape(at)
                case "%":
                    read_to = self._comment(at)
                case "$":
                    read_to = self._math(at)
                case _:
                    read_to = self._html(at)

    def _area(self, kind: AreaKind, start: int, end: int) -> int:
        self.elements.areas.append(Area(kind, False, "", self._span(start, end)))
        self._fresh = end
        return end

    def _escape(self, at: int) -> int:
        if at + 1 < self._end and self._text[at + 1] in _punctuation:
            self._escaped = at + 1
            self._fresh = at + 2
            return at + 2
        return at + 1

    # Each of these methods reads the element that may start at `at`, and returns the offset at
    # which to continue.

    def _tag(self, at: int) -> int:
        """Read a tag (TAG-05 to TAG-08).

        A tag right behind a bracket counts only if the bracket turns out to begin a link.
        """
        text = self._text
        match = tags.match(text, at, self._end)
        if not match:
            return at + 1
        before = text[at - 1] if at > self._first else " "
        bracket: _Bracket | None = None
        stop = match.end()
        if at != self._fresh and not _white_space(before):
            if before == "[" and self._brackets and self._brackets[-1].at == at - 1:
                bracket = self._brackets[-1]
            elif before in _EMPHASIS and (closing := self._emphasis(at)):
                stop = min(stop, closing) if before == "_" else stop
            else:
                return stop
        name = tags.name(text[at + 1 : stop])
        if not name:
            return stop
        stop = at + 1 + len(name)
        tag = TextTag(name, self._span(at, stop))
        if bracket:
            bracket.tag = tag
        else:
            self.elements.tags.append(tag)
        self._fresh = stop
        return stop

    def _emphasis(self, at: int) -> int:
        """Return the end of the emphasis whose mark is directly before `at`.

        Return the region's end if an emphasis ends before `at`, and 0 without any.
        """
        text, mark = self._text, self._text[at - 1]
        begin = at - 1
        while begin > self._first and text[begin - 1] == mark:
            begin -= 1
        run = text[begin:at]
        if mark in "=~" and len(run) < 2:
            return 0
        closing = text.find(run, at + 1, min(self._end, at + EMPHASIS_REACH))
        word_before = begin > self._first and text[begin - 1].isalnum()
        while closing >= 0 and not (mark == "_" and word_before):
            after = closing + len(run)
            if mark != "_" or after >= self._end or not text[after].isalnum():
                return closing
            closing = text.find(run, after, min(self._end, at + EMPHASIS_REACH))
        opening = text.rfind(run, max(self._first, begin - EMPHASIS_REACH), begin)
        return self._end if opening >= 0 and not text[opening + len(run)].isspace() else 0

    def _bracket(self, at: int) -> int:
        """Read a wikilink or footnote; any other bracket may turn out to begin a Markdown link."""
        text = self._text
        image = at > self._first and text[at - 1] == "!" and self._escaped != at - 1
        if text.startswith("[[", at) and not text.startswith("[", at + 2):
            if match := match_wikilink(text, at, self._end):
                target, display = split_wikilink(match[1], cell=self._cell)
                if target.strip():
                    whole = Span(at - image, match.end())
                    inner = Span(at + 2, at + 2 + len(target))
                    self._add_link(
                        "wiki", target.strip(), whole, inner, embed=image, display=display
                    )
                return match.end()
        elif 0 < self._find("]", at) - at < FOOTNOTE_REACH and (
            reference := _footnote_ref(text, at, self._end)
        ):
            self.elements.footnote_refs.append(
                NamedPart(reference[1], self._span(at, reference.end()))
            )
            self._fresh = reference.end()
            return reference.end()
        self._brackets.append(_Bracket(at, image))
        return at + 1

    def _closing_bracket(self, at: int) -> int:
        """Read the Markdown link whose text ends here, if it has a destination.

        Links inside of the text of another link were read before it. They are taken out again,
        because the outer one is what the app uses; embeds and wikilinks stay.
        """
        opening = self._brackets.pop()
        if not self._text.startswith("(", at + 1, self._end):
            return at + 1
        place = find_destination(self._text, at + 1, self._end)
        if place is None:
            return at + 1
        if opening.tag:
            self.elements.tags.append(opening.tag)
        links = self.elements.links
        start = opening.at - opening.image
        if not opening.image:
            # A link contains no other Markdown link: the outer one is used.
            whole = self._span(start, place.end)
            inside = []
            while links and whole.start < links[-1].span.start < whole.end:
                link = links.pop()
                if link.embed or link.style == "wiki":
                    inside.append(link)
            links += reversed(inside)
        raw = self._text[place.start : place.stop]
        target = decode(raw)
        if is_internal(target):
            whole, inner = Span(start, place.end), Span(place.start, place.stop)
            label = self._text[opening.at + 1 : at]
            self._add_link("markdown", target, whole, inner, embed=opening.image, display=label)
        else:
            self.elements.external_links.append(self._span(start, place.end))
        self._fresh = place.end
        return place.end

    def _add_link(
        self,
        style: Style,
        target: str,
        whole: Span,
        inner: Span,
        *,
        embed: bool,
        display: str | None,
    ) -> None:
        path, subpath = split_subpath(target)
        span = self._span(whole.start, whole.end)
        target_span = self._span(inner.start, inner.end)
        self.elements.links.append(
            Link(
                style,
                embed,
                path,
                subpath,
                display,
                span.slice(self._body),
                span,
                target_span,
            )
        )
        self._fresh = whole.end

    def _code(self, at: int) -> int:
        if self._code_runs is None:
            self._code_runs = {}
            for run in _code_runs(self._text, at, self._end):
                self._code_runs.setdefault(run.end() - run.start(), []).append(run.start())
        width = 1
        while self._text.startswith("`", at + width, self._end):
            width += 1
        runs = self._code_runs.get(width, [])
        k = bisect_right(runs, at)
        return self._area("code", at, runs[k] + width) if k < len(runs) else at + width

    def _math(self, at: int) -> int:
        double = self._text.startswith("$$", at)
        begin = at + 1 + double
        if self._text.startswith((" ", "\t"), begin) or begin >= self._end:
            return begin
        closing = self._find("$$" if double else "$", begin)
        return self._area("math", at, closing + 1 + double) if closing >= 0 else begin

    def _comment(self, at: int) -> int:
        if not self._text.startswith("%%", at, self._end):
            return at + 1
        self._fresh = at + 2
        if at != self._comment_end:
            self._comment_end = self._find("%%", at + 2)
            if self._comment_end >= 0:
                self.elements.areas.append(
                    Area("comment", False, "", self._span(at, self._comment_end + 2))
                )
        return at + 2

    def _address(self, at: int) -> int:
        """Skip a bare web address, which contains no tags and no links."""
        if not self._text[max(at - _LONGEST_SCHEME, 0) : at].lower().endswith(_SCHEMES):
            return at + 1
        address = (_url_in_link if self._brackets else _url)(self._text, at, self._end)
        if not address:
            return at + 1
        self._fresh = address.end()
        return address.end()

    def _html(self, at: int) -> int:
        text = self._text
        if text.startswith("<!--", at):
            closing = self._find("-->", at + 4)
            return self._area("html", at, closing + 3) if closing >= 0 else at + 4
        if self._find(">", at) < 0:
            return at + 1
        if address := _autolink(text, at, self._end):
            self._fresh = address.end()
            return address.end()
        tag = _html(text, at, self._end)
        return self._area("html", at, tag.end()) if tag else at + 1
