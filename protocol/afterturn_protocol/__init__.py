"""The wire types of afterturn's protocol, version 1: msgspec Structs, one module for each noun.

Importing the package loads none of them. `table` names every method and event with its types and loads a type
on first use; a module such as `condense` can be imported directly. The protocol in words is in `spec/`.

How omission is written (protocol.md, 'The wire'):

- A field that a page marks with `?` has the default None here and is left out of what is sent. In what is
  received, null and omitted are the same.
- A field of a result or an event without `?` has no default, so it is always sent, also when it is null.
- Fields that are not listed are ignored. Enumerations are open: they are `str`, and the documented values stand
  in the docstring.
- A class docstring describes its fields as lines `field_name: text`; the schema takes descriptions from there.
"""

PROTOCOL_VERSION = 1
