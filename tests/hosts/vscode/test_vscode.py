"""The extension in a real VS Code: what a person sees of an agent's work (clients.md, 'Editors')."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.hosts.vscode.agent import ALPHA, LOG, OLDER_LOG, OLDER_SESSION, SESSION, Agent
from tests.hosts.vscode.window import PATIENCE_SECONDS, ROOT, Host, Window

NOTES = "The run t1 passed; t99 is nobody's.\n"
OLDER_NOTES = f"session: {OLDER_SESSION}\n\nBefore that it was t1.\n"
LINK = "command:workbench.action.toggleZenMode"
OF_THE_FOLDER = {
    "afterturn.command": "/nowhere/afterturn",
    **{f"afterturn.{job}.model": "elsewhere/one" for job in ("models", "condense", "recap", "capture")},
}
RUNNING = ".statusbar-item:has-text('afterturn')"
RECAP = ".statusbar-item:has-text('Recap')"
TOAST = ".notification-toast"
NOTIFIED = "[id='status.notifications'] .codicon-bell-dot"
ROW = ".pane-body .monaco-list-row"
AWAY_SECONDS = 5


class Desk:
    """A person's desk: a folder, a store that an agent fills, and a VS Code that has not been started yet."""

    def __init__(self, root: Path, *, executable: Path = ROOT / ".venv/bin/afterturn") -> None:
        self._root = root
        self.folder = root / "project"
        self.home = root / "afterturn"
        self.folder.mkdir()
        (self.folder / "notes.md").write_text(NOTES)
        (self.folder / "older.md").write_text(OLDER_NOTES)
        self.host = Host(root, {"AFTERTURN_HOME": str(self.home), "AFTERTURN_PATH": str(executable)})

    def agent(self, session: str = SESSION) -> Agent:
        return Agent(self.home, self.folder, session)

    def window(self, address: str) -> Window:
        return Window(address, self.folder, self._root / "profile")

    def servers(self) -> list[psutil.Process]:
        """The servers on this desk's store that are alive."""
        return [each for each in psutil.process_iter() if self._is_ours(each)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return "--stdio" in process.cmdline() and process.environ().get("AFTERTURN_HOME") == str(self.home)
        except psutil.Error:
            return False


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on a folder in which an agent condensed one call and finished two pieces of work; no recap is shown.

    Whoever wrote the folder has wishes about what runs and where prompts go.
    """
    desk = Desk(tmp_path_factory.mktemp("worked"))
    (desk.folder / ".vscode").mkdir()
    (desk.folder / ".vscode/settings.json").write_text(json.dumps(OF_THE_FOLDER))
    now = time.time_ns() // 1_000_000
    with desk.agent() as agent:
        agent.condense()
        agent.finish("e1", "Fix the rounding in cart.py", "The total is rounded once.", at_ms=now - 7_200_000)
        agent.finish("e2", f"Cover an empty cart, [see]({LINK})", "The new test passes.", at_ms=now - 600_000)
    desk.host.configure({"afterturn.recap.auto": False})
    with desk.host.running() as address, desk.window(address) as window:
        window.see(RUNNING)
        window.click(".activitybar .action-label[aria-label='afterturn']")
        window.see(f"{ROW}:has-text('Cover an empty cart')")
        yield window


@pytest.fixture
def notes(worked: Window) -> Window:
    """The same window, with the notes open and nothing else."""
    worked.command("View: Close All Editors")
    worked.lose(".tab")
    worked.ask("Control+P", "notes.md")
    worked.click(".quick-input-list .monaco-list-row:has-text('notes.md')")
    worked.see(".view-line:has-text('The run')")
    return worked


def look_at_status(window: Window) -> None:
    """The status page as it is now."""
    window.command("View: Close All Editors")
    window.lose(".tab")
    window.command("afterturn: Status")
    window.see(".view-line:has-text('Used today')")


# -- refs ---------------------------------------------------------------------------------------------------------


def test_hovering_over_a_ref_shows_how_its_original_begins(notes: Window) -> None:
    notes.hover(".view-line span:text-is('t1')")
    shown = notes.see(".monaco-hover:has-text('pytest -q')")
    first, second = LOG.splitlines()[:2]
    assert shown.startswith("t1 bash")
    assert first in shown
    assert second in shown


def test_the_definition_of_a_ref_is_its_whole_original_and_cannot_be_changed(notes: Window) -> None:
    notes.click(".view-line span:text-is('t1')")
    notes.press("F12")
    notes.see(".tab.active:has-text('t1.txt')")
    notes.see(f".view-line:has-text('{LOG.splitlines()[0]}')")
    notes.press("Control+End")
    notes.see(f".view-line:has-text('{LOG.splitlines()[-1]}')")
    notes.see(f".statusbar-item:has-text('Ln {len(LOG.splitlines()) + 1}, Col 1')")
    notes.type("x")
    notes.see(".monaco-editor-overlaymessage:has-text('read-only')")


def test_refs_are_offered_where_one_is_begun(notes: Window) -> None:
    notes.press("Control+End")
    notes.type("See t")
    notes.press("Control+Space")
    offered = notes.see(".suggest-widget .monaco-list-row:has-text('t1')")
    assert "pytest -q" in offered
    notes.press("Enter")
    notes.see(".view-line:has-text('See t1')")
    notes.press("Control+Z")
    notes.press("Control+Z")


def test_a_ref_is_opened_by_its_name(notes: Window) -> None:
    notes.command("afterturn: Open Original of a Ref")
    notes.see(".quick-input-message:has-text('original')")
    notes.type("t1")
    notes.press("Enter")
    notes.see(".tab.active:has-text('t1.txt')")
    notes.see(f".view-line:has-text('{LOG.splitlines()[0]}')")


def test_a_ref_that_the_session_never_gave_is_said_to_be_none(notes: Window) -> None:
    notes.command("afterturn: Open Original of a Ref")
    notes.see(".quick-input-message:has-text('original')")
    notes.type("t99")
    notes.press("Enter")
    notes.see(f"{TOAST}:has-text('has no ref t99')")
    notes.command("Notifications: Clear All Notifications")
    notes.lose(TOAST)


def test_a_ref_is_opened_in_the_session_that_its_document_names(desk: Desk) -> None:
    with desk.agent(OLDER_SESSION) as agent:
        agent.condense(OLDER_LOG)
    with desk.agent() as agent:
        agent.condense()
    with desk.host.running() as address, desk.window(address) as window:
        window.see(RUNNING)
        window.ask("Control+P", "older.md")
        window.click(".quick-input-list .monaco-list-row:has-text('older.md')")
        window.click(".view-line span:text-is('t1')")
        window.command("afterturn: Open Original of a Ref")
        window.see(".quick-input-message:has-text('original')")
        window.press("Enter")
        window.see(".tab.active:has-text('t1.txt')")
        window.see(f".view-line:has-text('{OLDER_LOG.strip()}')")


# -- traces -------------------------------------------------------------------------------------------------------


def test_the_tree_shows_finished_work_newest_first_and_the_weight_of_each_step(worked: Window) -> None:
    for begin in ("Fix", "α"):  # a step is drawn after its episode
        worked.see(f"{ROW}:has-text('{begin}')")
    rows = worked.texts(ROW)
    assert [row.split(" ")[0] for row in rows] == ["Cover", "α", "Fix"]
    assert rows[1].startswith(f"α {ALPHA}")
    worked.click(f"{ROW}:has-text('α {ALPHA}')")
    worked.see(".tab.active:has-text('I look at')")
    worked.see(".view-line:has-text('Cover an empty cart')")
    worked.see(".view-line:has-text('the one line that rounds')")


def test_a_search_lists_what_fits_and_opens_what_is_picked(worked: Window) -> None:
    worked.command("afterturn: Search Traces")
    worked.see("input[placeholder^='Words to look for']")
    worked.type("rounding")
    worked.see(".quick-input-list .monaco-list-row:first-child:has-text('Fix the rounding in cart.py')")
    worked.press("Enter")
    worked.see(".tab.active:has-text('I look at')")
    worked.see(".view-line:has-text('The total is rounded once')")


# -- the server ---------------------------------------------------------------------------------------------------


def test_the_status_page_names_the_store_and_where_data_goes(worked: Window) -> None:
    worked.command("afterturn: Status")
    worked.see(".view-line:has-text('session: terminal/1')")
    worked.see(".view-line:has-text('afterturn.db')")
    worked.see(".view-line:has-text('Nothing leaves this machine.')")
    assert worked.count(".view-line:has-text('Settings that are not used')") == 0


def test_a_folder_cannot_say_what_runs_and_where_prompts_go(worked: Window) -> None:
    look_at_status(worked)
    worked.see(".view-line:has-text('condense: no model')")
    assert worked.count(".view-line:has-text('elsewhere')") == 0


def test_without_a_server_the_person_is_told_what_to_type(tmp_path: Path) -> None:
    desk = Desk(tmp_path, executable=tmp_path / "nowhere")
    with desk.host.running() as address, desk.window(address) as window:
        said = window.see(f"{TOAST}:has-text('AFTERTURN_PATH')")
        assert "pipx install afterturn" in said
        window.see(f"{RUNNING}.warning-kind")


def test_settings_count_at_once_and_are_forgotten_when_they_are_taken_back(desk: Desk) -> None:
    """What the server was started with it forgets only with its process: see `takesBack`."""
    wrong = {"afterturn.recap.awaySeconds": -1}
    desk.host.configure(wrong)
    with desk.host.running() as address, desk.window(address) as window:
        window.see(RUNNING)
        first = desk.servers()
        desk.host.configure({**wrong, "afterturn.recap.idleSeconds": -1})
        window.until(".view-line:has-text('recap.idleSeconds must')", lambda: look_at_status(window))
        assert window.count(".view-line:has-text('recap.awaySeconds must')") == 1
        assert desk.servers() == first
        desk.host.configure({})
        assert psutil.wait_procs(first, PATIENCE_SECONDS)[1] == []
        window.see(RUNNING)
        look_at_status(window)
        assert window.count(".view-line:has-text('must')") == 0


def test_a_server_that_dies_is_started_anew_and_knows_its_session(desk: Desk) -> None:
    with desk.agent() as agent:
        agent.finish("e1", "Fix the rounding in cart.py", "Done.", at_ms=1000)
    desk.host.configure({"afterturn.recap.auto": False})
    with desk.host.running() as address, desk.window(address) as window:
        window.see(RUNNING)
        window.command("afterturn: Recap")
        window.click(f"{TOAST} .monaco-button:has-text('Dismiss')")
        window.lose(TOAST)
        (server,) = desk.servers()
        server.kill()
        window.until(f"{TOAST}:has-text('Fix the rounding')", lambda: window.command("afterturn: Recap"))
        assert [each.pid == server.pid for each in desk.servers()] == [False]


# -- recaps -------------------------------------------------------------------------------------------------------


def test_whoever_left_finds_a_recap_of_what_was_done_meanwhile_and_can_dismiss_it(desk: Desk) -> None:
    now = time.time_ns() // 1_000_000
    with desk.agent() as agent:
        agent.finish("e1", "Fix the rounding in cart.py", "The total is rounded once, at the end.", at_ms=now)
    desk.host.configure({"afterturn.recap.awaySeconds": AWAY_SECONDS})
    with desk.host.running() as address, desk.window(address) as window:
        window.see(f"{TOAST}:has-text('Fix the rounding')")  # coming to a session that has a past is a return, too
        window.click(f"{TOAST} .monaco-button:has-text('Dismiss')")
        window.lose(RECAP)
        window.lose(NOTIFIED)
        window.leave()
        with desk.agent() as agent:
            agent.finish("e2", "Round each line", "Each line is rounded now.", at_ms=now + 1)
        window.exists(RECAP)
        assert window.count(NOTIFIED) == 0
        window.comeBack()
        window.see(f"{TOAST}:has-text('Round each line')")
        window.click(".activitybar .action-label[aria-label='afterturn']")
        window.see(".pane-body .message:has-text('Round each line')")
        window.command("afterturn: Dismiss Recap")
        window.lose(RECAP)
        window.lose(".pane-body .message:has-text('Round each line')")


def test_a_recap_can_be_asked_for(worked: Window) -> None:
    worked.command("afterturn: Recap")
    worked.see(f"{TOAST}:has-text('Cover an empty cart, [see] ({LINK})')")
    worked.see(".pane-body .message:has-text('Cover an empty cart')")
    assert worked.count(f"[href*='{LINK}'], [data-href*='{LINK}'], {TOAST} .notification-list-item-message a") == 0
    worked.click(f"{TOAST} .monaco-button:has-text('Dismiss')")
    worked.lose(RECAP)


# -- processes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["window", "host"])
def test_no_server_outlives_its_window(desk: Desk, ending: str) -> None:
    with desk.agent() as agent:
        agent.finish("e1", "Fix the rounding in cart.py", "Done.", at_ms=1000)
    with desk.host.running() as address, desk.window(address) as window:
        window.see(RECAP)
        servers = desk.servers()
        assert len(servers) == 1
        if ending == "window":
            window.close()
            assert psutil.wait_procs(servers, PATIENCE_SECONDS)[1] == []
    assert psutil.wait_procs(servers, PATIENCE_SECONDS)[1] == []
