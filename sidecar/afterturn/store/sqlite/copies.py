"""Copies of a session's originals, gone together with them (store/opened.py)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


async def forget_copies(store_file: Path, session_id: str) -> None:
    """Remove the files in which editors have a session's originals open."""
    await asyncio.get_running_loop().run_in_executor(None, _forget, store_file, session_id)


def _forget(store_file: Path, session_id: str) -> None:
    from afterturn.store.opened import forget_opened  # only where something is erased

    forget_opened(store_file, session_id)
