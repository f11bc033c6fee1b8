"""Bytes to messages and back: descriptors, framing, codec, reader, writer. Knows no method."""
