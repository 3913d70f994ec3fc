"""A tiny embedding model as its makers publish one: an ONNX file and a tokenizer, made here (specs/semantic.md)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

MEANINGS = ("puncture flat tyre repairing fix", "headache migraine triptan", "soup broth lentil recipe")
"""Words of a line mean the same; every other word means nothing."""


def make(folder: Path) -> Path:
    """Write the model and return its folder."""
    words = {"[PAD]": 0, "[UNK]": 1}
    size = len(MEANINGS) + 1
    rows = [[0.0] * size, [0.0] * (size - 1) + [0.1]]
    for number, line in enumerate(MEANINGS):
        for word in line.split():
            words[word] = len(rows)
            rows.append([float(number == at) for at in range(size)])
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    table = numpy_helper.from_array(np.array(rows, dtype=np.float32), "table")
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", size])
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([node], "tiny", [ids], [output], [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / "onnx").mkdir()
    onnx.save(model, str(folder / "onnx" / "model.onnx"))
    return folder
