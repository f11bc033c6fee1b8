"""Stands in for onnxruntime where a test is about the process around the model: it does what a text's only word says.

Copied into a folder as `onnxruntime.py`. The state of a word piece is a function of its id alone (rig.state).
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

STUCK, EXIT, RAISE, FLOOD = 5881, 6164, 5333, 7186
"""Ids of these words in BERT's vocabulary."""


class SessionOptions:
    pass


class InferenceSession:
    def __init__(self, path: str, options: SessionOptions, providers: list[str]) -> None:
        assert Path(path).read_text() == "weights"
        assert providers == ["CPUExecutionProvider"]

    def run(self, names: list[str], given: dict[str, Any]) -> list[Any]:
        assert names == ["last_hidden_state"]
        ids = given["input_ids"]
        assert ids.shape[0] == 1
        assert (given["attention_mask"] == 1).all()
        assert (given["token_type_ids"] == 0).all()
        if ids.shape[1] == 3:
            obey(int(ids[0][1]))
        return [np.cos(ids[..., None] * np.arange(1, 385)).astype(np.float32)]


def obey(word: int) -> None:
    if word == STUCK:
        (Path(sys.path[0]) / "is-stuck").touch()
        time.sleep(600)
    elif word == EXIT:
        os._exit(3)
    elif word == RAISE:
        raise RuntimeError("a-secret-of-the-text")
    elif word == FLOOD:
        for fd in (1, 2):
            for _ in range(64):
                os.write(fd, b"flooded " * 8192)
        print("flooded " * 100_000, flush=True)
