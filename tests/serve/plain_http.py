"""Requests of `httpx` to a server of a test: without certificates, whose loading takes 20 ms for every request."""

from __future__ import annotations

from functools import partial

import httpx

get = partial(httpx.get, verify=False)
post = partial(httpx.post, verify=False)
delete = partial(httpx.delete, verify=False)
request = partial(httpx.request, verify=False)
