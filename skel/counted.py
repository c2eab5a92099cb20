"""Numbers of things, in words."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
