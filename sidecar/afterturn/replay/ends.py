"""Long texts cut to their two ends."""


def both_ends(text: str, limit: int) -> str:
    """`text` where it has at most `limit` chars; else its head and its tail, and between them how much was left out."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters ...]\n{text[-half:]}"
