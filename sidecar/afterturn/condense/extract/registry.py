"""Which extractor reads which call: data, in order.

A rule names a kind of tool by the names that harnesses give it, and, where names say nothing, by the arguments it is
called with. The first rule that fits wins. Extractors are loaded when first needed: their patterns cost milliseconds
to compile, and one batch rarely needs them all.
"""

from collections.abc import Callable
from importlib import import_module

import msgspec

from afterturn.condense.extract.call import COMMAND, PATH, PATTERN, URL, Call
from afterturn.condense.extract.digest import Digest
from afterturn.condense.extract.words import words

Extractor = Callable[[Call, frozenset[str]], Digest]


class Rule(msgspec.Struct, frozen=True):
    """`kind`: module of `kinds` whose `extract` reads the call. `names`: exact bare names. `parts`: pieces of names."""

    kind: str
    names: frozenset[str] = frozenset()
    parts: tuple[str, ...] = ()


RULES: tuple[Rule, ...] = (
    Rule(
        "plans",
        words(
            "todowrite todoread todo_write todo_read update_plan plan write_todos manage_todo_list exitplanmode"
            " enterplanmode exit_plan_mode think taskcreate taskupdate tasklist taskget update_todo_list"
            " set_plan plan_mode_respond taskstop killshell kill_shell"
        ),
    ),
    Rule(
        "agents",
        words(
            "task agent spawn_agent delegate delegate_task dispatch_agent subagent sub_agent call_agent new_task"
            " run_agent wait_agent handoff skill askuserquestion ask_user ask_followup_question askuser"
            " question ask_user_question oracle"
        ),
    ),
    Rule(
        "edits",
        words(
            "edit multiedit multi_edit write write_file create create_file apply_patch patch replace insert"
            " str_replace search_replace edit_file write_to_file replace_in_file"
            " notebookedit notebook_edit delete_file insert_edit_into_file applypatch multi_edit_file"
            " apply_diff insert_content edit_notebook append rename_file move_file edit_block writefile"
        ),
    ),
    Rule(
        "search",
        words(
            "grep search rg ripgrep search_file_content codebase_search search_dir search_file grep_search"
            " search_files find_in_files text_search search_code greptool file_grep semantic_search"
            " find_string search_for_pattern find_symbol find_referencing_symbols"
        ),
    ),
    Rule(
        "listing",
        words(
            "glob ls list list_directory list_dir find_file find file_search list_files tree globtool"
            " find_files find_path directory_tree list_allowed_directories file_glob_search"
        ),
    ),
    Rule(
        "web",
        words(
            "webfetch web_fetch websearch web_search fetch fetch_url browse browser browser_action open_url"
            " google_web_search read_url url_fetch navigate screenshot get_page http_request fetch_webpage"
            " read_web_page search_web fetch_content"
        ),
        ("browser", "playwright", "puppeteer"),
    ),
    Rule(
        "reads",
        words(
            "read read_file view open cat fs_read open_file readfile goto scroll_down scroll_up notebookread"
            " notebook_read read_many_files view_file get_file_contents read_text_file read_notebook"
            " readmediafile read_files view_image get_file file_read"
        ),
    ),
    Rule(
        "shell",
        words(
            "bash shell exec exec_command local_shell local_shell_call run_shell_command execute_bash terminal"
            " run_terminal_cmd execute_command powershell cmd run ipython execute_ipython_cell python"
            " write_stdin bashoutput bash_output taskoutput task_output execute_python run_command sh zsh"
            " process run_in_terminal get_terminal_output repl execute console aider run_ipython"
            " repo_browser container_exec run_tests execute_code"
        ),
    ),
)


# Tools that show files as well as change them.
_EDITORS = words("str_replace_editor str_replace_based_edit_tool str_replace_based_edit file_editor editor")


def kind_of(call: Call) -> str:
    """The kind of a call: by its name, else by its arguments, else "plain" (the shape of the output decides)."""
    if call.name in _EDITORS:
        return _editor_kind(call)
    for rule in RULES:
        if call.name in rule.names or (rule.parts and any(part in call.name for part in rule.parts)):
            return _by_first_word(call) if rule.kind == "shell" else rule.kind
    return _by_arguments(call)


def _editor_kind(call: Call) -> str:
    """One tool that views as well as edits says which in its `command`, or by what else it is given."""
    command = call.arg(("command",))
    if command == "view" or call.has("viewrange"):
        return "reads"
    if command in ("create", "str_replace", "insert", "undo_edit") or call.has("oldstr", "newstr", "filetext"):
        return "edits"
    return "reads"


def _by_first_word(call: Call) -> str:
    """Agents with a command language of their own send `open x 12` and the like through one shell tool."""
    word = (call.arg(COMMAND) or call.raw).lstrip()[:20].partition(" ")[0].strip()
    return _OWN_COMMANDS.get(word, "shell")


_OWN_COMMANDS = {
    "goto": "reads", "scroll_down": "reads", "scroll_up": "reads", "search_dir": "search", "search_file": "search",
    "find_file": "listing", "set_cursors": "reads", "apply_patch": "edits",
}  # fmt: skip


def _by_arguments(call: Call) -> str:
    if call.has("oldstring", "oldtext", "oldstr", "newstring", "patch", "patchtext", "diff"):
        return "edits"
    if call.arg(COMMAND[:5]):
        return "shell"
    if call.arg(URL[:2]):
        return "web"
    if call.arg(PATTERN[:4]):
        return "search"
    if call.arg(PATH) and not call.has("content"):
        return "reads"
    return "edits" if call.arg(PATH) else "plain"


def extractor_of(call: Call) -> Extractor:
    """The function that reads this call."""
    module = import_module(f"afterturn.condense.extract.kinds.{kind_of(call)}")
    extract: Extractor = module.extract
    return extract
