"""Embedders: texts to vectors (models.md, 'Embedders'). The port is capture's own, `afterturn.capture.embedder`."""
