"""What a client offers its user beside tools: resources, prompts, and completion of what is typed."""

from . import requests  # its prompts list themselves

__all__ = ["requests"]
