"""Redaction: the one function that takes secrets out of text before it goes anywhere (store.md, 'Redaction')."""

from afterturn.redact.redactor import PatternError as PatternError
from afterturn.redact.redactor import Redactor as Redactor
