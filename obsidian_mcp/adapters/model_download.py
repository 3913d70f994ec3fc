"""Downloads a model for search by meaning from Hugging Face (specs/semantic.md SEM-01)."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from obsidian_mcp.errors import SemanticUnavailable

from .embedding_model import MODEL_FILES, TOKENIZER, check_packages


def download_model(model: str, folder: Path) -> None:
    """Put the files of a model into a folder, with progress on the terminal. Raises:
    SemanticUnavailable."""
    check_packages()
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # before it is loaded
    from huggingface_hub import HfApi, hf_hub_download

    # it tries six times, and says so twice each time
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        files = set(HfApi().list_repo_files(model))
        file = next((name for name in MODEL_FILES if name in files), None)
        for name in (file, TOKENIZER) if file is not None else ():
            hf_hub_download(model, name, local_dir=folder)
    except Exception as error:  # those of requests, httpx or httpx2, by its version
        raise SemanticUnavailable(
            f"The model {model!r} cannot be downloaded ({type(error).__name__}). Check the name "
            "and the connection, or give the folder of a model that is on this machine with "
            "--model."
        ) from error
    if file is None:
        raise SemanticUnavailable(
            f"The model {model!r} has no ONNX file. Choose another one with --model."
        )
