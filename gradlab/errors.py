"""Every error gradlab raises: one class per cause, each also the built-in it refines."""

from __future__ import annotations

from collections.abc import Mapping


class GradlabError(Exception):
    """Parent of every gradlab error, so that one `except` can catch them all."""


class ShapeError(GradlabError, ValueError):
    """Sizes that cannot go together."""


class DTypeError(GradlabError, TypeError):
    """A kind of number that the operation has no meaning for."""


class ArgumentError(GradlabError, ValueError):
    """A value, or a choice, that an argument has no meaning for."""


class KeywordError(GradlabError, TypeError):
    """A keyword, or a kind of argument, that a function does not take."""


class PlaceError(ArgumentError, IndexError):
    """A place along an axis that the tensor does not have."""


class DimError(ShapeError, IndexError):
    """An axis that the tensor does not have."""


class LabelError(GradlabError, IndexError):
    """A class id that is none of the classes."""


class StateError(GradlabError, RuntimeError):
    """A saved state whose names are not those of the module it is loaded into."""


class RegistrationError(GradlabError, RuntimeError):
    """Parameters that a module holds where nothing finds them."""


class DataError(GradlabError, ValueError):
    """Samples or options that a data set or loader can make nothing of."""


class FileError(GradlabError, OSError):
    """A file or folder that can't be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there."""


class FormatError(GradlabError, ValueError):
    """A file whose contents are not what they have to be."""


class PackageError(GradlabError, ImportError):
    """A package that is needed here, and is not installed."""


class GraphError(GradlabError, RuntimeError):
    """A backward pass, or a change in place, that the recorded graph cannot answer."""


class AnomalyError(GradlabError, RuntimeError):
    """A loss or a gradient that is not finite."""


class GradcheckError(GradlabError, RuntimeError):
    """A gradient that differences of numbers contradict."""


class DeviceError(GradlabError, RuntimeError):
    """Arrays that live in different places, or in a place that is not there."""


def explain(what: str, *, got: Mapping[str, object], need: str, fix: str = "") -> str:
    """Lay an error out as: what failed, what came in, what was needed, what to try.

    Args:
        got: what came in, by name; shapes are written as tuples.
        fix: given only where the code knows that it would work.

    >>> print(explain("matmul: the inner sizes differ", got={"a": (32, 784), "b": (10, 784)}, need="a: (n, k), b: (k, m)", fix="b.T"))
    matmul: the inner sizes differ
      a     (32, 784)
      b     (10, 784)
      need: a: (n, k), b: (k, m)
      try:  b.T
    """
    width = max([len("need:"), *map(len, got)])
    rows = [*got.items(), ("need:", need), *([("try:", fix)] if fix else [])]
    return "\n".join([what, *(f"  {name:<{width}} {value}" for name, value in rows)])
