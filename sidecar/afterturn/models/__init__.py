"""Ways to a model. This version has one: the client's own, asked with `sampling/createMessage`."""
