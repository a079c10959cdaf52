#!/usr/bin/env python3
"""Runs the bench: `main.py --plan PLAN.json --out ROWS.jsonl [--logs FOLDER]`.

The plan: {"peers": {NAME: {"command": […], "env": {…}, "dialects": […], "tuned": {…env}}},
"sets": [SET…], "jobs": 2, "limit": 60}. A set is {"bench": "first" | "grown", "rule": "strict" |
"lenient", "variant": "" | "tuned", "peers": […], "faults": […], "dialects": […], "only": "valued"};
without `peers`, `faults` or `dialects` it has all of them; "valued" leaves the faults that the
lenient rule may judge otherwise. A row a cell goes to the file; the last line of the output is a summary as JSON.

`main.py --list` prints the cells of the grown bench by family and dialect.
`main.py --show PEER FAULT [--dialect D] [--stream] --plan PLAN.json` runs one cell and prints all of it.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import sys
import threading
import time

import dialects
from judge import NAMES, classify
from meaning import DIALECTS, load
from peer import Peer
from provider import Provider


def cells(which: dict, peers: dict):
    """The cells of a set: (peer, fault, dialect, mode)."""
    faults = load()
    chosen = which.get("faults") or [
        f.id for f in faults.values() if f.first or which["bench"] == "grown"
    ]
    if which.get("only") == "valued":
        chosen = [id for id in chosen if faults[id].value]
    for name in which.get("peers", peers):
        for id in chosen:
            fault = faults[id]
            if which["bench"] == "first":
                yield name, fault, "chat", fault.modes[0]
                continue
            for dialect in peers[name]["dialects"]:
                if dialect not in which.get("dialects", DIALECTS):
                    continue
                for mode in ("whole", "stream"):
                    if dialects.renders(fault, dialect, mode):
                        yield name, fault, dialect, mode


def limit(fault, plan: dict) -> float:
    """Seconds that a cell may take: long enough for a busy machine, and short where a tool hangs."""
    return 15 if fault.tool == "hang" else plan.get("limit", 60)


class Bench:
    """A plan under way."""

    def __init__(self, plan: dict, logs: pathlib.Path | None):
        self.plan = plan
        self.logs = logs
        self.provider = Provider()
        self.rows: list[dict] = []
        self.lock = threading.Lock()
        self.count = 0

    def work(self, which: dict, name: str, todo: list):
        """All cells of one peer in one set, one after the other in one process."""
        said = self.plan["peers"][name]
        env = {**said.get("env", {}), "FAULTS_VARIANT": which.get("variant", "")}
        if which.get("variant"):
            env.update(said.get("tuned", {}))
        peer = Peer(said["command"], env)
        try:
            for fault, dialect, mode in todo:
                row = self.cell(which, peer, name, fault, dialect, mode)
                with self.lock:
                    self.rows.append(row)
        finally:
            peer.stop()

    def cell(self, which, peer, name, fault, dialect, mode) -> dict:
        """Runs and judges one cell."""
        with self.lock:
            self.count += 1
            number = self.count
        base, conversation = self.provider.open(fault, which["rule"] == "lenient")
        asked = {"cell": number, "base": base, "dialect": dialect, "stream": mode == "stream",
                 "tool": fault.tool, "more": which["bench"] == "grown"}
        came = peer.run(asked, limit(fault, self.plan))
        log = conversation.log
        code, detail = classify(fault, came["tools"], log, came["out"], came["late"])
        row = {
            "bench": which["bench"], "rule": which["rule"], "variant": which.get("variant", ""),
            "peer": name, "dialect": dialect, "mode": mode, "fault": fault.id,
            "family": fault.family, "group": fault.group, "code": code, "outcome": NAMES[code],
            "acceptable": code in fault.ok, "detail": detail, "modelCalls": len(log),
            "bytesSent": sum(c["sent"] for c in log), "bytesGot": sum(c["got"] for c in log),
            "toolRuns": len(came["tools"]), "notes": [c.get("note") for c in log],
            "seconds": round(came["seconds"], 3),
        }
        if self.logs:
            self._keep(row, log, came, peer)
        return row

    def _keep(self, row, log, came, peer):
        where = self.logs / row["peer"] / row["rule"] / (row["variant"] or "default")
        where.mkdir(parents=True, exist_ok=True)
        whole = {"row": row, "calls": log, **came, "noise": peer.noise}
        file = where / f"{row['bench']}-{row['dialect']}-{row['mode']}-{row['fault']}.json"
        file.write_text(json.dumps(whole, indent=1, ensure_ascii=True, default=str))

    def run(self):
        """All sets; of each, `jobs` peers at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.plan.get("jobs", 2)) as pool:
            jobs = []
            for which in self.plan["sets"]:
                by_peer: dict[str, list] = {}
                for name, fault, dialect, mode in cells(which, self.plan["peers"]):
                    by_peer.setdefault(name, []).append((fault, dialect, mode))
                jobs += [pool.submit(self.work, which, name, todo)
                         for name, todo in by_peer.items()]
            for job in concurrent.futures.as_completed(jobs):
                job.result()


def meanings() -> list[dict]:
    """The faults as the report lists them."""
    return [
        {"id": f.id, "family": f.family, "group": f.group, "title": f.title, "first": f.first,
         "ok": "".join(code for code in NAMES if code in f.ok), "note": f.note,
         "cells": [f"{d}-{m}" for d in DIALECTS for m in ("whole", "stream")
                   if dialects.renders(f, d, m)]}
        for f in load().values()
    ]


def show(plan, name, id, dialect, stream):
    """One cell in full."""
    fault = load()[id]
    bench = Bench(plan, None)
    which = {"bench": "grown", "rule": plan.get("rule", "strict"), "variant": plan.get("variant", "")}
    base, conversation = bench.provider.open(fault, which["rule"] == "lenient")
    peer = Peer(plan["peers"][name]["command"], {"FAULTS_VARIANT": which["variant"]})
    came = peer.run({"cell": 1, "base": base, "dialect": dialect, "stream": stream,
                     "tool": fault.tool, "more": True}, limit(fault, plan))
    peer.stop()
    for entry in conversation.log:
        body = entry["body"]
        talk = body.get("messages") or body.get("input") or body.get("contents")
        print(f"--- model call {entry['n']} [{entry['note']}]")
        for message in talk[-3:] if isinstance(talk, list) else [talk]:
            print("   <", json.dumps(message, ensure_ascii=False)[:1500])
        print("   >", entry["text"] or json.dumps(entry["calls"], ensure_ascii=False)[:500])
    for run in came["tools"]:
        print("tool:", json.dumps(run, ensure_ascii=True)[:400])
    print("out:", json.dumps(came["out"], ensure_ascii=True)[:2000])
    print(classify(fault, came["tools"], conversation.log, came["out"], came["late"]))
    print("\n".join(peer.noise[-20:]))


def main():
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--logs", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--show", nargs=2, metavar=("PEER", "FAULT"))
    parser.add_argument("--dialect", default="chat")
    parser.add_argument("--stream", action="store_true")
    options = parser.parse_args()
    if options.list:
        print(json.dumps(meanings()))
        return
    plan = json.loads(options.plan.read_text())
    if options.show:
        show(plan, *options.show, options.dialect, options.stream)
        return
    began = time.monotonic()
    bench = Bench(plan, options.logs)
    bench.run()
    order = {id: at for at, id in enumerate(load())}
    bench.rows.sort(key=lambda r: (r["bench"], r["rule"], r["variant"], r["peer"],
                                   DIALECTS.index(r["dialect"]), order[r["fault"]], r["mode"]))
    options.out.write_text("".join(json.dumps(row) + "\n" for row in bench.rows))
    print(json.dumps({"rows": len(bench.rows), "seconds": round(time.monotonic() - began, 1),
                      "python": sys.version.split()[0]}))


if __name__ == "__main__":
    main()
