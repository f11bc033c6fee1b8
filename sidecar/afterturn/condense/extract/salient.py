"""Cutting one long result to a budget without losing the lines that matter."""

def salient(text: str, budget_chars: int) -> str:
    return text[:budget_chars]
