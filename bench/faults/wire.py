"""What the dialects share: a reply before it is rendered, what a request brought back, and the
oddities of a stream that are the same in every dialect."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from meaning import Call

# Special emissions that every dialect's stream can make: see `framed` and `provider.py`.
COMMON = frozenset(
    "utf8 bytewise crlf comments cut_mid cut_end cut_between error_mid text_first unknown_events"
    .split()
)
# How many characters of arguments go into one piece.
PIECE = 12
WORDS = "Let me look that up."
# Counts that every reply reports: peers act on them, so they are the same for all.
IN, OUT = 10, 10


@dataclass(frozen=True)
class Reply:
    """A turn of the model's, before a dialect renders it."""

    calls: tuple[Call, ...] = ()
    text: str | None = None
    finish: str = "calls"
    wire: str | None = None
    n: int = 1
    model: str = "model"


@dataclass(frozen=True)
class Seen:
    """What a request brought back: the ids of the calls in the peer's own record of the last turn,
    the results by id, and every other text that came after that turn."""

    mine: list[str | None] = field(default_factory=list)
    results: list[tuple[str | None, str]] = field(default_factory=list)
    other: str = ""
    turns: int = 0


@dataclass(frozen=True)
class Event:
    """One server-sent event. `label` says what it carries: start, open, arg, close, text, finish,
    end, torn (it breaks off), other; `call` which call it belongs to."""

    label: str
    data: str
    name: str | None = None
    call: int = -1


def content(value) -> str:
    """The text of a message's content, whatever its form."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(
            part if isinstance(part, str) else str(part.get("text", part)) for part in value
        )
    return json.dumps(value, ensure_ascii=False)


def pieces(args: str) -> list[str]:
    """Arguments in pieces."""
    return [args[at:at + PIECE] for at in range(0, len(args), PIECE)]


class Raw:
    """JSON in which some values are text that stands there as it is, digits, doubles and all."""

    def __init__(self):
        self._raw: list[str] = []

    def value(self, text: str) -> str:
        """A stand-in for the text."""
        self._raw.append(text)
        return f"@@raw{len(self._raw) - 1}@@"

    def dumps(self, value) -> str:
        """The JSON, with every stand-in replaced."""
        out = json.dumps(value, ensure_ascii=False)
        for at, text in enumerate(self._raw):
            out = out.replace(f'"@@raw{at}@@"', text)
        return out


def is_json(args) -> bool:
    """Whether arguments are JSON that can stand as a value in a body."""
    if not isinstance(args, str):
        return False

    def refuse(word):
        raise ValueError(word)

    try:
        json.loads(args, parse_constant=refuse)
    except ValueError:
        return False
    return not args.startswith("\ufeff")


def framed(events: list[Event], wire: str | None) -> list[bytes]:
    """The events as network chunks."""
    end = "\r\n" if wire == "crlf" else "\n"
    out: list[bytes] = []
    for event in events:
        blank = "" if wire == "comments" else " "
        head = f"event:{blank}{event.name}{end}" if event.name else ""
        close = "" if event.label == "torn" else end + end
        out.append(f"{head}data:{blank}{event.data}{close}".encode("utf-8", "surrogatepass"))
    if wire == "comments":
        return [chunk for real in out for chunk in (b": keep-alive\n\n", b":\n", real)]
    if wire == "crlf":
        return [part for chunk in out for part in _before_lf(chunk)]
    if wire == "utf8":
        return [part for chunk in out for part in _within_characters(chunk)]
    if wire == "bytewise":
        all_of_it = b"".join(out)
        return [all_of_it[at:at + 1 + at % 3] for at in _steps(len(all_of_it))]
    return out


def _steps(length: int):
    at = 0
    while at < length:
        yield at
        at += 1 + at % 3


def _before_lf(chunk: bytes) -> list[bytes]:
    cuts = [at for at in range(1, len(chunk)) if chunk[at] == 0x0A]
    return _cut(chunk, cuts)


def _within_characters(chunk: bytes) -> list[bytes]:
    return _cut(chunk, [at for at, byte in enumerate(chunk) if 0x80 <= byte < 0xC0])


def _cut(chunk: bytes, cuts: list[int]) -> list[bytes]:
    return [chunk[a:b] for a, b in zip([0, *cuts], [*cuts, len(chunk)]) if b > a]
