"""A request in the envelope of contract 001.

The original checks it with pydantic, and its clients get pydantic's words. So it is checked with
pydantic here, too, which is loaded with the first such request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from . import METHODS

_NAME: Final = re.compile(r"[a-zA-Z0-9_]{1,100}")


class EnvelopeRequest(BaseModel):
    """Both forms of a request, the one with `params` as the other; further members are ignored."""

    model_config = ConfigDict(strict=True, from_attributes=True)

    id: str
    method: str
    name: str | None = None
    args: dict[str, Any] | None = None
    params: dict[str, Any] | None = None

    @field_validator("method")
    @classmethod
    def _check_method(cls, method: str) -> str:
        if method not in METHODS:
            raise ValueError(f"Method must be one of: {list(METHODS)}")
        return method

    @model_validator(mode="after")
    def _complete(self) -> EnvelopeRequest:
        if self.name is None and self.params is not None:
            self.name, self.args = self.params.get("name"), self.params.get("args")
            if self.method == "call_tool" and not isinstance(self.name, str):
                raise ValueError("params of call_tool must have a name")
            if self.method == "call_tool" and not isinstance(self.args, dict | None):
                raise ValueError("args of call_tool must be an object")
        if isinstance(self.name, str) and not _NAME.fullmatch(self.name):
            raise ValueError("Tool name must be 1 to 100 letters, digits and underscores")
        return self


def read_request(value: object) -> EnvelopeRequest | list[Mapping[str, Any]]:
    """Return a request, or the problems with its shape."""
    try:
        return EnvelopeRequest.model_validate(value)
    except ValidationError as error:
        return list(error.errors(include_url=False))
