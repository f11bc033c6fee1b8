"""How many tokens a prompt may cost, before it is sent (models.md, 'Budgets')."""

from collections.abc import Sequence

from afterturn.completion import PromptMessage

BYTES_PER_TOKEN = 3
"""English has about four to a token, code three; a CJK character has three bytes and about one token."""

TOKENS_PER_MESSAGE = 8


def prompt_tokens(messages: Sequence[PromptMessage]) -> int:
    """An estimate that is rather too high."""
    size = sum(len(each.content.encode("utf-8", "surrogatepass")) for each in messages)
    return -(-size // BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * len(messages)
