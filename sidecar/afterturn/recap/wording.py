"""The fixed words of a facts recap, in the languages it is written in. A new language is one more object."""

from collections.abc import Sequence


class Wording:
    """English. Every method gives one sentence; what it is given is shortened and safe already."""

    broken_off = "The last turn was broken off."
    ended_in_error = "The last turn ended in an error."
    unanswered = "Your last message has no answer yet."
    your_turn = "It is your turn."

    def task(self, text: str) -> str:
        return f"Task: {_ended(text, '.')}"

    def now(self, text: str) -> str:
        return f"Latest request: {_ended(text, '.')}"

    def changed(self, replies: int, steps: int, names: Sequence[str], more: int, left: bool) -> str:
        """replies and steps: counts. names: files written. more: how many more. left: counted since the person left."""
        counts = _count(steps, "step") if steps else _count(replies, "reply", "replies")
        files = f", wrote {', '.join(names)}{f' and {more} more' if more else ''}" if names else ""
        return f"{'Since you left' if left else 'Since then'}: {counts}{files}."

    def tests(self, total: str) -> str:
        return f"Last test run: {_ended(total, '.')}"

    def failed(self, command: str, error: str) -> str:
        return f"`{command}` failed: {_ended(error, '.')}" if error else f"`{command}` failed."

    def denied(self, name: str) -> str:
        return f"`{name}` was denied or stopped; it waits for you."

    def not_run(self, name: str) -> str:
        return f"`{name}` has no result yet; it may wait for your approval."

    def last_step(self, name: str) -> str:
        return f"Last step: `{name}`; no answer yet."

    def asks(self, question: str) -> str:
        return f"It asks: {question}"

    def says(self, text: str) -> str:
        return f"It said: {_ended(text, '.')}"

    def joined(self, parts: Sequence[str]) -> str:
        return " ".join(parts)


class _Chinese(Wording):
    broken_off = "上一轮被中断。"
    ended_in_error = "上一轮以错误结束。"
    unanswered = "你的上一条消息还没有回复。"
    your_turn = "现在轮到你。"

    def task(self, text: str) -> str:
        return f"任务：{_ended(text, '。')}"

    def now(self, text: str) -> str:
        return f"最新要求：{_ended(text, '。')}"

    def changed(self, replies: int, steps: int, names: Sequence[str], more: int, left: bool) -> str:
        counts = f"{steps} 步操作" if steps else f"{replies} 条回复"
        files = f"，写入 {'、'.join(names)}{f' 等 {more + len(names)} 个文件' if more else ''}" if names else ""
        return f"{'你离开后' if left else '此后'}：{counts}{files}。"

    def tests(self, total: str) -> str:
        return f"最近一次测试：{_ended(total, '。')}"

    def failed(self, command: str, error: str) -> str:
        return f"`{command}` 失败：{_ended(error, '。')}" if error else f"`{command}` 失败。"

    def denied(self, name: str) -> str:
        return f"`{name}` 被拒绝或中止，等你决定。"

    def not_run(self, name: str) -> str:
        return f"`{name}` 还没有结果，可能在等你批准。"

    def last_step(self, name: str) -> str:
        return f"最后一步：`{name}`，还没有答复。"

    def asks(self, question: str) -> str:
        return f"它问：{question}"

    def says(self, text: str) -> str:
        return f"它说：{_ended(text, '。')}"

    def joined(self, parts: Sequence[str]) -> str:
        return "".join(parts)


ENGLISH = Wording()
CHINESE: Wording = _Chinese()


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _ended(text: str, stop: str) -> str:
    return text if text.endswith((".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f")) else text + stop
