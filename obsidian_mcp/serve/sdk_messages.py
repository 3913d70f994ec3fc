"""What the SDK gets of a client's messages (specs/stdio.md DISPATCH-05, DISPATCH-08).

The SDK is stricter with what clients write of themselves than the dispatcher is, and it joins a
conversation late: what was understood is written anew for it.
"""

from __future__ import annotations

from typing import Any

from .dispatch import CAPABILITIES_KEY, CLIENT_KEY, ENVELOPE, VERSION_KEY, Peer, progress_token
from .jsonrpc import Message, RequestId


def write_introduction(peer: Peer, request_id: RequestId) -> Message:
    """Return the `initialize` that introduces a client."""
    params = {
        "protocolVersion": peer.version,
        "capabilities": _capabilities(peer),
        "clientInfo": _client_info(peer),
    }
    return {"jsonrpc": "2.0", "id": request_id, "method": "initialize", "params": params}


def rewrite_request(peer: Peer, message: Message) -> Message:
    """Return a client's request with an envelope that is whole or, where the client was introduced,
    without one."""
    params = message.get("params") or {}
    written = params.get("_meta")
    understood = (*ENVELOPE, "progressToken")
    meta = {
        key: value
        for key, value in (written if isinstance(written, dict) else {}).items()
        if key not in understood
    }
    if (token := progress_token(message)) is not None:
        meta["progressToken"] = token
    if peer.is_modern:
        meta |= {
            VERSION_KEY: peer.version,
            CLIENT_KEY: _client_info(peer),
            CAPABILITIES_KEY: _capabilities(peer),
        }
    rewritten = {name: value for name, value in params.items() if name != "_meta"}
    if meta:
        rewritten["_meta"] = meta
    return {**message, "params": rewritten} if rewritten or params else message


def _client_info(peer: Peer) -> dict[str, str]:
    return {"name": peer.name, "version": ""}


def _capabilities(peer: Peer) -> dict[str, Any]:
    """Return what a client can do, as far as it is written in the form of a capability."""
    return {
        name: {key: value for key, value in stated.items() if isinstance(value, dict)}
        for name, stated in peer.capabilities.items()
        if isinstance(stated, dict)
    }
