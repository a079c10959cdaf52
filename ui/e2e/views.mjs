// Every view, with something in it: for the checks that look at all of them.

import { tab } from "./visit.mjs";

const A = '{"id": 4611686018453380079, "price": 1.10, "items": [{"id": 1, "n": 1}, {"id": 2, "n": 2}]}';
const B = '{"id": 4611686018453380079, "price": 1.1, "items": [{"id": 2, "n": 3}]}';

async function call(page, run, name) {
  await page.goto(`${page.base}/#/runs/${run}/call-call_0`);
  await page.getByRole("heading", { name: /get_ticket/, level: 2 }).waitFor();
  if (name) await tab(page, name);
}

/** Name and how to get there; `runs` are a repaired run and one that waits. */
export const VIEWS = [
  [
    "runs",
    async (page) => {
      await page.goto(`${page.base}/#/runs`);
      await page.locator(".run-row").first().waitFor();
    },
  ],
  [
    "runs-none",
    async (page) => {
      await page.goto(`${page.base}/#/runs`);
      await page.getByRole("searchbox").fill("nothing is called so");
      await page.getByText(/^No runs fit/).waitFor();
    },
  ],
  [
    "run-goal",
    async (page, { repaired }) => {
      await page.goto(`${page.base}/#/runs/${repaired}`);
      await page.getByRole("heading", { name: "The goal" }).waitFor();
    },
  ],
  [
    "run-hop",
    async (page, { repaired }) => {
      await page.goto(`${page.base}/#/runs/${repaired}/hop-0`);
      await page.getByRole("heading", { name: "Hop 1" }).waitFor();
      await page.getByText(/event of the journal|events of the journal/).click();
    },
  ],
  [
    "run-end",
    async (page, { repaired }) => {
      await page.goto(`${page.base}/#/runs/${repaired}/end`);
      await page.getByRole("heading", { name: /^The end/ }).waitFor();
      await page.getByText(/of the doctor/).click();
    },
  ],
  ["call-gates", (page, { repaired }) => call(page, repaired, "Gates")],
  ["call-values", (page, { repaired }) => call(page, repaired, "Values")],
  ["call-documents", (page, { repaired }) => call(page, repaired, "Documents")],
  ["call-result", (page, { repaired }) => call(page, repaired, "Result")],
  ["call-definition", (page, { repaired }) => call(page, repaired, "Definition")],
  ["call-events", (page, { repaired }) => call(page, repaired, "Events")],
  [
    "call-waiting",
    async (page, { waiting }) => {
      await page.goto(`${page.base}/#/runs/${waiting}/call-call_1`);
      await page.getByRole("button", { name: "Edit arguments" }).click();
      await page.getByRole("button", { name: "Send the edit" }).waitFor();
    },
  ],
  [
    "approvals",
    async (page) => {
      await page.goto(`${page.base}/#/approvals`);
      await page.getByRole("tree").first().waitFor();
    },
  ],
  [
    "catalog",
    async (page) => {
      await page.goto(`${page.base}/#/catalog/searchInvoices`);
      await page.getByRole("heading", { name: /searchInvoices/ }).waitFor();
      await page.getByRole("region", { name: "what it takes" }).waitFor();
    },
  ],
  [
    "catalog-try",
    async (page) => {
      await page.goto(`${page.base}/#/catalog/searchInvoices`);
      await tab(page, "Try a call");
      await page.getByRole("button", { name: "Ask the gates" }).click();
      await page.getByRole("alert").waitFor();
    },
  ],
  [
    "workbench",
    async (page) => {
      await page.goto(`${page.base}/#/workbench`);
      await page.getByRole("textbox", { name: "Document A" }).fill(A);
      await page.getByRole("searchbox").fill("n");
      await page.getByRole("button", { name: "search", exact: true }).click();
      await page.locator(".json-row.hit").first().waitFor();
      await page.getByText("validate by a JSON Schema").click();
      await page.getByRole("textbox", { name: "schema" }).fill('{"required": ["name"]}');
      await page.getByRole("button", { name: "validate A" }).click();
      await page
        .getByText(/required: expected/)
        .first()
        .waitFor();
    },
  ],
  [
    "workbench-compare",
    async (page) => {
      await page.goto(`${page.base}/#/workbench`);
      await page.getByRole("textbox", { name: "Document A" }).fill(A);
      await page.getByRole("button", { name: "+ document" }).click();
      await page.getByRole("textbox", { name: "Document B" }).fill(B);
      await page.getByRole("button", { name: "compare" }).click();
      await page.getByText("3 differences").waitFor();
    },
  ],
  [
    "keys",
    async (page) => {
      await page.goto(`${page.base}/#/runs`);
      await page.getByRole("button", { name: "keys" }).click();
      await page.getByRole("region", { name: "Keys" }).waitFor();
    },
  ],
];
