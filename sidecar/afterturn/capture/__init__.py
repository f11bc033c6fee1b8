"""Capture: a finished episode becomes trace rows, one for each step (seed core-capture; capture.md)."""
