"""The plug-in in the real Neovim: what a person sees (clients.md, 'Editors')."""

import json
from pathlib import Path

import psutil

from tests.hosts.neovim.harness import CONTEXT, OUTPUT, RECAP, SESSION, capture, recap
from tests.hosts.neovim.neovim import FOCUS_GAINED, FOCUS_LOST, Neovim


def place_on(neovim: Neovim, text: str) -> None:
    """The cursor on the first place with this text."""
    neovim.lua(f"vim.fn.search([[\\V{text}]], 'cw')")


def turn_end(neovim: Neovim) -> None:
    """A plug-in that runs an agent inside Neovim says that the agent is done."""
    params = json.dumps({"sessionId": SESSION, "context": CONTEXT})
    neovim.lua(
        "answered = false;"
        f" require('afterturn').request('recap/onTurnEnd', vim.json.decode([==[{params}]==]),"
        " function() answered = true end)"
    )
    neovim.until_lua("return answered", "answer")


def test_hover_shows_how_the_original_begins(neovim: Neovim) -> None:
    place_on(neovim, "t1")
    neovim.type(b"K")
    shown = neovim.float()
    assert "bash" in shown
    assert "grep -n redirect # 1" in shown
    assert "src/auth.py:12: redirect = go" in shown
    assert "line 399" not in shown


def test_there_is_nothing_to_see_in_fenced_code(neovim: Neovim) -> None:
    place_on(neovim, "t1 = 4")
    answered = neovim.lua(
        "local client = vim.lsp.get_clients({ name = 'afterturn' })[1];"
        " local here = vim.lsp.util.make_position_params(0, client.offset_encoding);"
        " local answer = client:request_sync('textDocument/hover', here);"
        " return { answer.err == nil, answer.result == nil }"
    )
    assert answered == [True, True]


def test_definition_opens_the_whole_original_read_only(neovim: Neovim, home: Path) -> None:
    place_on(neovim, "t1")
    neovim.type(b"\x1d")  # CTRL-]
    name = neovim.until_lua(
        "local name = vim.api.nvim_buf_get_name(0); "
        " return vim.startswith(name, 'afterturn://') and vim.bo.readonly and name",
        "original",
    )
    assert name.endswith("/t1.txt?fix-login")
    assert neovim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')") == OUTPUT
    assert neovim.lua("return { vim.bo.readonly, vim.bo.modifiable, vim.bo.modified }") == [True, False, False]
    assert [file.name for file in home.rglob("*") if file.is_file() and file.suffix == ".txt"] == []


def test_the_ref_command_opens_one_too(neovim: Neovim) -> None:
    neovim.type(b":Afterturn ref t2\r")
    shown = "vim.endswith(vim.api.nvim_buf_get_name(0), '/t2.txt?fix-login') and vim.bo.readonly"
    neovim.until_lua(f"return {shown}", "original")
    assert neovim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == ["2 failed"]


def test_a_recap_comes_when_the_focus_was_lost(neovim: Neovim) -> None:
    turn_end(neovim)
    neovim.type(FOCUS_LOST)
    shown = neovim.float()
    assert "login redirect" in shown.replace("\n", " ")
    neovim.type(FOCUS_GAINED)
    assert neovim.floats() == 1
    neovim.type(b":fclose\r")
    neovim.until(lambda: neovim.floats() == 0, "closed window")


def test_a_recap_that_a_harness_kept_meanwhile_is_there_on_return(neovim: Neovim, home: Path) -> None:
    neovim.type(FOCUS_LOST)
    neovim.until_lua("return require('afterturn.recap').away()", "absence")
    recap(home)
    neovim.type(FOCUS_GAINED)
    assert neovim.float().replace("\n", " ") == RECAP


def test_one_from_before_is_not(neovim: Neovim, home: Path) -> None:
    recap(home)
    neovim.type(FOCUS_LOST)
    neovim.until_lua("return require('afterturn.recap').away()", "absence")
    neovim.type(FOCUS_GAINED)
    neovim.until_lua("return not require('afterturn.recap').away()", "return")
    neovim.lua(
        "local client = vim.lsp.get_clients({ name = 'afterturn' })[1];"
        f" client:request_sync('recap/get', {{ sessionId = '{SESSION}' }}, 20000)"
    )
    assert neovim.floats() == 0


def test_a_recap_is_drafted_from_what_a_harness_captured_meanwhile(neovim: Neovim, home: Path) -> None:
    capture(home, at_ms=neovim.lua("return os.time() * 1000") + 1000)
    neovim.type(FOCUS_LOST)
    assert "Where is the login redirect?" in neovim.float().replace("\n", " ")


def test_of_older_work_there_is_one_only_for_who_asks(neovim: Neovim, home: Path) -> None:
    capture(home)
    told = neovim.lua(
        "local client = vim.lsp.get_clients({ name = 'afterturn' })[1];"
        f" local params = {{ sessionId = '{SESSION}' }};"
        " return client:request_sync('recap/now', params, 20000).result.reason"
    )
    assert told == "empty"
    neovim.type(b":Afterturn recap\r")
    assert "Where is the login redirect?" in neovim.float().replace("\n", " ")


def test_the_recap_command_drafts_one_now(neovim: Neovim) -> None:
    turn_end(neovim)
    neovim.type(b":Afterturn recap\r")
    assert "login redirect" in neovim.float().replace("\n", " ")


def test_without_anything_to_tell_it_says_so(neovim: Neovim) -> None:
    neovim.type(b":Afterturn recap\r")
    neovim.until(lambda: "nothing to tell" in neovim.messages(), "message")
    assert neovim.floats() == 0


def test_status_says_what_runs(neovim: Neovim, home: Path) -> None:
    neovim.type(b":Afterturn status\r")
    shown = neovim.float()
    assert f"session: {SESSION}" in shown
    assert str(home) in shown
    neovim.type(b"q")
    neovim.until(lambda: neovim.floats() == 0, "closed window")


def test_traces_are_found(neovim: Neovim, home: Path) -> None:
    neovim.type(b":Afterturn traces redirect\r")
    neovim.until(lambda: "no traces for redirect" in neovim.messages(), "message")
    capture(home)
    neovim.type(b":Afterturn traces login redirect\r")
    shown = neovim.float()
    assert "Where is the login redirect?" in shown
    assert "In src/auth.py, line 12." in shown


def test_an_unknown_command_is_refused_and_known_ones_complete(neovim: Neovim) -> None:
    assert neovim.lua("return vim.fn.getcompletion('Afterturn ', 'cmdline')") == ["recap", "ref", "status", "traces"]
    assert neovim.lua("return vim.fn.getcompletion('Afterturn re', 'cmdline')") == ["recap", "ref"]
    neovim.type(b":Afterturn nonsense\r")
    neovim.until(lambda: "use one of recap, ref, status, traces" in neovim.messages(), "message")


def test_refs_complete_in_insert_mode(neovim: Neovim) -> None:
    neovim.type(b"Got\x18\x0f")  # a line below the last, with "t" typed, then CTRL-X CTRL-O
    words = neovim.until_lua(
        "local info = vim.fn.complete_info({ 'items' }); return #info.items > 0"
        " and vim.tbl_map(function(item) return item.word end, info.items)",
        "completion",
    )
    assert words == ["t2", "t1"]


def test_the_health_check_says_what_there_is(neovim: Neovim, home: Path) -> None:
    neovim.type(b":checkhealth afterturn\r")
    report = neovim.until_lua(
        "local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n');"
        " return text:find('nothing leaves this machine', 1, true) and text",
        "health report",
    )
    assert "ERROR" not in report
    assert "WARNING" not in report
    assert str(home) in report


def test_without_the_program_it_says_what_to_do(tmp_path: Path, home: Path) -> None:
    with Neovim(tmp_path, home, program=tmp_path / "nothing") as neovim:
        neovim.type(b":Afterturn recap\r")
        neovim.until(lambda: "no server runs here" in neovim.messages(), "message")
        neovim.type(b":checkhealth afterturn\r")
        report = neovim.until_lua(
            "local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n');"
            " return text:find('no server runs', 1, true) and text",
            "health report",
        )
        assert f"`{tmp_path / 'nothing'}` is not found" in report
        assert "pipx install afterturn" in report


def test_leaving_leaves_no_process(neovim: Neovim) -> None:
    server = psutil.Process(neovim.server_pid())
    children = [server, *server.children(recursive=True)]
    neovim.type(b":qall!\r")
    assert neovim.process.wait(30) == 0
    _gone, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
