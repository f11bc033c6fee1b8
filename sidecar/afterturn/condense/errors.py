"""What the condense service refuses."""


class InvalidInputError(Exception):
    """A value the service cannot work with. path: its place in the params, such as `$.batchIds[0]`."""

    def __init__(self, path: str, expected: str) -> None:
        super().__init__(f"{path}: expected {expected}")
        self.path = path
        self.expected = expected
