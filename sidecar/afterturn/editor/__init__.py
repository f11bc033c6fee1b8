"""The language-server face: refs become readable in any editor (clients.md, 'Editors').

Mounted when `initialize` has `capabilities.textDocument`, and never loaded otherwise. pygls keeps the register of
features and says what they are as capabilities; the bytes, the lifecycle, the answers and the errors are those of every
other client.
"""
