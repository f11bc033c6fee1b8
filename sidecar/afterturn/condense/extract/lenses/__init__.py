"""One module a shape of output: `read(view, digest)` adds what it finds in it to the digest."""
