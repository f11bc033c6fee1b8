"""Condensing: finished tool calls become a few bullets, every original stays retrievable by a short ref.

The rules are pure functions in small modules; `service` is the only part with effects, and `ports` names what it
needs from outside. Nothing here knows the wire's framing, the store's backend or a model library (condense.md).
"""
