"""Whether a saved recap still stands for its session (recap.md, 'Saved and current')."""


def is_current(saved_hash: str | None, today_hash: str | None, host_says: bool | None) -> bool:
    """The host's word where it gave one; else whether the recap was drafted from what the session holds today.

    saved_hash: of the input it was drafted from. today_hash: of today's input. None is unknown, and equals nothing.
    """
    if host_says is not None:
        return host_says
    return saved_hash is not None and saved_hash == today_hash
