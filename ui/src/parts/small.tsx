// Small pieces: chips, copy buttons, notices.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { word } from "../run/words";

const TONES: Record<string, string> = {
  answered: "good",
  done: "good",
  admitted: "good",
  answer: "good",
  approve: "good",
  running: "live",
  judging: "live",
  waiting: "wait",
  paused: "wait",
  asking: "wait",
  stopped: "wait",
  cancelled: "wait",
  rejected: "wait",
  skipped: "dim",
  failed: "bad",
  refused: "bad",
  in_doubt: "bad",
};
const SIGNS: Record<string, string> = { good: "✓", live: "●", wait: "◷", bad: "✕", dim: "–" };

export function Chip({ state, label }: { state: string; label?: string }) {
  const tone = TONES[state] ?? "dim";
  return (
    <span class={`chip ${tone}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span> {label ?? word(state)}
    </span>
  );
}

export function Copy({ text, label, what }: { text: () => string; label: string; what?: string }) {
  const [said, setSaid] = useState("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid("copied");
    } catch {
      setSaid("the browser forbids copying");
    }
    setTimeout(() => setSaid(""), 1500);
  };
  return (
    <button type="button" class="quiet" onClick={copy} title={what}>
      {said || label}
      <span class="sr" role="status">
        {said}
      </span>
    </button>
  );
}

export function Notice({
  tone,
  children,
}: {
  tone: "bad" | "wait" | "good" | "dim";
  children: ComponentChildren;
}) {
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** A key that does something, as it is told to people. */
export function Key({ children }: { children: ComponentChildren }) {
  return <kbd>{children}</kbd>;
}

export function save(name: string, text: string, type = "application/json"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
