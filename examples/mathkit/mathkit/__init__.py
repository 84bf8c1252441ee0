"""A small collection of number functions."""

from mathkit.stats import mean

__all__ = [
    "mean",
]
