// Something that is awaited: while it comes, when it came, when it did not.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../source/source";
import { Notice } from "./small";

export type Awaited<T> =
  | { state: "coming" }
  | { state: "here"; value: T }
  | { state: "failed"; error: unknown };

export function useAwaited<T>(make: () => Promise<T>, on: unknown[]): Awaited<T> {
  const [now, setNow] = useState<Awaited<T>>({ state: "coming" });
  useEffect(() => {
    let isOurs = true;
    setNow({ state: "coming" });
    make().then(
      (value) => isOurs && setNow({ state: "here", value }),
      (error: unknown) => isOurs && setNow({ state: "failed", error }),
    );
    return () => {
      isOurs = false;
    };
  }, on);
  return now;
}

export function Failed({ error }: { error: unknown }) {
  const hint = error instanceof Problem ? error.hint : undefined;
  return (
    <Notice tone="bad">
      <strong>{error instanceof Error ? error.message : String(error)}</strong>
      {hint && <span> {hint}</span>}
    </Notice>
  );
}

export function When<T>({ what, children }: { what: Awaited<T>; children: (value: T) => ComponentChildren }) {
  if (what.state === "coming") return <p class="empty">loading…</p>;
  if (what.state === "failed") return <Failed error={what.error} />;
  return <>{children(what.value)}</>;
}
