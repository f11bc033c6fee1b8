"""What a recap is drafted from: the last messages, and the first request."""

from afterturn.replay.conversation import LONGEST_TEXT, MOST_CHARS, MOST_MESSAGES, Conversation
from afterturn.replay.stream import Call, Turn


def held(*turns: Turn) -> Conversation:
    conversation = Conversation()
    for turn in turns:
        conversation.add(turn)
    return conversation


def test_a_turn_as_messages() -> None:
    calls = [Call("c1", "bash", {"command": "ls"}, "a.py", result_timestamp=9), Call("c2", "read")]
    turn = Turn("s", user_text="look", user_timestamp=1, assistant_text="yes", timestamp=5, calls=calls)
    user, assistant, result = held(turn).context().messages
    assert (user.role, user.content, user.timestamp) == ("user", "look", 1)
    assert (assistant.content, [use.id for use in assistant.tool_calls or ()]) == ("yes", ["c1", "c2"])
    assert (result.tool_call_id, result.content, result.timestamp) == ("c1", "a.py", 9)


def test_a_turn_that_failed_says_so() -> None:
    failed = Turn("s", user_text="look", assistant_text="I wi", failed=True)
    assert [message.stop_reason for message in held(failed).context().messages] == [None, "error"]
    stopped = Turn("s", failed=True, aborted=True)
    assert [message.stop_reason for message in held(Turn("s", assistant_text="yes"), stopped).context().messages] == [
        None,
        "aborted",
    ]


def test_it_is_bounded_and_keeps_the_first_request() -> None:
    big = "x" * 10 * LONGEST_TEXT
    turns = [Turn("s", user_text=f"request {number}", calls=[Call("c", "read", None, big)]) for number in range(300)]
    context = held(*turns).context()
    assert context.first_user_request == "request 0"
    assert len(context.messages) <= MOST_MESSAGES
    assert sum(len(message.content) for message in context.messages) <= MOST_CHARS
    assert context.messages[-2].role == "assistant"
    assert "[... 180,000 characters ...]" in str(context.messages[-1].content)
