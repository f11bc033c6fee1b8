"""`make test` tries the same examples on every machine; `make fuzz` tries new ones, and many more."""

import os

from hypothesis import settings

settings.register_profile("fuzz", max_examples=5_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))  # "ci" is hypothesis' own: derandomized, no database
