"""Messages in the styles of validators, frameworks and people, against the words of the rule."""

import unittest

from after import invites
from meaning import load
from model import told


class Told(unittest.TestCase):
    """Which messages name the place and the expectation."""

    def check(self, fault, text, strict, lenient=None):
        fault = load()[fault]
        self.assertEqual(told(fault.need, fault.value, False, text), strict, text)
        self.assertEqual(told(fault.need, fault.value, True, text),
                         strict if lenient is None else lenient, text)

    def test_an_enum_in_every_style(self):
        for text in (
            "status: Input should be 'draft', 'sent', 'paid' or 'void' [input_value='payed']",
            '[{"path": ["status"], "values": ["draft","sent","paid","void"]}]',
            "/status must be one of draft, sent, paid, void",
            "Bei status ist nur draft, sent, paid oder void erlaubt.",
        ):
            self.check("enum_near", text, True)

    def test_a_place_by_value_or_line_is_for_the_lenient_rule(self):
        serde = "unknown variant `payed`, expected one of `draft`, `sent`, `paid`, `void`"
        self.check("enum_near", serde, False, True)
        line = 'invalid type: string, expected u32 at line 1 column 80'
        self.check("type_str_for_int", line, False, True)

    def test_what_says_nothing_is_not_enough(self):
        for text in ("", "An error occurred. Please try again.", "Invalid input for the tool",
                     '{"status": "payed"}'):
            self.check("enum_near", text, False)

    def test_an_echo_is_a_place_and_no_expectation(self):
        self.check("type_str_for_int", 'bad arguments: {"limit": "5"}', False)
        self.check("missing_required", '{"startDate": "2026-01-01", "status": "paid"}', False)

    def test_syntax_needs_no_more_than_to_be_said(self):
        for text in ("Unexpected token } in JSON", "EOF while parsing", "the arguments are invalid",
                     "endDate: Field required [type=missing]"):
            self.check("json_trailing_comma", text, True)
        self.check("json_trailing_comma", "An error occurred", False)

    def test_the_tool_by_its_exact_name(self):
        self.check("name_prefix", "Unknown tool functions.searchInvoices", False)
        self.check("name_prefix", "Available: searchInvoices, get_ticket", True)
        self.check("name_with_args", 'No tool named searchInvoices({"status":"paid"})', False)
        self.check("name_token", "no tool searchInvoices<|channel|>commentary", False)
        self.check("name_mcp", "unknown: mcp__books__searchInvoices", False)

    def test_every_fault_that_can_be_mended_has_words_that_mend_it(self):
        everything = (
            "duplicate key; invalid JSON arguments, finite integer, string, array, object, boolean; "
            "missing required startDate endDate status limit tags customer name id ticketId open "
            "reason limitt nam arguments; unknown property; one of paid; between 1 and 50; "
            "YYYY-MM-DD; T-[0-9]+; truncated; tools: searchInvoices; failed"
        )
        for fault in load().values():
            if "F" in fault.ok and not fault.parts and fault.need != (("(?!)",),):
                self.assertTrue(told(fault.need, None, False, everything), fault.id)
            for part in fault.parts:
                self.assertTrue(told(part.need, None, False, everything), fault.id)


class Invites(unittest.TestCase):
    """Which messages ask for the call to be made again."""

    def test_invitations(self):
        for text in ("An error occurred while running the tool. Please try again.",
                     "Fix the errors and try again.", "You may retry the call.",
                     "The call may be tried again."):
            self.assertTrue(invites(text), text)

    def test_prohibitions_count_for_more(self):
        for text in ("Do not repeat the call.", "Never retry this.",
                     "Repeating the call will not help.",
                     "Please try again. Do not repeat the call unchanged."):
            self.assertFalse(invites(text), text)

    def test_conditions_do_neither(self):
        self.assertFalse(invites("Do not repeat it unless the message says so."))
        self.assertTrue(invites("busy: try again in a moment. Do not repeat it unless told."))
        self.assertFalse(invites("ledger offline"))

    def test_words_count_for_more_than_flags(self):
        self.assertTrue(invites('{"error": "ledger offline", "retryable": true}'))
        self.assertFalse(invites('{"error": "ledger offline", "retryable": false}'))
        self.assertFalse(invites('{"retryable": true, "hint": "Do not repeat it unless told."}'))


if __name__ == "__main__":
    unittest.main()
