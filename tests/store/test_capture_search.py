"""Search: words, vectors, both; what each project sees (store.md, 'Search')."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn.capture.ports import Scope, SearchQuery
from afterturn.store.sqlite import search
from afterturn.store.sqlite.bits import cosines
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store.sqlite.vectors import signs
from afterturn.store.sqlite.words import MAX_WORD_CHARS, Words, query_words
from afterturn_protocol.traces import ToolCallDTO
from tests.store.capture_sample import capture, found, put, row, take_in, vector
from tests.store.capture_sample import claim as claim_job
from tests.store.conftest import Opener

# -- words --------------------------------------------------------------------------------------------------------

WORDS = [
    ("Fix the parser", "fix the parser"),
    ("read_file", "read_file read file"),
    ("readFileSync", "readfilesync read file sync"),
    ("HTTPServer2", "httpserver2 http server2"),
    ("src/app/main.py:12", "src/app/main.py:12 src app main py 12 main.py:12"),
    ("--dry-run", "dry-run dry run"),
    ("don't", "don t"),
    ("a.b() == c", "a.b a b b c".replace(" b b ", " b ")),
    ("", ""),
    ("... --- \ud83d !", ""),
    ("\ud83dx\ud83d", "x"),
    ("Straße ÄPFEL", "strasse äpfel"),
    ("修复解析器", "修复 复解 解析 析器 器"),
    ("用fix修复bug", "用 fix 修复 复 bug"),
    ("ｆｕｌｌ ﬁx", "full fix"),
    ("テスト実行", "テス スト ト実 実行 行"),
    ("x" * 65, ""),
    ("x" * 60 + "/" + "y" * 60, "x" * 60 + " " + "y" * 60 + " "),
]


@pytest.mark.parametrize(("text", "words"), WORDS, ids=[repr(text)[:30] for text, _ in WORDS])
def test_words(text: str, words: str) -> None:
    assert Words().line(text).split() == words.split()


@given(st.text(st.characters(exclude_categories=[])))
@settings(max_examples=300, deadline=None)
def test_words_are_always_words(text: str) -> None:
    for word in Words().line(text).split():
        assert 0 < len(word) <= MAX_WORD_CHARS
        assert '"' not in word
        word.encode("utf-8")


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_a_text_has_every_word_of_its_query(text: str) -> None:
    assert set(query_words(text, 1000)) <= set(Words().line(text).split())


def test_words_that_stand_everywhere_are_not_asked_for() -> None:
    assert query_words("where is the parser of it", 10) == ["parser"]
    assert query_words("who is it", 10) == ["who", "is", "it"]
    assert query_words("aa bbb c dddd", 2) == ["bbb", "dddd"]


# -- text ---------------------------------------------------------------------------------------------------------


TEXTS = {
    "code": row("code", "rename read_file to load_file", "done in src/store/files.py"),
    "camel": row("camel", "why does parseHttpHeader fail", step=1),
    "chinese": row("chinese", "请修复解析器的错误", "已经修好", step=2),
    "tool": row(
        "tool", "go on", step=3, tags=["docker"], reflection="because the cache was cold",
        calls=[ToolCallDTO(name="bash", input={"command": "pytest -k widgets"}, output="2 failed in frobnicate")],
    ),
    "quote": row("quote", 'say "hello" AND NOT (a OR b*)', step=4),
}  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("read_file", ["code"]),
        ("load", ["code"]),
        ("files.py", ["code"]),
        ("src/store/files.py", ["code"]),
        ("READ_FILE", ["code"]),
        ("http", ["camel"]),
        ("parsehttpheader", ["camel"]),
        ("解析器", ["chinese"]),
        ("错误", ["chinese"]),
        ("修", ["chinese"]),
        ("误", ["chinese"]),
        ("删除", []),
        ("bash", ["tool"]),
        ("widgets", ["tool"]),
        ("frobnicate", ["tool"]),
        ("cold", ["tool"]),
        ("docker", ["tool"]),
        ("command", ["tool"]),
        ('"hello" AND', ["quote"]),
        ("NOT", ["quote"]),
        ('"', []),
        ("*", []),
        ("", []),
        ("scope : p1", []),
        ("\ud83d", []),
        ("unknown", []),
    ],
)
async def test_what_words_find(store: SqliteStore, query: str, ids: list[str]) -> None:
    await capture(store, *TEXTS.values())
    assert await found(store, query) == ids


@pytest.mark.anyio
async def test_rows_are_found_once_the_index_has_caught_up(store: SqliteStore) -> None:
    await capture(store, *(row(f"t{n}", "words", step=n) for n in range(5)), index=False)
    assert await found(store, "words") == []
    index = store.capture.text_index
    assert [await index.catch_up(limit=2) for _ in range(3)] == [True, True, False]
    assert len(await found(store, "words")) == 5
    assert await index.catch_up() is False
    assert len(await found(store, "words")) == 5


@pytest.mark.anyio
async def test_two_that_catch_up_at_once_index_everything_once(open_again: Opener) -> None:
    import asyncio

    one, two = open_again(), open_again()
    await capture(one, *(row(f"t{n}", "words", step=n) for n in range(50)), index=False)

    async def catch_up(store: SqliteStore) -> None:
        while await store.capture.text_index.catch_up(limit=7):
            pass

    await asyncio.gather(catch_up(one), catch_up(two), catch_up(one))
    assert len(await found(one, "words", limit=200)) == 50
    hits = (await two.capture.search.search(SearchQuery(scope=Scope(project="*"), limit=99, text="words"))).hits
    assert len(hits) == 50


# -- projects -----------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_project_never_sees_anothers_rows(store: SqliteStore) -> None:
    for project in ("p", "q", None):
        name = str(project)
        data = vector(1, 0.1)
        await capture(
            store, row(name, "shared words", episode=name, session=f"s {name}", summary=data, action=data),
            project=project,
        )  # fmt: skip
    for text, near in (("shared words", None), (None, vector(1)), ("shared words", vector(1))):
        assert await found(store, text, vector=near, project="p") == ["p"]
        assert await found(store, text, vector=near, project="q") == ["q"]
        assert await found(store, text, vector=near, project=None, sessions=["s None"]) == ["None"]
        assert await found(store, text, vector=near, project=None, sessions=["s p"]) == ["p"]
        assert await found(store, text, vector=near, project="None") == []
        assert await found(store, text, vector=near, project=None) == []
        assert sorted(await found(store, text, vector=near, project="*")) == ["None", "p", "q"]


@pytest.mark.anyio
async def test_several_projects_at_once(store: SqliteStore) -> None:
    for name in "abc":
        await capture(store, row(name, "words", episode=name, session=name, summary=vector(1)))
    assert sorted(await found(store, "words", vector=vector(1), project=None, sessions=["a", "c"])) == ["a", "c"]


# -- vectors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [8, 30, 64, 100, 256])
def test_signs_are_one_bit_a_component(dimension: int) -> None:
    dice = random.Random(dimension)
    numbers = [dice.uniform(-1, 1) for _ in range(dimension)]
    bits = "".join(f"{byte:08b}" for byte in signs(vector(*numbers, dimension=dimension)))
    assert bits[:dimension] == "".join("1" if number >= 0 else "0" for number in numbers)
    assert len(bits) == -(-dimension // 8) * 8


def test_cosines_of_unit_vectors() -> None:
    assert cosines(vector(1), [vector(1), vector(0, 1), vector(-1), vector(3, 4)]) == pytest.approx([1, 0, -1, 0.6])


@pytest.mark.anyio
async def test_vectors_find_the_nearest_of_many(store: SqliteStore) -> None:
    """Against a plain scan of all cosines: the nearest is always among the first."""
    dice = random.Random(7)
    numbers = [[dice.gauss(0, 1) for _ in range(128)] for _ in range(3000)]
    vectors = {f"t{n}": vector(*each, dimension=128) for n, each in enumerate(numbers)}
    rows = [row(name, name, step=n, summary=data) for n, (name, data) in enumerate(vectors.items())]
    await capture(store, *rows, index=False)
    for _ in range(20):
        asked = vector(*(number + dice.gauss(0, 1.2) for number in dice.choice(numbers)), dimension=128)
        scores = dict(zip(vectors, cosines(asked, list(vectors.values())), strict=True))
        assert (await found(store, vector=asked, limit=5))[0] == max(scores, key=scores.__getitem__)
    query = SearchQuery(scope=Scope(project="*"), limit=3, vector=vectors["t5"], model="m", kinds=("summary",))
    hits = (await store.capture.search.search(query)).hits
    assert (hits[0].trace.trace_id, hits[0].scores.summary) == ("t5", pytest.approx(1))
    assert hits[0].scores.action is None


@pytest.mark.anyio
async def test_what_other_processes_write_is_found_at_once(open_again: Opener) -> None:
    one, two = open_again(), open_again()
    for number in range(5):
        await capture(one, row(f"t{number}", "x", episode=f"e{number}", summary=vector(1, number)))
        assert await found(two, vector=vector(1)) == [f"t{n}" for n in range(number + 1)]
    await one.sessions.delete("s", now_ms=2)
    assert await found(two, vector=vector(1)) == []


@pytest.mark.anyio
async def test_kinds_can_be_told_apart(store: SqliteStore) -> None:
    await capture(store, row("a", "x", summary=vector(1), action=vector(0, 1)), row("b", "y", step=1, action=vector(1)))
    assert await found(store, vector=vector(1), kinds=["summary"]) == ["a"]
    assert (await found(store, vector=vector(1), kinds=["action"]))[0] == "b"


@pytest.mark.anyio
async def test_rows_of_another_model_are_left_out_and_counted(store: SqliteStore) -> None:
    await capture(store, row("old", "x", summary=vector(1), model="old"), project="p")
    await capture(store, row("new", "x", episode="f", summary=vector(1), model="new"), project="p")
    await capture(store, row("else", "x", episode="g", summary=vector(1), model="old"), project="q")

    async def stale(model: str, project: str, near: bytes | None = None) -> tuple[list[str], int | None]:
        query = SearchQuery(scope=Scope(project=project), limit=5, vector=near or vector(1), model=model)
        answer = await store.capture.search.search(query)
        return [hit.trace.trace_id for hit in answer.hits], answer.stale

    assert await stale("new", "p") == (["new"], 1)
    assert await stale("new", "*") == (["new"], 2)
    assert await stale("newer", "p") == ([], 2)
    assert await stale("new", "p", vector(1, dimension=32)) == ([], 2)
    assert await stale("new", "none") == ([], 0)
    text_only = await store.capture.search.search(SearchQuery(scope=Scope(project="p"), limit=5, text="x"))
    assert text_only.stale is None


# -- both ---------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_what_both_lists_have_comes_first_and_says_why(store: SqliteStore) -> None:
    rows = [
        row("text", "parser parser parser", step=0),
        row("near", "nothing", summary=vector(1), step=1),
        row("both", "the parser of headers", summary=vector(1, 0.2), action=vector(0.1, 1), step=2),
    ]
    await capture(store, *rows)
    query = SearchQuery(scope=Scope(project="*"), limit=10, text="parser", vector=vector(1), model="m")
    hits = (await store.capture.search.search(query)).hits
    assert hits[0].trace.trace_id == "both"
    assert {hit.trace.trace_id for hit in hits} == {"text", "near", "both"}
    scores = {hit.trace.trace_id: hit.scores for hit in hits}
    assert (scores["text"].summary, scores["near"].text) == (None, None)
    assert (scores["text"].text or 0) > 0
    assert scores["both"].summary == pytest.approx(1 / 1.04**0.5)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    # weight / (10 + rank) in each list: second of the words, second by summary, first by action
    assert hits[0].score == pytest.approx(1 / 12 + 0.5 / 12 + 0.5 / 11)
    assert len((await store.capture.search.search(SearchQuery(scope=query.scope, limit=1, text="parser"))).hits) == 1


@pytest.mark.anyio
async def test_nothing_of_a_job_that_was_lost_is_found(store: SqliteStore) -> None:
    await take_in(store)
    late = await claim_job(store)
    await claim_job(store, now_ms=10**9)
    await store.capture.jobs.finish(late, put(row("late", "words", summary=vector(1))), now_ms=2)
    assert await found(store, "words", vector=vector(1)) == []


@pytest.mark.anyio
async def test_a_frequent_word_is_not_asked_for_beside_rare_ones(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "RANKED_ROWS", 4)
    await capture(store, *(row(f"t{n}", f"common rare{n // 2}", step=n) for n in range(10)), project="p")
    for project in ("p", "*"):
        assert sorted(await found(store, "common rare1", project=project)) == ["t2", "t3"]
        assert sorted(await found(store, "rare0 rare1 rare2", project=project)) == ["t0", "t1", "t2", "t3"]
        assert len(await found(store, "common", project=project)) == 10
        assert await found(store, "unknown", project=project) == []
    await capture(store, row("small", "common rare1", episode="f"), project="q")
    assert await found(store, "common", project="q") == ["small"]
    assert await found(store, "common unknown", project="q") == ["small"]
