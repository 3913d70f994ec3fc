"""The product: one function = one tool."""

from .outcome import Outcome
from .registry import CONFIRM, PLUGIN_TOOLS, TOOLS, Tool, call, listed

__all__ = ["CONFIRM", "PLUGIN_TOOLS", "TOOLS", "Outcome", "Tool", "call", "listed"]
