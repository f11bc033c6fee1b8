"""How long to wait before the same call is made again (models.md, 'Completers')."""

FIRST_SECONDS = 0.5
MOST_SECONDS = 8.0


def pause_seconds(failures: int, chance: float) -> float:
    """The pause after so many failures in a row, from 1: doubling, and between half and all of it by chance.

    chance: a random number from 0 to 1.
    """
    whole = min(FIRST_SECONDS * 2 ** min(failures - 1, 16), MOST_SECONDS)
    return whole * (0.5 + 0.5 * chance)
