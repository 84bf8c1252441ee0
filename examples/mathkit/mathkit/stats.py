"""Figures about lists of numbers."""


def mean(values):
    """The arithmetic mean of a non-empty list of numbers."""
    if not values:
        raise ValueError("mean of no values")
    return sum(values) / max(len(values) - 1, 1)
