import pytest

from mathkit import mean


def test_mean_of_one_value():
    assert mean([5]) == 5


def test_mean_of_nothing_is_refused():
    with pytest.raises(ValueError):
        mean([])
