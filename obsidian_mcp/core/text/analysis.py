"""Analysis of text for search: case folding, the words of a text, and their stems.

Folding (QUERY-20 to QUERY-23) is one rule for words, phrases and regular expressions: Unicode
simple case folding, one code point to one code point, so that a position in the folded text is a
position in the text.

A word (SEARCH-20 to SEARCH-25) is a run of letters, digits and marks of a script that puts spaces
between words. Every letter of another script (Chinese, Japanese, Thai, …) is a word by itself, and
so is every symbol outside ASCII. Whatever stands between two words is a word of its own, GAP,
unless it is what is usual there: one space between words with spaces, else nothing. So a text
without gaps occurs where its words follow each other, and nowhere else.

Stems (SEARCH-52) are Snowball's, for the languages that a vault is written in. Words are stemmed on
demand, and only those that begin alike: a vault has too many words to stem them all beforehand.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import Any, NamedTuple

import regex

from .table_file import read_rows

_DOTTED_CAPITAL_I = "\u0130"
"""The one letter whose lower case is two code points long."""

_DOTLESS_I = "\u0131"
"""The `regex` module pairs this letter with `I`. `fold` does not, because `I` is the capital of
`i`."""

_PAIRS = (
    # Letters with the same capital (Unicode CaseFolding.txt, status C and S), each before what it
    # folds to.
    "µμ ſs \u0345ι \u1fbeι \u1fd3\u0390 \u1fe3\u03b0 ϐβ ϵε ϑθ ϰκ ϖπ ϱρ ςσ ϕφ \u1c80в \u1c81д "
    "\u1c82о \u1c83с \u1c84т \u1c85т \u1c86ъ \u1c87ѣ \u1c88ꙋ ẛṡ \ufb05\ufb06 "
    # Capitals younger than the Unicode tables of the oldest Python in use.
    "\ua7cb\u0264 \ua7d2\ua7d3 \ua7d4\ua7d5 \ua7dc\u019b \ua7dd\u0277 \ua7e2\u027c \uab6c\uab4b "
    "\uab6d\uab4c \U0001df95ß"
)
_TABLE = str.maketrans({pair[0]: pair[1] for pair in _PAIRS.split()})
_VARIANT = re.compile(f"[{''.join(map(chr, _TABLE))}]")
_ASCII = bytes(range(128))
_LONG_TEXT = 200
"""Code points from which it pays to look whether a text is mostly ASCII."""
_MOSTLY_ASCII = 1.2
"""Bytes of UTF-8 per code point below which a text is mostly ASCII."""

CONTINUOUS = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u3006\u30FC\uFF70"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
"""Letters of scripts that put no spaces between words, for a class of the `regex` module."""
SPACED = rf"(?![{CONTINUOUS}])[\p{{L}}\p{{N}}\p{{M}}]"
"""A letter, digit or combining mark of a script that puts spaces between words (semantics 5.3)."""
_IS_SPACED = regex.compile(SPACED)


def fold(text: str) -> str:
    """Return `text` case-folded, with the same number of code points."""
    if text.isascii():
        return text.lower()
    if len(text) > _LONG_TEXT:
        data = text.encode("utf-8", "surrogatepass")
        if len(data) < _MOSTLY_ASCII * len(text):
            return _fold_mostly_ascii(data.lower())
    text = text.replace(_DOTTED_CAPITAL_I, "i").lower()
    return text.translate(_TABLE) if _VARIANT.search(text) else text


def _fold_mostly_ascii(data: bytes) -> str:
    """Fold the non-ASCII letters of a text, given in UTF-8 with ASCII folded, letter by letter.

    Such a text has few different letters, so this takes a third of the time of folding it whole.
    """
    folded = data.decode("utf-8", "surrogatepass")
    for char in set(data.translate(None, _ASCII).decode("utf-8", "surrogatepass")):
        if (folded_char := _fold_one(char)) != char:
            folded = folded.replace(char, folded_char)
    return folded


@lru_cache(maxsize=8192)
def _fold_one(char: str) -> str:
    return "i" if char == _DOTTED_CAPITAL_I else char.lower().translate(_TABLE)


def is_caseless(text: str) -> bool:
    """Return whether no letter of `text` has another case."""
    return text.lower() == text == text.upper()


@lru_cache(maxsize=4096)
def is_spaced(char: str) -> bool:
    """Return whether a character belongs to a script that separates words by spaces."""
    return _IS_SPACED.match(char) is not None


@lru_cache(maxsize=512)
def substring(text: str, *, match_case: bool) -> regex.Pattern[str]:
    """Return a pattern that finds `text` anywhere."""
    return regex.compile(literal(text, match_case=match_case), _flags(text, match_case=match_case))


@lru_cache(maxsize=512)
def phrase(text: str, *, match_case: bool) -> regex.Pattern[str]:
    """Return a pattern that finds `text` where it does not continue a word at either end.

    Only an end that is itself part of a spaced word needs a boundary: `"- [ ]"` and `"東京"` match
    anywhere.
    """
    before = rf"(?<!{SPACED})" if text and _IS_SPACED.match(text[0]) else ""
    after = rf"(?!{SPACED})" if text and _IS_SPACED.match(text[-1]) else ""
    return regex.compile(
        before + literal(text, match_case=match_case) + after, _flags(text, match_case=match_case)
    )


def literal(text: str, *, match_case: bool) -> str:
    """Return `text` as source for the `regex` module, under the flag IGNORECASE unless
    `match_case`."""
    folded = text if match_case else fold(text)
    if match_case or folded.isascii():
        return regex.escape(folded, special_only=True)
    return "".join(map(_literal, folded))


def _literal(char: str) -> str:
    source = regex.escape(char, special_only=True)
    if char == _DOTLESS_I or (not char.isascii() and unicodedata.category(char) == "Cn"):
        return f"(?-i:{source})"  # the module's tables may know a pair that `fold` does not
    return source


def _flags(text: str, *, match_case: bool) -> int:
    # Without the flag the module searches a caseless text faster.
    return int(regex.VERSION0 | (0 if match_case or is_caseless(text) else regex.IGNORECASE))


LONGEST_WORD = 100
"""Bytes of UTF-8. Longer words, such as encoded data, are not in the vocabulary.

Every search for part of a word scans the texts that have such a word.
"""

GAP = "\x80"
"""Replaces every unusual gap between two words. It is a control character, so it is never a word of
a text."""

_GAP_BETWEEN = f" {GAP} ".encode()
_LINE_END = f" {GAP}\n".encode()
_BOUND = "\v"
_SEPARATORS = bytes(
    byte if byte > 127 or chr(byte).isalnum() or chr(byte) in " \n" else 11 for byte in range(256)
)
"""Translates UTF-8 bytes: everything between words except spaces and line ends becomes _BOUND."""
_SPACES = re.compile(b"  +")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_ALONE = regex.compile(rf"[{CONTINUOUS}]+|[^\p{{L}}\p{{N}}\p{{M}}\p{{Z}}\p{{C}}]+")
_BLANK = regex.compile(r"[\p{Z}\p{C}]")
_SHORT_RUN = 4
"""Code points of foreign runs that are remembered: such runs are often repeated."""
_JOINT = "\x81"
"""Separates adjacent words without a gap while the text still contains its own spaces."""
_JOINT_BYTES = _JOINT.encode()
_LETTERS_ONLY = bytes(
    byte if byte > 127 else ord(chr(byte).lower()) if chr(byte).isalnum() else 32
    for byte in range(256)
)
"""Translates UTF-8 bytes: word boundaries become spaces, and ASCII is folded."""
_MARK = regex.compile(r"\p{M}+")

VERSION = f"{unicodedata.unidata_version} {regex.__version__}"
"""Another version of these tables may produce other tokens for the same text."""

_UMLAUTS = re.compile("[äöü]")
_WRITTEN_OUT = {"ä": "ae", "ö": "oe", "ü": "ue"}
_LETTERS = str.maketrans(
    {"ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}
)


def spread(text: str) -> str:
    """Return the text with words and gaps separated by spaces, as the index's tokenizer expects.

    ASCII is not folded, because the tokenizer folds it. A line end stands behind a gap that
    contains line ends, and nowhere else.
    """
    if text.isascii():
        return _with_gaps(text.encode()).decode()
    # by lines: in most texts few of them have characters outside ASCII
    lines = [
        line if line.isascii() else _FOREIGN.sub(_spread, line) for line in fold(text).split("\n")
    ]
    joined = "\n".join(lines).encode()
    if _JOINT_BYTES not in joined:
        return _with_gaps(joined).decode()
    joined = joined.replace(b" " + _JOINT_BYTES, b"\v").replace(_JOINT_BYTES + b" ", b"\v")
    return _with_gaps(joined).replace(_JOINT_BYTES, b" ").decode()


def _with_gaps(data: bytes) -> bytes:
    data = data.translate(_SEPARATORS)
    if b"  " in data:
        data = _SPACES.sub(b"\v", data)
    lines = [
        _GAP_BETWEEN.join([part for part in line.split(b"\v") if part and part != b" "])
        for line in data.split(b"\n")
        if line
    ]
    return _LINE_END.join([line for line in lines if line])


def _spread(run: re.Match[str]) -> str:
    return _spread_short(run[0]) if len(run[0]) <= _SHORT_RUN else _spread_run(run[0])


def _spread_run(run: str) -> str:
    run = _BLANK.sub(_BOUND, run)
    return _ALONE.sub(lambda letters: f"{_JOINT}{_JOINT.join(letters[0])}{_JOINT}", run)


_spread_short = lru_cache(maxsize=4096)(_spread_run)


def words(spread_text: str) -> list[bytes]:
    """Return the folded words of a text after `spread`, in order, as UTF-8.

    They are bytes because comparing bytes takes half the time.
    """
    return spread_text.encode().translate(_LETTERS_ONLY).split()


class SoughtWords(NamedTuple):
    """The words of a search text: the first may end a longer word, and the last may begin one."""

    words: tuple[str, ...]
    open_start: bool
    open_end: bool
    whole: bool
    """Whether the text consists of exactly these words, so that every occurrence of the words is a
    match."""


def parse_sought_words(text: str, *, bounded: bool = False) -> SoughtWords:
    """Return the words of a folded text that is searched for.

    `bounded`: the text begins and ends at the bounds of words, where it has letters there, so its
    ends are not open.
    """
    text_words = tuple(word.decode() for word in words(spread(text)))
    return SoughtWords(
        text_words,
        open_start=bool(text_words) and not bounded and is_spaced(text[0]),
        open_end=bool(text_words) and not bounded and is_spaced(text[-1]),
        whole=bool(text_words)
        and GAP not in text_words
        and _is_in_word(text[0])
        and _is_in_word(text[-1]),
    )


def _is_in_word(char: str) -> bool:
    return char.isalnum() if char.isascii() else not _BLANK.match(char)


def to_basic_letters(word: str) -> str:
    """Return a folded word without accents, in basic letters.

    `é` becomes `e` and `ß` becomes `ss`; full-width forms become ASCII.
    """
    if word.isascii():
        return word
    return _MARK.sub("", unicodedata.normalize("NFKD", word)).casefold().translate(_LETTERS)


def write_out_umlauts(word: str) -> str | None:
    """Return a German word spelled without umlauts (`müller` as `mueller`); None if it has none."""
    word = unicodedata.normalize("NFC", word)
    spelling = _UMLAUTS.sub(lambda umlaut: _WRITTEN_OUT[umlaut[0]], word)
    return to_basic_letters(spelling) if spelling != word else None


_LANGUAGES = [
    (language, script, words.split())
    for language, words, script in read_rows(__file__, "languages")
]
LANGUAGE_WORDS = {language: words for language, _, words in _LANGUAGES if words}
"""Frequent words that identify a language."""
LANGUAGE_WORDS_NEEDED = 6
"""Minimum number of the ten words that a vault must contain."""
DEFAULT_LANGUAGES = ("english",)

LANGUAGE_OF_SCRIPT = {script: language for language, script, _ in _LANGUAGES if script != "LATIN"}
"""Scripts, as the names of their letters begin, whose words are stemmed in one language whatever
the vault."""
LATIN_LANGUAGES = frozenset(language for language, script, _ in _LANGUAGES if script == "LATIN")

SHORTEST_STEMMED = 3
"""Minimum length of a word that is stemmed, in letters."""
SHORTEST_STEM = 2
"""Letters with which all forms of a word begin: the stem, without its last letter, which may
change."""
LONGEST_ENDING = 8
"""Letters after those."""


def languages(count: Callable[[Sequence[str]], int]) -> tuple[str, ...]:
    """Return the languages of a vault. `count` returns how many of its words occur in the vault."""
    frequent = [
        language
        for language, words in LANGUAGE_WORDS.items()
        if count(words) >= LANGUAGE_WORDS_NEEDED
    ]
    return tuple(dict.fromkeys((*DEFAULT_LANGUAGES, *frequent)))


def stems(word: str, of_languages: Sequence[str]) -> list[str]:
    """Return the stems of a word, without accents, in those of some languages that use its
    script."""
    return [
        to_basic_letters(_stem(language, word))
        for language in _select_languages(word, of_languages)
    ]


class Family:
    """The words that share a stem with a word in one of the languages."""

    def __init__(self, word: str, of_languages: Sequence[str]) -> None:
        self._word = word
        plain_word = to_basic_letters(word)
        self.beginning = plain_word
        """Common prefix, without accents, of the word and of all its forms."""
        self._stems: list[tuple[str, str, str]] = []
        if len(plain_word) < SHORTEST_STEMMED or not plain_word.isalpha():
            return
        for language in _select_languages(word, of_languages):
            stem = to_basic_letters(_stem(language, word))
            stem_beginning = stem[: max(SHORTEST_STEMMED, len(stem) - 1)]
            start = commonprefix((plain_word, stem_beginning))  # noqa: RUF071 - of letters
            if len(start) >= SHORTEST_STEM:
                self._stems.append((language, start, stem))
        self.beginning = min((start for _, start, _ in self._stems), key=len, default=plain_word)

    def has(self, candidate: str, plainly: str) -> bool:
        """Return whether another word belongs to the family.

        `plainly` is that word without accents.
        """
        if candidate == self._word:
            return False
        return any(
            plainly.startswith(start)
            and len(plainly) - len(start) <= LONGEST_ENDING
            and to_basic_letters(_stem(language, candidate)) == stem
            for language, start, stem in self._stems
        )


def _select_languages(word: str, of_languages: Sequence[str]) -> Sequence[str]:
    """Return those of some languages that use the script of a word.

    A script with one language of its own counts whatever the vault's languages are.
    """
    script = unicodedata.name(word[0], "").partition(" ")[0]
    if script == "LATIN":
        return [language for language in of_languages if language in LATIN_LANGUAGES]
    return [LANGUAGE_OF_SCRIPT[script]] if script in LANGUAGE_OF_SCRIPT else []


_STEMMING = threading.Lock()
"""A stemmer of the library is for one thread at a time."""


@lru_cache(maxsize=20_000)
def _stem(language: str, word: str) -> str:
    with _STEMMING:
        return str(_stemmer(language).stemWord(word))


@lru_cache
def _stemmer(language: str) -> Any:
    import Stemmer  # loaded here: only ranked searches need it

    # Polish came with version 3
    algorithm = language if language in Stemmer.algorithms() else DEFAULT_LANGUAGES[0]
    return Stemmer.Stemmer(algorithm, 0)  # `_stem` remembers, so no cache of its own
