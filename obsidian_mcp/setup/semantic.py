"""Choose the model that finds notes by their meaning, download it, or turn it off (specs/semantic.md, SEM-01)."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from obsidian_mcp import vault_builder
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.embedding_model import MODEL_FILES, TOKENIZER, check_packages
from obsidian_mcp.adapters.place import patiently
from obsidian_mcp.config import Config
from obsidian_mcp.core.semantic.choice import Choice
from obsidian_mcp.errors import SemanticUnavailable

DEFAULT_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""Fifty languages, about 120 MB."""


def choose(config: Config, choice: Choice) -> int:
    """Try a model, and use it from now on; return how many numbers its vectors have. Raises: SemanticUnavailable."""
    check_packages()
    (vector,) = vault_builder.embedder(config, choice).embed(["ready"])
    config.state.mkdir(parents=True, exist_ok=True)
    Disk(config.state).write(vault_builder.SEMANTIC_FILE, choice.text().encode())
    return len(vector) // 4


def download(config: Config, model: str) -> Path:
    """Download a model, with progress on the terminal, and return its folder. Raises: SemanticUnavailable."""
    check_packages()
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # before it is loaded
    from huggingface_hub import HfApi, hf_hub_download

    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it tries six times, and says so twice each time
    folder = config.cache / "models" / model.replace("/", "--")
    try:
        files = set(HfApi().list_repo_files(model))
        file = next((name for name in MODEL_FILES if name in files), None)
        for name in (file, TOKENIZER) if file is not None else ():
            hf_hub_download(model, name, local_dir=folder)
    except Exception as error:  # those of requests, httpx or httpx2, by its version
        raise SemanticUnavailable(
            f"The model {model!r} cannot be downloaded ({type(error).__name__}). Check the name and the connection, or "
            "give the folder of a model that is on this machine with --model."
        ) from error
    if file is None:
        raise SemanticUnavailable(f"The model {model!r} has no ONNX file. Choose another one with --model.")
    return folder


def turn_off(config: Config) -> bool:
    """Turn search by meaning off; return whether it was on."""
    file = config.state / vault_builder.SEMANTIC_FILE
    was_on = file.exists()
    patiently(lambda: file.unlink(missing_ok=True))
    return was_on
