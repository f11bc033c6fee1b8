"""One module a kind of tool: `extract(call, wanted)` gives the digest of a call of that kind."""
