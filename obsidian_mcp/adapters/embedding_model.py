"""Vectors from a model on this machine: ONNX Runtime and the model's own tokenizer
(specs/semantic.md, SEM-07)."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from obsidian_mcp import install_command
from obsidian_mcp.errors import SemanticUnavailable

MODEL_FILES: Final = (
    "onnx/model_quantized.onnx",
    "onnx/model_qint8_avx512_vnni.onnx",
    "onnx/model.onnx",
    "model.onnx",
)
"""Where a model is in its folder; the first that is there is used."""
TOKENIZER: Final = "tokenizer.json"
MOST_TOKENS: Final = 256
"""Tokens of a text that the model reads; the tokenizer cuts off the others."""
SMALLEST_LENGTH: Final = 1e-12
"""A vector of zeros is divided by it."""
PACKAGES: Final = ("numpy", "onnxruntime", "tokenizers")


def missing_packages() -> list[str]:
    """Return which packages of the extra `semantic` are not installed; none is imported."""
    return [name for name in PACKAGES if find_spec(name) is None]


def check_packages() -> None:
    """Raises: SemanticUnavailable where one is missing."""
    if missing := missing_packages():
        raise SemanticUnavailable(
            f"{', '.join(missing)} is not installed. Run: {install_command('semantic')}"
        )


class EmbeddingModel:
    """A model of a folder, loaded at the first use; safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    # `quick` is part of the interface of embedders; a local model is quick anyway.
    def embed(self, texts: Sequence[str], *, quick: bool = False) -> list[bytes]:  # noqa: ARG002
        """Return one vector per text: length 1, little-endian float32. Raises:
        SemanticUnavailable."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            tokenizer, session = self._loaded
        import numpy as np

        encoded = tokenizer.encode_batch(list(texts))
        inputs = {
            "input_ids": np.array([text.ids for text in encoded], dtype=np.int64),
            "attention_mask": np.array([text.attention_mask for text in encoded], dtype=np.int64),
            "token_type_ids": np.array([text.type_ids for text in encoded], dtype=np.int64),
        }
        expected_names = {value.name for value in session.get_inputs()}
        (output, *_) = session.run(
            None, {name: value for name, value in inputs.items() if name in expected_names}
        )
        if output.ndim == 3:  # one vector per token: take the mean of those that are not padding
            mask = inputs["attention_mask"][:, :, None].astype(output.dtype)
            output = (output * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
        lengths = np.maximum(np.linalg.norm(output, axis=1, keepdims=True), SMALLEST_LENGTH)
        return [row.astype("<f4").tobytes() for row in output / lengths]

    def _load(self) -> tuple[Any, Any]:
        check_packages()
        # before it is loaded: its official builds report uses to Microsoft
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime
        from tokenizers import Tokenizer

        file = next(
            (self._folder / name for name in MODEL_FILES if (self._folder / name).is_file()), None
        )
        if file is None or not (self._folder / TOKENIZER).is_file():
            raise SemanticUnavailable(
                f"The folder '{self._folder}' has no ONNX model with a {TOKENIZER}. Run "
                "`obsidian-mcp semantic setup`."
            )
        onnxruntime.disable_telemetry_events()  # has an effect on Windows only
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # leave the other processors to tool calls
        options.log_severity_level = 3  # errors alone
        try:
            tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
            tokenizer.enable_truncation(MOST_TOKENS)
            tokenizer.enable_padding()
            session = onnxruntime.InferenceSession(
                str(file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise SemanticUnavailable(
                f"The model in '{self._folder}' cannot be loaded: {error}. If it was downloaded, "
                "delete the folder and run `obsidian-mcp semantic setup` again."
            ) from error
        return tokenizer, session
