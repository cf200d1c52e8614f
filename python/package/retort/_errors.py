"""What goes wrong, by whose fault it is."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Anything that Retort raises.

    `code` is stable: `retort explain CODE` says what it means and what to do. `path` is where, if it is about a place. Of a limit,
    `used` is what was used of it and `allowed` what was allowed, in the limit's unit.
    """

    code: str
    message: str
    path: str | None
    used: int | None
    allowed: int | None

    def __init__(
        self,
        message: str,
        *,
        code: str,
        path: str | None = None,
        used: int | None = None,
        allowed: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.path = path
        self.used = used
        self.allowed = allowed

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path else ""
        return f"{place}{self.message} [{self.code}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.message, dict(self.__dict__))


def _again(kind: type[Error], message: str, state: dict[str, Any]) -> Error:
    """What a pickle of an error is made into."""
    error = kind.__new__(kind, message)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class EventError(Error):
    """The event is to blame: it isn't what events have to be. Another event does better."""


class EventTypeError(EventError, TypeError):
    """The event is of no type that an event may have, or holds a value that JSON has no word for."""


class ExtractorError(Error):
    """The extractor is to blame: it failed, spent more than it may, or gave no result; or its bundle isn't what was stored."""


class HostError(Error):
    """The host is to blame: it had no room or no memory, or a defect. The same may well go later."""


class InputError(Error, ValueError):
    """What was handed in besides events is to blame: a graph spec, samples, limits, a path."""


class CompileError(Error):
    """No plan passed. `history` has every attempt, `problems` all that is wrong, `diagnostic` what a model is told of it."""

    problems: list[dict[str, Any]]
    diagnostic: str | None
    history: dict[str, Any] | None

    def __init__(
        self,
        message: str,
        *,
        code: str,
        problems: list[dict[str, Any]] | None = None,
        diagnostic: str | None = None,
        history: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.problems = problems or []
        self.diagnostic = diagnostic
        self.history = history


class ModelError(CompileError):
    """The model gave no answer. What it raised, if it is a callable, is the cause; `history` has the attempts before."""
