"""The plug-in in the real Neovim: what a person sees (clients.md, 'Editors')."""

import json
import re
from pathlib import Path

import psutil
import pytest

from tests.hosts.neovim.harness import CONTEXT, OUTPUT, RECAP, SESSION, capture, recap, work
from tests.hosts.neovim.neovim import FOCUS_GAINED, FOCUS_LOST, OLDEST, PLUGIN, Neovim


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


def test_an_original_can_be_read_once_more(neovim: Neovim) -> None:
    place_on(neovim, "t1")
    neovim.type(b"\x1d")
    neovim.until_lua(
        "return vim.startswith(vim.api.nvim_buf_get_name(0), 'afterturn://') and vim.bo.readonly", "buffer"
    )
    assert neovim.lua("return { pcall(vim.cmd.edit) }")[0] is True
    assert neovim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')") == OUTPUT
    assert neovim.lua("return { vim.bo.readonly, vim.bo.modifiable, vim.bo.modified }") == [True, False, False]


def test_the_ref_command_shows_a_whole_one_in_a_window(neovim: Neovim) -> None:
    neovim.type(b":Afterturn ref t1\r")
    assert neovim.float() == OUTPUT
    neovim.type(b"q")
    neovim.until(lambda: neovim.floats() == 0, "closed window")


def test_the_ref_command_means_the_session_of_the_line(neovim: Neovim, home: Path, project: Path) -> None:
    work(home, project, "later", "1 failed")
    neovim.type(b":Afterturn ref t2\r")
    assert neovim.float() == "1 failed"
    neovim.type(b"q")
    neovim.until(lambda: neovim.floats() == 0, "closed window")
    neovim.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'session: fix-login' })")
    place_on(neovim, "t2")
    neovim.type(b":Afterturn ref\r")
    assert neovim.float() == "2 failed"


def test_what_is_no_ref_is_said_to_be_none(neovim: Neovim) -> None:
    neovim.type(b":Afterturn ref notes\r")
    neovim.until(lambda: "notes is no ref" in neovim.messages(), "message")
    neovim.type(b":Afterturn ref t99\r")
    neovim.until(lambda: "t99 is not known here" in neovim.messages(), "message")
    neovim.lua("vim.cmd.enew()")
    neovim.type(b":Afterturn traces\r")
    neovim.until(lambda: "no word under the cursor" in neovim.messages(), "message")


def test_a_recap_comes_when_the_focus_was_lost(neovim: Neovim) -> None:
    turn_end(neovim)
    neovim.type(FOCUS_LOST)
    shown = neovim.float()
    assert "login redirect" in shown.replace("\n", " ")
    neovim.type(FOCUS_GAINED)
    assert neovim.floats() == 1
    neovim.type(b":fclose\r")
    neovim.until(lambda: neovim.floats() == 0, "closed window")


def test_one_that_was_closed_does_not_come_again(neovim: Neovim, home: Path) -> None:
    """Whoever comes back closes it while the server is still asked whether there is one."""
    neovim.type(FOCUS_LOST)
    neovim.until_lua("return require('afterturn.recap').away()", "absence")
    recap(home)
    neovim.lua(
        "local client = vim.lsp.get_clients({ name = 'afterturn' })[1]; local request = client.request;"
        f" local kept = client:request_sync('recap/get', {{ sessionId = '{SESSION}' }}, 20000).result.recap;"
        " require('afterturn.recap').ready(client.id, kept);"
        " client.request = function(self, method, params, handler, ...)"
        "  local answered = method ~= 'recap/get' and handler or function(...)"
        "   vim.cmd.fclose(); handler(...); told = true end;"
        "  return request(self, method, params, answered, ...) end"
    )
    assert neovim.float().replace("\n", " ") == RECAP
    neovim.type(FOCUS_GAINED)
    neovim.until_lua("return told", "answer")
    assert neovim.floats() == 0


def test_a_recap_that_a_harness_kept_meanwhile_is_there_on_return(neovim: Neovim, home: Path) -> None:
    neovim.type(FOCUS_LOST)
    neovim.until_lua("return require('afterturn.recap').away()", "absence")
    recap(home)
    neovim.type(FOCUS_GAINED)
    assert neovim.float().replace("\n", " ") == RECAP


def test_it_is_there_even_if_a_server_died_with_one_on_the_screen(neovim: Neovim, home: Path) -> None:
    neovim.lua("vim.o.cmdheight = 5")  # room for what Neovim says of the death, without a key to press
    turn_end(neovim)
    neovim.type(b":Afterturn recap\r")
    neovim.float()
    psutil.Process(neovim.server_pid()).kill()
    neovim.until_lua("return #vim.lsp.get_clients({ name = 'afterturn' }) == 0", "end")
    neovim.lua("vim.cmd.fclose()")
    neovim.lua("vim.cmd.edit()")
    neovim.attached()
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


def test_asking_once_is_not_asking_for_ever(neovim: Neovim, home: Path) -> None:
    capture(home)
    turn_end(neovim)
    neovim.type(b":Afterturn recap\r")
    assert "Fix the login redirect" in neovim.float().replace("\n", " ")  # from what was pushed: nothing was asked for
    told = neovim.lua(
        "local client = vim.lsp.get_clients({ name = 'afterturn' })[1];"
        f" client:notify('session/changed', {{ sessionId = '{SESSION}', kind = 'message' }});"
        f" return client:request_sync('recap/now', {{ sessionId = '{SESSION}' }}, 20000).result.reason"
    )
    assert told == "empty"


def test_asking_a_server_that_dies_is_not_asking_for_ever(neovim: Neovim, home: Path) -> None:
    neovim.lua("vim.o.cmdheight = 5")
    capture(home)
    server = psutil.Process(neovim.server_pid())
    server.suspend()
    neovim.lua("vim.cmd.Afterturn('recap')")
    server.kill()
    neovim.until_lua("return #vim.lsp.get_clients({ name = 'afterturn' }) == 0", "end")
    neovim.lua("vim.cmd.edit()")
    neovim.attached()
    told = neovim.lua(
        "local client = vim.lsp.get_clients({ name = 'afterturn' })[1];"
        f" return client:request_sync('recap/now', {{ sessionId = '{SESSION}' }}, 20000).result.reason"
    )
    assert told == "empty"


@pytest.mark.parametrize("granularity", ["turn", "tool"])
def test_what_was_captured_is_told_once(neovim: Neovim, home: Path, granularity: str) -> None:
    capture(home, granularity=granularity)
    neovim.lua(
        "local context = require('afterturn.context');"
        " local client = vim.lsp.get_clients({ name = 'afterturn' })[1];"
        " context.asked_for(client.id);"
        f" coroutine.wrap(function() told = context.of(client.id, '{SESSION}') end)()"
    )
    messages = neovim.until_lua("return told and told.messages", "context")
    assert [(each["role"], each["content"]) for each in messages] == [
        ("user", "Where is the login redirect?"),
        ("assistant", "I look for it."),
        ("tool", "auth.py"),
        ("assistant", "Now the line."),
        ("tool", "12: go"),
        ("assistant", "In src/auth.py, line 12."),
    ]
    assert [each["toolCalls"][0]["id"] for each in messages if "toolCalls" in each] == ["c1", "c2"]


@pytest.mark.parametrize(("columns", "lines"), [(100, 30), (12, 4)])
@pytest.mark.parametrize("text", ["word " * 60, "\u6f22\u5b57" * 60, "x" * 300, "", "a\nb"])
def test_a_recap_is_seen_to_its_end_where_there_is_room(neovim: Neovim, columns: int, lines: int, text: str) -> None:
    shown = json.dumps({"recapId": "r1", "sessionId": SESSION, "text": text, "createdAt": 1}, ensure_ascii=False)
    width, height, needed, room = neovim.lua(
        f"vim.o.columns, vim.o.lines = {columns}, {lines};"
        " local client = vim.lsp.get_clients({ name = 'afterturn' })[1];"
        f" require('afterturn.recap').ready(client.id, vim.json.decode([==[{shown}]==]));"
        " for _, window in ipairs(vim.api.nvim_list_wins()) do"
        "  if vim.api.nvim_win_get_config(window).relative ~= '' then return {"
        "   vim.api.nvim_win_get_width(window), vim.api.nvim_win_get_height(window),"
        "   vim.api.nvim_win_text_height(window, {}).all, math.max(vim.o.lines - 6, 1) } end end"
    )
    assert width <= columns
    assert height == min(needed, room)


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


def test_half_a_character_in_one_is_no_hindrance(neovim: Neovim, home: Path) -> None:
    """Node writes one where it cuts a text; to Neovim a message that holds it is no JSON."""
    capture(home, said="In src/auth.py, line 12 \ud83d")
    neovim.type(b":Afterturn traces login redirect\r")
    assert "line 12 \ufffd" in neovim.float()


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


@pytest.mark.parametrize("neovim", [OLDEST], indirect=True)
def test_the_oldest_neovim_that_is_promised_does_the_same(neovim: Neovim) -> None:
    assert neovim.lua("return { vim.version().major, vim.version().minor }") == [0, 11]
    turn_end(neovim)
    neovim.type(FOCUS_LOST)
    assert "login redirect" in neovim.float().replace("\n", " ")
    neovim.type(FOCUS_GAINED)
    neovim.type(b":fclose\r")
    neovim.until(lambda: neovim.floats() == 0, "closed window")
    neovim.type(b":Afterturn ref t2\r")
    assert neovim.float() == "2 failed"
    neovim.type(b"q:checkhealth afterturn\r")
    report = neovim.until_lua(
        "local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n');"
        " return text:find('nothing leaves this machine', 1, true) and text",
        "health report",
    )
    assert "ERROR" not in report
    neovim.type(b":tabclose\r")
    neovim.until_lua("return #vim.api.nvim_list_tabpages() == 1", "closed tab")
    place_on(neovim, "t1")
    neovim.type(b"K")
    assert "grep -n redirect # 1" in neovim.float()


def test_the_help_file_has_its_tags(neovim: Neovim, tmp_path: Path) -> None:
    text = (PLUGIN / "doc" / "afterturn.txt").read_text("utf-8")
    (tmp_path / "afterturn.txt").write_text(text, "utf-8")
    neovim.lua(f"vim.cmd.helptags('{tmp_path}')")
    tags = {line.split("\t")[0] for line in (tmp_path / "tags").read_text("utf-8").splitlines()}
    assert {"afterturn", "afterturn-setup", "afterturn-refs", "afterturn-recaps", ":Afterturn"} <= tags
    others = sorted(set(re.findall(r"\|([^|\s]+)\|", text)) - tags)
    assert [neovim.lua(f"return (pcall(vim.cmd.help, '{link}'))") for link in others] == [True] * len(others)


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
