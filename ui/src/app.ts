// What all views share: where runs come from, the theme, what is told to everybody.

import { computed, signal } from "@preact/signals";
import { FileSource } from "./source/file";
import type { Source } from "./source/source";
import type { Summary } from "./wire/types";

export const files = new FileSource();
export const server = signal<Source | undefined>(undefined);

/** A run of an opened file is shown from there; everything else comes from the server. */
export function sourceOf(run: string): Source {
  opened.value;
  return files.has(run) || !server.value ? files : server.value;
}

/** Counts up when files were opened, so that lists look again. */
export const opened = signal(0);

/** The server has it now: it is shown from there. */
export function forget(run: string): void {
  files.remove(run);
  opened.value += 1;
}

export const source = computed<Source>(() => {
  opened.value;
  return server.value ?? files;
});

export type Theme = "auto" | "light" | "dark";

function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A page that may keep nothing works all the same.
  }
}

export const theme = signal<Theme>((kept("callgate.theme") as Theme) ?? "auto");
/** Single keys do something only where that is wanted (WCAG 2.1.4). */
export const keys = signal(kept("callgate.keys") !== "off");

/** Told politely by a screen reader, and shown for a moment. */
export const news = signal("");
let clears: ReturnType<typeof setTimeout> | undefined;
export function tell(text: string): void {
  news.value = text;
  clearTimeout(clears);
  clears = setTimeout(() => {
    news.value = "";
  }, 4000);
}

/** Runs that wait for people; nothing until it was asked. */
export const waiting = signal<Summary[] | undefined>(undefined);
export const waitingError = signal<unknown>(undefined);
/** Answers still asked for, for the badge in the bar. */
export const waitingCount = computed(() =>
  (waiting.value ?? []).reduce((sum, run) => sum + (run.open?.length ?? 1), 0),
);

/** How often it is asked what waits. */
const LIVE = 3_000;

export async function askWaiting(): Promise<void> {
  const from = source.value;
  try {
    const page = await from.runs({ states: ["waiting", "in_doubt"] });
    if (source.value !== from) return;
    waiting.value = page.runs;
    waitingError.value = undefined;
  } catch (problem) {
    waitingError.value = problem;
  }
}

/** Asks what waits, again and again while the page is looked at. */
export function followWaiting(): () => void {
  void askWaiting();
  const timer = setInterval(() => document.visibilityState === "visible" && void askWaiting(), LIVE);
  return () => clearInterval(timer);
}
