"""afterturn: condenses, recaps and captures what an agent did, beside the harness that runs it.

Importing this package does nothing; `afterturn.launch` is where a process starts and `afterturn.app` is
where its parts meet. ARCHITECTURE.md says where to read on.
"""

__version__ = "0.1.0"
PROTOCOL_VERSION = 1
