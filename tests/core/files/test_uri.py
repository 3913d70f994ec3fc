"""URIs of files (specs/resources.md RES-01)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.files import uri
from obsidian_mcp.core.text.vault_path import name_key

CHARACTERS = st.characters(exclude_characters="\0/", exclude_categories=["Cs"])
NAMES = st.text(CHARACTERS, min_size=1, max_size=20)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@given(NAMES, PATHS)
def test_what_is_written_is_read_back_whatever_the_names(vault: str, path: str) -> None:
    address = uri.build(vault, path)
    named = uri.parse(address)

    assert address.isascii()
    assert not set(address) & set(' #?"<>\\^`{|}')
    assert named is not None
    assert (named.vault, named.path) == (vault, path)
    assert name_key(path) in named.keys


@given(NAMES, PATHS)
def test_a_uri_that_is_not_encoded_at_all_still_names_the_file(vault: str, path: str) -> None:
    named = uri.parse(f"{uri.ROOT}{uri.build(vault, 'x').split('/')[3]}/{path}")

    assert named is not None
    assert path in (named.path, named.literal)


@given(st.text())
def test_any_text_at_all_is_a_uri_or_none(text: str) -> None:
    for address in (text, uri.ROOT + text, text.replace("/", "%2F")):
        named = uri.parse(address)
        assert named is None or (named.vault and named.path)


def test_a_name_with_bytes_that_are_no_text_keeps_them() -> None:
    broken = b"caf\xe9.md".decode("utf-8", "surrogateescape")
    named = uri.parse(uri.build("v", broken))

    assert named is not None
    assert named.path == broken
