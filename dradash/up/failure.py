"""Why DRA-Dash does not start, in words for the person who started it."""


class StartFailure(Exception):
    """One sentence that says what is wrong and one that says what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem} {remedy}")
