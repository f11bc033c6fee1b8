"""The recap without a model on real sessions: its size, that it names the task, that it claims nothing untrue."""
