"""The server: every dialect, whole and streamed, one conversation a cell.

`Provider.open(fault, lenient)` gives a base URL of its own to a cell; the peer adds the path of its
dialect. What was asked and answered is the cell's log."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import dialects
from model import Run, decide
from wire import Event, Reply, framed

# The window of the model: a request with more bytes is refused, as providers do.
WINDOW = 400_000


class Cell:
    """One conversation: its fault, the model's side of it, and its log."""

    def __init__(self, fault, lenient: bool):
        self.fault = fault
        self.lenient = lenient
        self.run = Run()
        self.log: list[dict] = []
        self.lock = threading.Lock()

    def next(self, dialect, body: dict, size: int) -> Reply | None:
        """The reply to a request; nothing where the request is too long."""
        with self.lock:
            run = self.run
            run.n += 1
            entry = {"n": run.n, "t": time.time(), "sent": size, "body": body, "calls": [],
                     "faulty": False, "got": 0}
            self.log.append(entry)
            if size > WINDOW:
                # What is refused is not paid for.
                entry["note"], entry["sent"] = "refused: too long", 0
                return None
            seen = dialect.read(body, run.memory)
            talk = json.dumps(body.get("messages") or body.get("input") or body.get("contents"),
                              sort_keys=True)
            turn = decide(self.fault, run, seen, talk == run.talk, self.lenient)
            run.talk, run.faulty = talk, turn.faulty
            run.sent = turn.calls if turn.text is None else None
            entry["t"] = time.time()
            entry["note"], entry["faulty"] = turn.note, turn.faulty
            entry["text"] = turn.text
            entry["calls"] = [{"id": c.id, "name": c.name, "args": c.args} for c in turn.calls]
            reply = Reply(
                calls=turn.calls,
                text=turn.text,
                finish=self.fault.finish if turn.faulty else "calls",
                wire=self.fault.wire if turn.faulty else None,
                n=run.n,
                model=str(body.get("model") or "model"),
            )
            if hasattr(dialect, "remember"):
                dialect.remember(reply, run.memory)
            return reply


class Provider:
    """The server and its cells."""

    def __init__(self, port: int = 0):
        self.cells: dict[str, Cell] = {}
        provider = self

        class Handler(_Handler):
            cells = provider.cells

        self.server = _Server(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def open(self, fault, lenient: bool) -> tuple[str, Cell]:
        """A base URL without a version, and the conversation behind it."""
        name = f"c{len(self.cells)}"
        self.cells[name] = Cell(fault, lenient)
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}", self.cells[name]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """A peer that hangs up is no fault of the bench's."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cells: dict[str, Cell] = {}

    def log_message(self, *_):
        """Silent: the cells have their logs."""

    def do_POST(self):
        size = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(size) if size else self._chunked()
        path = self.path.split("?")[0]
        cell = self.cells.get(path.split("/")[1])
        dialect = dialects.of_path(path)
        if cell is None or dialect is None:
            return self._whole(404, json.dumps({"error": {"message": f"nothing at {path}"}}))
        body = json.loads(raw)
        reply = cell.next(dialect, body, len(raw))
        if reply is None:
            message = (f"This model's maximum context length is exceeded: the request has {len(raw)}"
                       f" bytes of {WINDOW}. Please reduce the length of the messages.")
            return self._whole(400, dialect.refusal(400, message))
        if dialect.wants_stream(path, body):
            out = self._stream(dialect, reply)
        else:
            out = self._whole(200, dialect.whole(reply))
        cell.log[reply.n - 1]["got"] = out

    def _chunked(self) -> bytes:
        """A body in chunks: some clients send none of known length."""
        out = b""
        while length := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            out += self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()
        return out

    def _whole(self, status: int, text: str) -> int:
        data = text.encode("utf-8", "surrogatepass")
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        return len(data)

    def _stream(self, dialect, reply: Reply) -> int:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        events, breaks = cut_short(dialect, reply)
        sent = 0
        try:
            for chunk in framed(events, reply.wire):
                self.wfile.write(b"%x\r\n" % len(chunk) + chunk + b"\r\n")
                self.wfile.flush()
                sent += len(chunk)
                if reply.wire in ("utf8", "crlf") and not chunk.endswith(b"\n\n"):
                    # So that the pieces arrive as pieces.
                    time.sleep(0.002)
            if breaks:
                # No last chunk: the client sees a broken transfer.
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            else:
                self.wfile.write(b"0\r\n\r\n")
                self.wfile.flush()
        except OSError:
            self.close_connection = True
        return sent


def cut_short(dialect, reply: Reply) -> tuple[list[Event], bool]:
    """The events of a reply as far as the wire carries them, and whether the transfer breaks."""
    events = dialect.events(reply)
    args = [at for at, event in enumerate(events) if event.label == "arg"]
    match reply.wire:
        case "cut_mid" if len(args) == 1:
            # All arguments are in one event: it breaks inside.
            whole = events[args[0]]
            half = replace(whole, label="torn", data=whole.data[:len(whole.data) // 2])
            return [*events[:args[0]], half], True
        case "cut_mid":
            return events[:args[len(args) // 2]], True
        case "cut_end":
            return events[:args[-1] + 1], False
        case "cut_name":
            opened = next(at for at, event in enumerate(events) if event.label == "open")
            return events[:opened + 1], False
        case "cut_between":
            second = next(at for at, event in enumerate(events) if event.call == 1)
            return events[:second], False
        case "error_mid":
            middle = args[len(args) // 2]
            return [*events[:middle], *dialect.broken(reply)], False
    return events, False
