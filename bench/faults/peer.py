"""A peer: a program that runs its own agent loop against the provider, one cell after another.

It reads a cell a line on its standard input:

    {"cell", "base", "dialect", "stream", "tool", "more"}

`base` is the base URL without the API's version; `tool` says what the tools do; `more` whether the
third tool is on offer. It writes, each on a line of its own that begins with `@`:

    @run {"cell", "t", "tool", "args"}         a tool runs
    @end {"cell", "ok": true, "text", "extra"}
    @end {"cell", "ok": false, "type", "mro", "message", "chain"}

Every cell has an agent, a client and a loop of its own; only the process is shared. A process that
dies, goes over the limit or reports an error that came from nowhere is replaced for the next cell.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time

# From the start of the process to its readiness: imports, mostly.
START = 120.0


class Peer:
    """A peer's process, started when it is needed."""

    def __init__(self, command: list[str], env: dict[str, str]):
        self.command = command
        self.env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        self.env.update(env, NO_COLOR="1", PYTHONUNBUFFERED="1")
        self.process: subprocess.Popen | None = None
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.noise: list[str] = []

    def run(self, cell: dict, limit: float) -> dict:
        """What came of a cell: {"tools", "out", "late", "seconds"}."""
        fresh = self._start()
        began = time.monotonic()
        until = began + limit + (START if fresh else 0)
        tools, out, late = [], None, False
        try:
            self.process.stdin.write(json.dumps(cell) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass
        while out is None:
            try:
                line = self.lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                late = True
                break
            if line is None:
                break
            kind, _, rest = line.partition(" ")
            if kind == "@ready":
                began, until = time.monotonic(), time.monotonic() + limit
            elif kind in ("@run", "@end"):
                said = json.loads(rest)
                if said["cell"] != cell["cell"]:
                    continue
                if kind == "@run":
                    tools.append(said)
                else:
                    out = said
        if out is None or out.get("stray"):
            self.stop()
        return {"tools": tools, "out": out, "late": late, "seconds": time.monotonic() - began}

    def _start(self) -> bool:
        if self.process and self.process.poll() is None:
            return False
        self.stop()
        self.lines = queue.Queue()
        self.process = subprocess.Popen(
            self.command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace", bufsize=1,
        )
        threading.Thread(target=self._read, args=(self.process, self.lines), daemon=True).start()
        return True

    def _read(self, process, lines):
        for line in process.stdout:
            line = line.rstrip("\n")
            if line.startswith("@"):
                lines.put(line)
            else:
                self.noise = [*self.noise[-40:], line]
        lines.put(None)

    def stop(self):
        """Ends the process."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process = None
