"""How many tokens a prompt may cost, before it is sent (models.md, 'Budgets')."""

from collections.abc import Iterable, Sequence

from afterturn.completion import PromptMessage

BYTES_PER_TOKEN = 3
"""English has about four to a token, code three; a CJK character has three bytes and about one token."""

TOKENS_PER_MESSAGE = 8


def prompt_tokens(messages: Sequence[PromptMessage]) -> int:
    """An estimate that is rather too high."""
    return text_tokens(each.content for each in messages) + TOKENS_PER_MESSAGE * len(messages)


def text_tokens(texts: Iterable[str]) -> int:
    """The same of texts alone."""
    return -(-sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) // BYTES_PER_TOKEN)
