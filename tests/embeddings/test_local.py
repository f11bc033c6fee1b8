"""The local embedder: what holds for every text, and what it is for (models.md, 'Embedders')."""

import asyncio
import json
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn.capture.embedder import EmbeddingError
from afterturn.embeddings.choice import chosen_embedder
from afterturn.embeddings.local import LocalEmbedder
from afterturn.embeddings.minilm.embedder import MinilmEmbedder
from afterturn_protocol.settings import EmbeddingsSettings

EMBEDDER = LocalEmbedder()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def embed(*texts: str, embedder: LocalEmbedder = EMBEDDER) -> list[bytes]:
    return asyncio.run(embedder.embed(texts))


def numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(numbers(one), numbers(other), strict=True))


def test_model_and_dimension() -> None:
    assert (EMBEDDER.model, EMBEDDER.dimension) == ("wordllama-256", 256)
    assert embed() == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=[]), max_size=60), min_size=1, max_size=5))
def test_every_text_has_a_vector_of_unit_length_alone_and_in_company(texts: list[str]) -> None:
    vectors = embed(*texts)
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert len(vector) == 256 * 4
        assert cosine(vector, vector) == pytest.approx(1, abs=1e-5)
        assert embed(text) == [vector]


def test_many_texts_come_back_in_order() -> None:
    texts = [f"text number {n} about {'databases' if n % 2 else 'gardens'}" for n in range(300)]
    vectors = embed(*texts)
    assert [vectors[n] for n in (0, 77, 299)] == embed(texts[0], texts[77], texts[299])


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("how do I undo a commit", "git reset to an earlier revision", "bake bread with yeast"),
        ("the test suite fails", "pytest reports errors", "the weather is nice in spring"),
        ("database connection refused", "cannot connect to the postgres server", "rename a css class"),
    ],
)
def test_what_means_the_same_is_nearer(query: str, near: str, far: str) -> None:
    one, two, three = embed(query, near, far)
    assert cosine(one, two) > cosine(one, three)


def test_it_is_the_plain_mean_of_the_tables_rows() -> None:
    """Against the table read another way: the mean of the rows of a text's pieces, scaled to length 1."""
    from tokenizers import Tokenizer

    found = find_spec("wordllama")
    assert found is not None
    package = Path((found.submodule_search_locations or [""])[0])
    data = (package / "weights" / "l2_supercat_256.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    assert json.loads(data[8 : 8 + length])["embedding.weight"]["shape"] == [32000, 256]
    tokenizer = Tokenizer.from_file(str(package / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    ids = tokenizer.encode("read the file again", add_special_tokens=False).ids
    rows = [struct.unpack_from("<256e", data, 8 + length + id * 512) for id in ids]
    sums = [sum(column) for column in zip(*rows, strict=True)]
    size = sum(number * number for number in sums) ** 0.5
    (vector,) = embed("read the file again")
    assert numbers(vector) == pytest.approx([number / size for number in sums], abs=1e-6)


def test_it_is_the_same_in_another_process() -> None:
    code = (
        "import asyncio, sys; from afterturn.embeddings.local import LocalEmbedder;"
        "sys.stdout.write(asyncio.run(LocalEmbedder().embed(['one', 'two words']))[1].hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert bytes.fromhex(done.stdout) == embed("one", "two words")[1]


def test_nothing_is_loaded_before_the_first_text_and_nothing_of_the_network_after_it() -> None:
    code = (
        "import asyncio, sys; from afterturn.embeddings.choice import chosen_embedder;"
        "from afterturn_protocol.settings import EmbeddingsSettings as S; e = chosen_embedder(S(), None);"
        "print(sorted({'numpy', 'tokenizers', 'wordllama'} & set(sys.modules)));"
        "asyncio.run(e.embed(['x']));"
        "print(sorted({'numpy', 'tokenizers', 'wordllama', 'httpx', 'requests', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["[]", "['numpy', 'tokenizers']"]


def table(folder: Path, **header: object) -> Path:
    (folder / "weights").mkdir(parents=True)
    (folder / "tokenizers").mkdir()
    text = json.dumps({"embedding.weight": header}).encode()
    data = struct.pack("<Q", len(text)) + text
    (folder / "weights" / "l2_supercat_256.safetensors").write_bytes(data)
    return folder


@pytest.mark.parametrize(
    "header",
    [
        {"dtype": "F32", "shape": [10, 256], "data_offsets": [0, 10240]},
        {"dtype": "F16", "shape": [10, 64], "data_offsets": [0, 1280]},
        {"dtype": "F16", "shape": [10, 256], "data_offsets": [0, 5120]},
    ],
    ids=["another type", "another dimension", "no data"],
)
def test_files_that_are_not_the_ones_expected_are_an_error(tmp_path: Path, header: dict) -> None:
    with pytest.raises(EmbeddingError, match="cannot be read") as problem:
        embed("text", embedder=LocalEmbedder(table(tmp_path / "package", **header)))
    assert not problem.value.retryable


def test_a_package_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError) as problem:
        embed("text", embedder=LocalEmbedder(tmp_path))
    assert not problem.value.retryable
    assert problem.value.message


# -- which one ----------------------------------------------------------------------------------------------------


def no_remote(settings: EmbeddingsSettings, model: str) -> LocalEmbedder:
    raise AssertionError(f"a provider of {model} is asked for")


def test_which_one_the_settings_ask_for() -> None:
    assert isinstance(chosen_embedder(EmbeddingsSettings(), no_remote), LocalEmbedder)
    assert isinstance(chosen_embedder(EmbeddingsSettings(model="wordllama-256"), no_remote), LocalEmbedder)
    assert isinstance(chosen_embedder(EmbeddingsSettings(model="minilm"), no_remote), MinilmEmbedder)
    assert chosen_embedder(EmbeddingsSettings(provider="none"), no_remote) is None
    asked: list[tuple[EmbeddingsSettings, str]] = []
    remote = EmbeddingsSettings(provider="litellm", model="openai/text-embedding-3-small")

    def make(settings: EmbeddingsSettings, model: str) -> LocalEmbedder:
        asked.append((settings, model))
        return EMBEDDER

    assert chosen_embedder(remote, make) is EMBEDDER
    assert asked == [(remote, "openai/text-embedding-3-small")]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (EmbeddingsSettings(model="other"), '"other"'),
        (EmbeddingsSettings(provider="litellm"), "embeddings.model"),
        (EmbeddingsSettings(provider="litellm", model="minilm"), "embeddings.model"),
        (EmbeddingsSettings(provider="else"), '"else"'),
    ],
    ids=["model", "litellm without a model", "litellm with a local model", "provider"],
)
def test_settings_that_cannot_be_met_are_named(given: EmbeddingsSettings, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        chosen_embedder(given, no_remote)
