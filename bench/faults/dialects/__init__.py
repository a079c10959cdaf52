"""The wire formats of the providers, from the provider's side.

A dialect is a module with

    NAME, WIRES            its name, and the special emissions (`Fault.wire`) that it can make
    carries(fault)         whether it has a way to carry what the fault is
    wants_stream(path, body), answers(path)
    read(body, memory)     what the peer sent back: `wire.Seen`
    whole(reply)           the body of a whole reply
    events(reply)          the events of a streamed one
    refusal(status, message)   the body of an HTTP error
    broken(reply)          the event that tells of an error in the middle of a stream
"""

from dialects import anthropic, chat, gemini, responses

BY_NAME = {module.NAME: module for module in (chat, responses, anthropic, gemini)}


def of_path(path: str):
    """The dialect that is spoken at a path."""
    return next((module for module in BY_NAME.values() if module.answers(path)), None)


def renders(fault, dialect: str, mode: str) -> bool:
    """Whether this fault can be told in this dialect, whole or streamed."""
    if dialect not in fault.dialects or mode not in fault.modes:
        return False
    module = BY_NAME[dialect]
    if fault.wire and (mode != "stream" or fault.wire not in module.WIRES):
        return False
    return module.carries(fault, mode == "stream")
