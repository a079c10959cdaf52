"""What the dialects render, and what they read back."""

import json
import unittest
from dataclasses import replace

import dialects
from judge import NAMES
from meaning import DIALECTS, FAMILIES, load
from provider import cut_short
from wire import Reply, framed


def reply_of(fault, **more):
    """The first turn of a fault."""
    return Reply(fault.emit, finish=fault.finish, wire=fault.wire, **more)


class Rendered(unittest.TestCase):
    """Every fault has a form somewhere, and every form is what it should be."""

    def cells(self, mode):
        for fault in load().values():
            for name in DIALECTS:
                if dialects.renders(fault, name, mode):
                    yield fault, dialects.BY_NAME[name]

    def test_every_fault_has_a_form(self):
        for fault in load().values():
            forms = [(d, m) for d in DIALECTS for m in ("whole", "stream")
                     if dialects.renders(fault, d, m)]
            self.assertTrue(forms, fault.id)
            self.assertTrue(fault.ok <= set(NAMES), fault.id)
            if fault.first:
                self.assertIn(("chat", fault.modes[0]), forms, fault.id)
        self.assertEqual({fault.family for fault in load().values()}, set(FAMILIES))

    def test_whole_replies_are_json(self):
        for fault, dialect in self.cells("whole"):
            self.assertIsInstance(json.loads(dialect.whole(reply_of(fault))), dict, fault.id)

    def test_events_are_json_and_chunks_join_to_the_same(self):
        for fault, dialect in self.cells("stream"):
            reply = reply_of(fault)
            for event in dialect.events(reply):
                if event.data != "[DONE]":
                    json.loads(event.data)
            events, _ = cut_short(dialect, reply)
            self.assertTrue(events, fault.id)
            if reply.wire in ("utf8", "bytewise"):
                plain = b"".join(framed(events, None))
                self.assertEqual(b"".join(framed(events, reply.wire)), plain)

    def test_a_cut_stream_has_no_finish(self):
        for fault, dialect in self.cells("stream"):
            if fault.wire and fault.wire.startswith("cut"):
                events, _ = cut_short(dialect, reply_of(fault))
                self.assertFalse([e for e in events if e.label in ("finish", "end")], fault.id)

    def test_digits_and_doubled_keys_reach_the_wire(self):
        twice = load()["json_dup_keys"]
        for name in ("anthropic", "gemini"):
            body = dialects.BY_NAME[name].whole(reply_of(twice))
            self.assertIn('"status": "draft"', body)
            self.assertIn('"status": "paid"', body)

    def test_what_a_dialect_cannot_say_is_left_out(self):
        comma = load()["json_trailing_comma"]
        forms = [(d, m) for d in DIALECTS for m in ("whole", "stream")
                 if dialects.renders(comma, d, m)]
        self.assertEqual(forms, [("chat", "whole"), ("chat", "stream"), ("responses", "whole"),
                                 ("responses", "stream"), ("anthropic", "stream")])


class Read(unittest.TestCase):
    """Results and other texts come out of every dialect's requests."""

    def test_all(self):
        call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        bodies = {
            "chat": {"messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "r"}]},
                {"role": "user", "content": "also"}]},
            "responses": {"input": [
                {"role": "user", "content": "go"},
                {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "a", "output": "r"},
                {"role": "user", "content": [{"type": "input_text", "text": "also"}]}]},
            "anthropic": {"messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": [
                        {"type": "text", "text": "r"}]},
                    {"type": "text", "text": "also"}]}]},
            "gemini": {"contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "f"}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "a", "name": "f", "response": "r"}},
                    {"text": "also"}]}]},
        }
        for name, body in bodies.items():
            seen = dialects.BY_NAME[name].read(body, {})
            self.assertEqual(seen.mine, ["a"], name)
            self.assertEqual(seen.results, [("a", "r")], name)
            self.assertEqual(seen.other, "also", name)
            first = {key: value[:1] for key, value in body.items()}
            self.assertEqual(dialects.BY_NAME[name].read(first, {}).results, [], name)

    def test_references_to_items(self):
        responses = dialects.BY_NAME["responses"]
        memory = {}
        responses.remember(replace(reply_of(load()["valid"]), n=1), memory)
        body = {"input": [{"role": "user", "content": "go"},
                          {"type": "item_reference", "id": "fc_1_0"},
                          {"type": "function_call_output", "call_id": "call_1", "output": "r"}]}
        seen = responses.read(body, memory)
        self.assertEqual((seen.mine, seen.results), (["call_1"], [("call_1", "r")]))


if __name__ == "__main__":
    unittest.main()
