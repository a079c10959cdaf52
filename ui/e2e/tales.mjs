// What the model of the stories says: one list of replies a run, in order of its turns.

const call = (name, args) => ({
  calls: [{ name, arguments: typeof args === "string" ? args : JSON.stringify(args) }],
  usage: { inputTokens: 1_204, outputTokens: 31 },
});
const say = (text) => ({ text, usage: { inputTokens: 1_490, outputTokens: 24 } });

/** Writes an id that its contract refuses, reads why, writes it as it should be. */
export const REPAIRED = [
  call("get_ticket", { ticketId: "1042" }),
  call("get_ticket", { ticketId: "T-1042" }),
  say("The ticket T-1042 is assigned to Maria Silva. Its status is pending."),
];
export const REPAIRED_GOAL = "Who is assigned to ticket T-1042, and what is its status?";

/** Looks a ticket up, then wants to write on it: a person is asked. */
export const APPROVED = [
  call("get_ticket", { ticketId: "T-1042" }),
  call("add_note", { ticketId: "T-1042", text: "We will refund you tomorow." }),
  say("The note is on the ticket."),
];
export const APPROVED_GOAL = "Write on T-1042 that the refund comes tomorrow.";

/** Two calls at once, one of them held by the service. */
export const HELD = [
  {
    calls: [
      { name: "get_ticket", arguments: { ticketId: "T-4000" } },
      {
        name: "searchInvoices",
        arguments: { startDate: "2026-03-01", endDate: "2026-03-31", status: "paid" },
      },
    ],
    usage: { inputTokens: 1_204, outputTokens: 52 },
  },
  say("INV-2026-0013 is paid: 1478.60 EUR."),
];
export const HELD_GOAL = "Compare ticket T-4000 with the paid invoices of March 2026.";

/** Mended on the way: a code fence, a trailing comma, a number in quotes. */
export const MENDED = [
  call(
    "searchInvoices",
    '```json\n{"start_date": "2026-03-01", "endDate": "2026-03-31", "status": "paid",}\n```',
  ),
  say("INV-2026-0013 is paid: 1478.60 EUR."),
];
export const MENDED_GOAL = "Which invoices of March 2026 are paid?";

/** One lookup a hop, so many hops; and what its agent needs for that. */
export function many(hops) {
  const lookups = Array.from({ length: hops - 1 }, (_, i) => call("get_ticket", { ticketId: `T-${i + 1}` }));
  const loop = {
    loop: "agent",
    maxSteps: hops + 1,
    stopWhen: ["final_answer", "max_steps", "user_cancel"],
    hops: [
      { kind: "model", emits: "tool_calls | text" },
      { kind: "runtime", emits: "tool_result JSON" },
      { kind: "model", emits: "next_tool | final JSON" },
    ],
  };
  return { replies: [...lookups, say("All of them.")], extra: { loop, budget: { tokens: null } } };
}
