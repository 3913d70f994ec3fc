"""The product: one function = one tool.

`entries` needs little of the standard library, so the names below, which take more, are imported when they are used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .entries import CONFIRM
    from .outcome import Outcome
    from .registry import TOOLS, Tool, call, list_tools

__all__ = ["CONFIRM", "TOOLS", "Outcome", "Tool", "call", "list_tools"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import registry

    return getattr(registry, name)
