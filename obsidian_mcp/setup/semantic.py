"""Choose the model that finds notes by their meaning, download it, or turn it off
(specs/semantic.md, SEM-01)."""

from __future__ import annotations

from pathlib import Path

from obsidian_mcp import computer, vault_builder
from obsidian_mcp.config import Config
from obsidian_mcp.core.semantic.choice import EmbeddingChoice

DEFAULT_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""Fifty languages, about 120 MB."""


def choose(config: Config, choice: EmbeddingChoice) -> int:
    """Try a model, and use it from now on; return how many numbers its vectors have. Raises:
    SemanticUnavailable."""
    computer.check_packages()
    (vector,) = vault_builder.embedder(config, choice).embed(["ready"])
    config.state.mkdir(parents=True, exist_ok=True)
    computer.files_of(config.state).write(vault_builder.SEMANTIC_FILE, choice.text().encode())
    return len(vector) // 4


def download(config: Config, model: str) -> Path:
    """Download a model, with progress on the terminal, and return its folder. Raises:
    SemanticUnavailable."""
    folder = config.cache / "models" / model.replace("/", "--")
    computer.download_model(model, folder)
    return folder


def turn_off(config: Config) -> bool:
    """Turn search by meaning off; return whether it was on."""
    file = config.state / vault_builder.SEMANTIC_FILE
    was_on = file.exists()
    if was_on:
        computer.remove_file(file)
    return was_on
