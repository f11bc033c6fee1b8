"""recap.md, 'Output': what of a model's reply may be shown (R03; prior recaps, cases 26, 45, 46)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.recap.answers import check_answer, is_clean_stop, kept_recap
from afterturn.recap.claims import claims_in
from afterturn.recap.sentences import content_words, cut_sentences, is_chinese, joined, sentences
from afterturn_protocol.base import Message
from tests.recap.talk import built, call, ran, result, said, user, wrote

RUN = "pytest -q"
EDIT = wrote("src/login.py")
ASK = user("Fix the login test in src/login.py, then add a changelog entry")
DENIED = [ASK, said("Shall I run pytest?", call("bash", command="pytest")), result("The user rejected this tool use")]
NOT_RUN = [ASK, said("I would run it.", call("bash", command="pytest -q"))]
PASSED = [
    ASK,
    *wrote("src/login.py"),
    *ran("pytest -q", "...\n12 passed in 0.3s", 2),
    said("Next, the changelog entry."),
]
FAILED = [
    ASK,
    *wrote("src/login.py"),
    *ran("pytest -q", "E  AssertionError\n1 failed, 11 passed in 0.3s", 2, is_error=True),
]
HIDDEN_FAIL = [ASK, *EDIT, *ran("pytest -q | tail -3", "1 failed, 11 passed in 0.3s", 2)]
EDITED = [ASK, *EDIT]
LATER_FAIL = [*PASSED, *ran("pytest -q", "2 failed, 10 passed", 3)]
LATER_EDIT = [*PASSED, *wrote("src/login.py", 4)]
BUILT = [ASK, *EDIT, *ran("npm run build", "done in 3s", 2)]
COMMITTED = [*PASSED, *ran('git commit -m "x"', "[main 1a2b3c4] x", 5)]
PUSH_FAILED = [*COMMITTED, *ran("git push", "error: failed to push some refs", 6, is_error=True)]
LOOKED = [ASK, *EDIT, *ran("ls src", "login.py", 2)]
SCRIPT = [ASK, *EDIT, *ran("python repro.py", "login ok", 2)]
IN_CHINESE = user("修复 src/login.py 的登录测试，让任务里的编译通过，然后写 changelog")
IN_JAPANESE, IN_KOREAN = user("ログインのテストを修正してください"), user("로그인 테스트를 수정해 주세요")
IN_RUSSIAN, IN_GERMAN = user("Исправь тесты и ошибку входа"), user("Der Fehler beim Login: bitte Tests und Arbeit")
IN_FRENCH, IN_SPANISH = user("Le bug: corrige les tests"), user("El error de las pruebas: arregla todo")
TALKED = [ASK, said("I think the tests pass and everything is done.")]

# Steps, sentence, whether it may be shown.
CLAIMS: list[tuple[str, list[Message], str, bool]] = [
    ("denied run", DENIED, "Tests verified and passing.", False),
    ("denied run", DENIED, "The login test is fixed.", False),
    ("denied run", DENIED, "The work is complete.", False),
    ("denied run", DENIED, "You are fixing the login test.", True),
    ("denied run", DENIED, "Running pytest was denied.", True),
    ("denied run", DENIED, "The test was not verified.", True),
    ("not run", NOT_RUN, "All tests pass.", False),
    ("not run", NOT_RUN, "The login test passes now.", False),
    ("not run", NOT_RUN, "The tests have not passed yet.", True),
    ("not run", NOT_RUN, "The suite is green.", False),
    ("not run", NOT_RUN, "The patch fixes the login test.", False),
    ("not run", NOT_RUN, "The login no longer crashes.", False),
    ("not run", NOT_RUN, "The issue was addressed.", False),
    ("not run", NOT_RUN, "The work is wrapped up.", False),
    ("not run", NOT_RUN, "The change landed.", False),
    ("not run", NOT_RUN, "The fix is live.", False),
    ("not run", NOT_RUN, "The login ran successfully.", False),
    ("not run", NOT_RUN, "The code compiles without errors.", False),
    ("not run", NOT_RUN, "You want the login page green.", True),
    ("not run", NOT_RUN, "You are looking for a change that fixes the login test.", True),
    ("passed", PASSED, "All 12 tests pass.", True),
    ("passed", PASSED, "All 13 tests pass.", False),
    ("passed", PASSED, "The login test is fixed.", True),
    ("passed", PASSED, "The fix is verified.", True),
    ("passed", PASSED, "The fix was merged.", False),
    ("passed", PASSED, "The fix is committed and pushed.", False),
    ("failed", FAILED, "The tests pass.", False),
    ("failed", FAILED, "The login test is fixed.", False),
    ("failed", FAILED, "It is done.", False),
    ("failed", FAILED, "One test still fails.", True),
    ("failed but exit 0", HIDDEN_FAIL, "The tests pass.", False),
    ("failed but exit 0", HIDDEN_FAIL, "The bug is resolved.", False),
    ("edited only", EDITED, "The login test is fixed.", False),
    ("edited only", EDITED, "Everything works.", False),
    ("edited only", EDITED, "Updated src/login.py.", True),
    ("edited only", EDITED, "Updated src/login.py and pushed.", False),
    ("failed later", LATER_FAIL, "The tests pass.", False),
    ("edited later", LATER_EDIT, "The login test is fixed.", False),
    ("edited later", LATER_EDIT, "The tests pass.", False),
    ("a document written later", [*PASSED, *wrote("CHANGELOG.md", 4)], "The tests pass.", True),
    ("built", BUILT, "The build passes.", True),
    ("built", BUILT, "The tests pass.", False),
    ("committed", COMMITTED, "The change is committed.", True),
    ("edited after the commit", [*COMMITTED, *wrote("CHANGELOG.md", 7)], "The change is committed.", False),
    ("long ago", [*EDITED, *(said(f"Thought {at}.") for at in range(40))], "src/login.py was updated.", True),
    ("push failed", PUSH_FAILED, "The change is pushed.", False),
    ("push failed", PUSH_FAILED, "The change is committed.", True),
    ("only looked", LOOKED, "The login bug is fixed.", False),
    ("a script ran", SCRIPT, "The login bug is fixed.", True),
    ("a script ran", SCRIPT, "The tests pass.", False),
    ("only words", TALKED, "The tests pass.", False),
    ("only words", TALKED, "Everything is done.", False),
    ("only words", TALKED, "The goal is to get the tests passing.", True),
    ("only words", TALKED, "The tests should be verified before it is merged.", True),
    ("Chinese, not run", [IN_CHINESE, *NOT_RUN[1:]], "测试已通过。", False),
    ("Chinese, not run", [IN_CHINESE, *NOT_RUN[1:]], "登录问题已修复。", False),
    ("Chinese, not run", [IN_CHINESE, *NOT_RUN[1:]], "任务已完成。", False),
    ("Chinese, not run", [IN_CHINESE, *NOT_RUN[1:]], "测试尚未通过。", True),
    ("Chinese, not run", [IN_CHINESE, *NOT_RUN[1:]], "编译没有错误。", False),
    ("Chinese, passed", [IN_CHINESE, *PASSED[1:]], "测试已通过。", True),
    ("not run", NOT_RUN, "Lint is clean.", False),
    ("not run", NOT_RUN, "The login test is gone.", False),
    ("not run", NOT_RUN, "The login runs without problems.", False),
    ("not run", NOT_RUN, "No login problems remain.", False),
    ("not run", NOT_RUN, "The login behaves as expected.", False),
    ("not run", NOT_RUN, "The login test ran clean.", False),
    ("not run", NOT_RUN, "Nothing is left to do for the login.", False),
    ("not run", NOT_RUN, "All login requirements are met.", False),
    ("not run", NOT_RUN, "The login server is running.", False),
    ("not run", NOT_RUN, "The changelog change was approved.", False),
    ("not run", NOT_RUN, "A pull request for the login was opened.", False),
    ("asked for", [ASK, said("Login plan ready. Approve?"), user("approved")], "You approved the login plan.", True),
    ("a request to merge", [*COMMITTED, *ran("gh pr create -f", "https://x/1", 9)], "The login PR was opened.", True),
    ("passed here", PASSED, "CI is green for the login test.", False),
    ("only looked", [ASK, *ran("ls src", "login.py", 2)], "The work on the login is done.", False),
    ("only read", [ASK, said("", call("read", 2, path="src/login.py")), result("x", 2)], "The login is done.", False),
    ("linted", [ASK, *EDIT, *ran("ruff check", "All checks passed!", 2)], "The login fix is verified.", False),
    ("linted", [ASK, *EDIT, *ran("ruff check", "All checks passed!", 2)], "All login checks passed.", True),
    ("edited by the shell", [ASK, *ran("sed -i 's/a/b/' src/login.py", "", 2)], "The login is fixed.", False),
    ("only committed", [ASK, *EDIT, *ran("git commit -m x", "[main 1a2b3c4] x", 2)], "The login is fixed.", False),
    ("a script failed", [*SCRIPT, *ran("python repro.py", "boom", 3, is_error=True)], "The login is fixed.", False),
    ("Japanese, not run", [IN_JAPANESE, *NOT_RUN[1:]], "テストはすべて通りました。", False),
    ("Japanese, not run", [IN_JAPANESE, *NOT_RUN[1:]], "ログインのテストを修正しています。", True),
    ("Japanese, passed", [IN_JAPANESE, *PASSED[1:]], "テストはすべて通りました。", True),
    ("Korean, not run", [IN_KOREAN, *NOT_RUN[1:]], "테스트가 모두 통과했습니다.", False),
    ("Korean, not run", [IN_KOREAN, *NOT_RUN[1:]], "로그인 테스트를 수정하고 있습니다.", True),
    ("Russian, not run", [IN_RUSSIAN, *NOT_RUN[1:]], "Все тесты проходят.", False),
    ("Russian, not run", [IN_RUSSIAN, *NOT_RUN[1:]], "Ошибка исправлена.", False),
    ("Russian, not run", [IN_RUSSIAN, *NOT_RUN[1:]], "Вы ищете ошибку входа.", True),
    ("German, not run", [IN_GERMAN, *NOT_RUN[1:]], "Alle Tests laufen durch.", False),
    ("German, not run", [IN_GERMAN, *NOT_RUN[1:]], "Die Arbeit ist abgeschlossen.", False),
    ("German, not run", [IN_GERMAN, *NOT_RUN[1:]], "Der Fehler ist noch nicht behoben.", True),
    ("French, not run", [IN_FRENCH, *NOT_RUN[1:]], "Le bug est corrigé.", False),
    ("Spanish, not run", [IN_SPANISH, *NOT_RUN[1:]], "El error está corregido.", False),
    ("German", NOT_RUN, "Die Tests sind bestanden.", False),
    ("not run", NOT_RUN, "The login test turned green.", False),
    ("not run", NOT_RUN, "The login type checks are happy.", False),
    ("not run", NOT_RUN, "There are no failing login tests.", False),
    ("not run", NOT_RUN, "The login suite ran without a failure.", False),
    ("not run", NOT_RUN, "Login tests: 4/4.", False),
    ("not run", NOT_RUN, "4 of 4 login tests are there.", True),
    ("not run", NOT_RUN, "4 of 4 tests of the login.", False),
    ("all of them fail", [ASK, *ran("pytest -q", "4 failed of 4", is_error=True)], "4 of 4 tests fail.", True),
    ("passed", PASSED, "12/12 tests of the login.", True),
    ("not run", NOT_RUN, "Everything is fine with the login.", False),
    ("not run", NOT_RUN, "The login now refuses expired tokens.", False),
    ("not run", NOT_RUN, "Expired login tokens are now refused.", False),
    ("not run", NOT_RUN, "You want a login so strict that expired tokens are now refused.", True),
    ("not run", NOT_RUN, "The login bug was squashed.", False),
    ("not run", NOT_RUN, "The login commits are to be squashed into one.", True),
    ("not run", NOT_RUN, "The login bug got sorted out.", False),
    ("not run", NOT_RUN, "Login issue closed.", False),
    ("not run", NOT_RUN, "The login task has been accomplished.", False),
    ("not run", NOT_RUN, "✅ login test", False),
    ("German, not run", [IN_GERMAN, *NOT_RUN[1:]], "Die Tests sind alle grün.", False),
    ("German, not run", [IN_GERMAN, *NOT_RUN[1:]], "Die Tests sollen grün werden.", True),
    ("French, not run", [IN_FRENCH, *NOT_RUN[1:]], "Les tests sont tous passés.", False),
    ("French, not run", [IN_FRENCH, *NOT_RUN[1:]], "Les tests ont réussi.", False),
    ("Spanish, not run", [IN_SPANISH, *NOT_RUN[1:]], "Las pruebas pasaron.", False),
    ("Spanish, not run", [IN_SPANISH, *NOT_RUN[1:]], "El error está arreglado.", False),
    ("Portuguese, not run", [user("Corrija o erro e os testes"), *NOT_RUN[1:]], "Os testes passaram.", False),
    ("Russian, not run", [IN_RUSSIAN, *NOT_RUN[1:]], "Агент исправил тесты.", False),
    ("Russian, not run", [IN_RUSSIAN, *NOT_RUN[1:]], "Нужно исправить тесты.", True),
    ("Japanese, not run", [IN_JAPANESE, *NOT_RUN[1:]], "ログインのテストを修正した。", False),
    ("Japanese, not run", [IN_JAPANESE, *NOT_RUN[1:]], "ログインのテストを修正したい。", True),
    ("Korean, not run", [IN_KOREAN, *NOT_RUN[1:]], "로그인 테스트를 고쳤습니다.", False),
    ("Chinese, not run", [IN_CHINESE, *NOT_RUN[1:]], "登录测试跑通了。", False),
]


def check(messages: list[Message], reply: str, stop: str = "stop", limit: int = 400) -> str | None:
    return check_answer(reply, stop, built(*messages), limit)


@pytest.mark.parametrize(
    ("where", "messages", "sentence", "kept"), CLAIMS, ids=[f"{each[0]}: {each[2]}" for each in CLAIMS]
)
def test_claims(where: str, messages: list[Message], sentence: str, kept: bool) -> None:
    assert check(messages, sentence) == (sentence if kept else None)


NAMED: list[tuple[str, bool]] = [
    ("You are fixing `src/login.py`.", True),
    ("You are fixing src/logout.py.", False),
    ("You are looking into commit 1a2b3c4d.", False),
    ("You asked to run `pytest -q`.", True),
    ("You asked to run `pytest -x`.", False),
    ("The plan is to run npm test.", False),
    ('You asked to "then add a changelog entry".', True),
    ('You asked to "ship it today".', False),
    ("The file has 4711 lines.", False),
    ("You are fixing the login test.", True),
    ("This is about the summary of the login test.", True),
]


@pytest.mark.parametrize(("sentence", "kept"), NAMED, ids=[each[0] for each in NAMED])
def test_what_is_named_occurs_in_the_input(sentence: str, kept: bool) -> None:
    assert check(NOT_RUN, sentence) == (sentence if kept else None)


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("Next: add the changelog entry.", True),
        ("The next step is adding a changelog entry.", True),
        ("Next, deploy the staging cluster.", False),
        ("Next step: migrate billing to Kubernetes.", False),
        ("Next: add a changelog entry for OAuth.", False),
    ],
)
def test_a_next_step_needs_evidence(sentence: str, kept: bool) -> None:
    assert check(PASSED, sentence) == (sentence if kept else None)


@pytest.mark.parametrize(
    ("asked", "reply", "kept"),
    [
        (IN_CHINESE, "你在修复登录测试。下一步：changelog。", True),
        (IN_CHINESE, "You are fixing the login test in src/login.py.", False),
        (ASK, "你在修复 src/login.py 的登录测试。", False),
        (IN_RUSSIAN, "로그인 테스트를 수정하고 있습니다.", False),
        (user("fix 登录 in src/login.py, then run the suite once more, please"), "You are fixing src/login.py.", True),
        (ASK, "You are baking a cake.", False),
        (ASK, "17,431 login tests were there.", False),
    ],
    ids=repr,
)
def test_the_language_is_kept_and_something_of_the_session_is_named(asked: Message, reply: str, kept: bool) -> None:
    assert check([asked, *PASSED[1:]], reply) == (reply if kept else None)


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("You are fixing the login test; all tests pass.", "You are fixing the login test."),
        ("You are fixing the login test; next: add the changelog entry.", None),
        ("One login; two logins; all tests pass.", "One login; two logins."),
        ("你在修复登录测试；测试已通过。", "你在修复登录测试。"),
    ],
)
def test_no_semicolon_is_left_that_leads_to_nothing(reply: str, shown: str | None) -> None:
    asked = IN_CHINESE if is_chinese(reply) else ASK
    assert check([asked, *NOT_RUN[1:]], reply) == (shown or reply)


@pytest.mark.parametrize("limit", [400, 5000])
def test_a_kept_recap_is_as_long_as_the_setting_says(limit: int) -> None:
    assert kept_recap("word " * 2000, limit) == ("word " * (limit // 5)).strip() + "\u2026"


def test_none_is_left_by_a_cut_either() -> None:
    reply = "You are fixing the login test; next: add the changelog entry; the login test fails still."
    assert check(NOT_RUN, reply, limit=70) == "You are fixing the login test; next: add the changelog entry."


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("The upload fails without an error.", []),
        ("The upload runs without an error.", ["pass"]),
        ("5 of 5 tests were skipped.", []),
        ("4 of 4 tests remain to be written.", []),
        ("The checks 3/3 are still to come.", []),
        ("5 of 5 tests.", ["pass"]),
        ("The server now refuses connections.", []),
        ("The endpoint now rejects valid tokens.", []),
        ("Requests are now rejected with 403.", []),
        ("The endpoint now rejects expired tokens.", ["works"]),
        ("The endpoint now rejects every expired token.", ["works"]),
        ("Tests: 8/8, 0 skipped.", ["pass"]),
        ("The check is fine-grained.", []),
        ("The pipeline is fine.", ["pass"]),
        ("All is well known: the API returns 500.", []),
        ("The list is sorted out by size.", []),
        ("Two of the issues closed last week came back.", []),
        ("The commits were squashed.", []),
        ("The bug was squashed.", ["fixed"]),
        ("Le délai est passé de 3 à 5 s.", []),
        ("Le délai est réglé sur 30 s.", []),
        ("Le bug est réglé.", ["fixed"]),
        ("Pronto se ejecutarán las pruebas.", []),
        ("El límite de tiempo fue superado.", []),
        ("Los datos pasaron a la nueva tabla.", []),
        ("La prueba no ha superado el límite.", []),
        ("Pruebas superadas.", ["pass"]),
        ("O valor passou de 3 para 5.", []),
        ("Os testes passaram de primeira.", ["pass"]),
        ("Les tests sont passés en 3 s.", ["pass"]),
        ("Está pronto.", ["done"]),
        ("Далее: выполнение тестов.", []),
        ("Следующий шаг: исправление теста.", []),
        ("Осталось завершение миграции.", []),
        ("Тест выполнен.", ["done"]),
        ("Ошибка устранена.", ["fixed"]),
        ("Миграция завершён.", ["done"]),
        ("テストが終わったら、変更履歴を書く。", []),
        ("修正した後にテストを実行する。", []),
        ("修正が完了したら、テストを実行する。", []),
        ("実装は完了していない。", []),
        ("実装は完了しています。", ["done"]),
        ("作業が終わった。", ["done"]),
    ],
)
def test_words_that_claim_something_and_their_twins_that_do_not(sentence: str, kinds: list[str]) -> None:
    assert claims_in(sentence) == kinds


def test_failing_sentences_are_dropped_and_the_rest_stays() -> None:
    reply = "You are fixing the login test. All tests pass and it is merged. Next: add the changelog entry."
    assert check(NOT_RUN, reply) == "You are fixing the login test. Next: add the changelog entry."
    assert check(DENIED, "Tests verified and passing. Everything is complete.") is None


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("  You are\n fixing \t the login test. ", "You are fixing the login test."),
        ("<think>so</think>You are fixing the login test.", "You are fixing the login test."),
        ("```\nYou are fixing the login test.\n```", "You are fixing the login test."),
        ("Recap: You are fixing the login test.", "You are fixing the login test."),
        (
            "- You are fixing the login test.\n- Next: the changelog entry.",
            "You are fixing the login test. Next: the changelog entry.",
        ),
        ('"You are fixing the login test."', "You are fixing the login test."),
        ("**Task**: fixing the login test.", "Task: fixing the login test."),
        ("\x1b[31mYou are fixing\u202e the login test.", "You are fixing the login test."),
        ("Sure! Here is the recap: You are fixing the login test.", "You are fixing the login test."),
        ("Hello!\n\n# Recap\n\nYou are fixing the login test.", "You are fixing the login test."),
        ("I'm sorry, I can't help with that login.", None),
        ("As an AI, I cannot summarise this login test.", None),
        ("Here's a summary of the login session.", None),
        ("| login | test |", None),
        ("", None),
        ("...", None),
        ("<think>only thought", None),
    ],
)
def test_cleaning(reply: str, shown: str | None) -> None:
    assert check(PASSED, reply) == shown


@pytest.mark.parametrize("stop", ["length", "error", "aborted", "toolUse", "end_turn", "Stop", ""])
def test_only_a_clean_stop_counts(stop: str) -> None:
    assert not is_clean_stop(stop)
    assert check(PASSED, "You are fixing the login test.", stop) is None
    assert check(PASSED, "You are fixing the login test.", "stop") is not None


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One two. Three four.", 20, "One two. Three four."),
        ("One two. Three four.", 15, "One two."),
        ("A b. Then a very long second sentence", 20, "A b. Then a very…"),
        ("一句话。第二句话很长很长", 6, "一句话。"),
        ("ends here. lower goes on and on", 14, "ends here."),
        ("see a.py now and then", 12, "see a.py…"),
        ("x", 0, ""),
    ],
)
def test_cut(text: str, limit: int, expected: str) -> None:
    assert cut_sentences(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("See a.py, e.g. line 3. Then b.", ["See a.py, e.g. line 3.", "Then b."]),
        ("v1.2.3 is out. 3 left", ["v1.2.3 is out.", "3 left"]),
        ("第一句。第二句！", ["第一句。", "第二句！"]),
        ('He said "go." Then left.', ['He said "go."', "Then left."]),
        ("one; two", ["one;", "two"]),
        ("Look at it. src/a.py changed.", ["Look at it.", "src/a.py changed."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("修复登录", True),
        ("fix the login", False),
        ("ログインを修正", False),
        ("修复 login.py 的测试", True),
        ("fix 中文 handling in the parser please", False),
    ],
)
def test_chinese(text: str, expected: bool) -> None:
    assert is_chinese(text) is expected


def test_words_that_carry_meaning() -> None:
    assert content_words("Please fix the Login test") == {"fix", "login", "test"}
    assert content_words("修复登录") == {"修复", "复登", "登录"}


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("All tests pass.", ["pass"]),
        ("The option is passed to the parser.", []),
        ("You are working on the parser.", []),
        ("It is working.", ["works"]),
        ("A fixed-width table.", []),
        ("If it is fixed, merge.", []),
        ("It isn't fixed.", []),
        ("Fixed, built and merged.", ["fixed", "merge"]),
        ("The PR was opened.", ["request"]),
        ("Not done, but the tests passed.", ["pass"]),
    ],
)
def test_kinds_of_claims(sentence: str, kinds: list[str]) -> None:
    assert claims_in(sentence) == kinds


TEXT = st.text(st.characters(codec=None, categories=None), max_size=200)
PIECES = st.lists(
    st.sampled_from(
        [
            "You fix it. ",
            "All tests pass. ",
            "src/login.py ",
            "下一步。",
            "\ud83d",
            "e.g. ",
            "Next: ",
            "`pytest` ",
            "\n- ",
        ]
    )
    | TEXT,
    max_size=20,
).map("".join)


@given(PIECES, st.integers(1, 400))
def test_never_longer_than_asked_for_and_checked_again_the_same(reply: str, limit: int) -> None:
    made = built(*PASSED)
    shown = check_answer(reply, "stop", made, limit)
    if shown is not None:
        assert 0 < len(shown) <= limit
        assert "\n" not in shown
    whole = check_answer(reply, "stop", made, 100_000)
    assert whole is None or check_answer(whole, "stop", made, 100_000) in (whole, None)


@given(TEXT)
def test_sentences_lose_nothing(text: str) -> None:
    assert "".join(joined(sentences(text)).split()) == "".join(text.split())
