"""The better local embedder: all-MiniLM-L6-v2 with int8 weights, in a process of its own (models.md, 'Embedders').

It takes hundreds of MB, which end with the process. The server imports `embedder` and what that needs: no numpy, no
onnxruntime.
"""
