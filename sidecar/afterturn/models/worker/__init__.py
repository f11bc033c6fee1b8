"""The process in which litellm runs (models.md, 'litellm'). Only `messages` is imported by the server."""
