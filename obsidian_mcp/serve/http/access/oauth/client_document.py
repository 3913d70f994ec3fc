"""A program described by a document at its own address, which is its `client_id` (OAUTH-22)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from obsidian_mcp import json_codec
from obsidian_mcp.core.grants.registration import Registration

from .client_name import readable_name
from .redirects import is_redirect

MOST_BYTES: Final = 65_536
"""Bytes of a document."""
_MOST_ADDRESS: Final = 2_000
_HOST: Final = re.compile(r"(?=.{1,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*")
"""A name with a dot: neither an address nor a name of the owner's own network."""


class DocumentInvalid(Exception):
    """A document, or its address, is not as it must be. The text says what is wrong."""


def is_document_address(client: str) -> bool:
    """Return whether a `client_id` can be the address of a document.

    https, the default port, a host with a name, a path other than `/` without dot segments, and no
    user name, query or fragment.
    """
    if len(client) > _MOST_ADDRESS or not re.fullmatch(r"[!-~]+", client):
        return False
    try:
        parts = urlsplit(client)
    except ValueError:
        return False
    segments = re.sub("%2e", ".", parts.path, flags=re.IGNORECASE).split("/")
    return (
        client.startswith("https://")
        and _HOST.fullmatch(parts.netloc) is not None
        and parts.path not in ("", "/")
        and not {".", ".."} & set(segments)
        and not any(sign in client for sign in "?#\\")
    )


def read_document(client: str, body: bytes) -> Registration:
    """Return the program that a document describes. Raises: DocumentInvalid."""
    try:
        document = json_codec.decode(body)
    except ValueError as error:
        raise DocumentInvalid(f"it is no JSON: {error}") from error
    if not isinstance(document, Mapping):
        raise DocumentInvalid("it is no JSON object")
    if document.get("client_id") != client:
        raise DocumentInvalid("its client_id is not its own address")
    if not isinstance(document.get("client_name"), str) or not document["client_name"].strip():
        raise DocumentInvalid("it has no client_name")
    if "client_secret" in document or "client_secret_expires_at" in document:
        raise DocumentInvalid("it holds a secret, which everybody can read")
    if not _may_be_public(document):
        raise DocumentInvalid("its programs cannot come without a secret or key of their own")
    listed = document.get("redirect_uris")
    addresses = listed if isinstance(listed, list) else []
    # a host may list a scheme of its own that this server knows nothing of, beside others
    redirects = tuple(
        address for address in addresses if isinstance(address, str) and is_redirect(address)
    )
    if not redirects:
        raise DocumentInvalid("its redirect_uris hold no address that may be redirected to")
    return Registration(client, readable_name(document["client_name"]), redirects)


def _may_be_public(document: Mapping[str, Any]) -> bool:
    """Return whether a program may come without proving who it is.

    ChatGPT's document says `private_key_jwt`, and `none` in a list beside it.
    """
    listed = document.get("token_endpoint_auth_methods_supported")
    method = document.get("token_endpoint_auth_method", "none")
    return method == "none" or (isinstance(listed, list) and "none" in listed)


@cache
def list_built_in_documents() -> Mapping[str, bytes]:
    """Return copies of the documents of well-known programs, by address.

    Their servers refuse some networks and are down at times; a sign-in must not depend on that.
    """
    file = Path(__file__).with_name("documents.json")
    return {
        document["client_id"]: json_codec.encode(document)
        for document in json_codec.decode(file.read_bytes())
    }
