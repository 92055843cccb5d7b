"""Doing the same several times before a test looks."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def for_each(values: Iterable[T], act: Callable[[T], object]) -> None:
    for value in values:
        act(value)
