// Where one is: the part of the address after `#`, so that a page in a file has addresses too.

import { signal } from "@preact/signals";

export const route = signal<string[]>(read());

function read(): string[] {
  const hash = typeof location === "undefined" ? "" : location.hash;
  return hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((step) => step !== "")
    .map((step) => {
      try {
        return decodeURIComponent(step);
      } catch {
        return step;
      }
    });
}

export function listen(): void {
  addEventListener("hashchange", () => {
    route.value = read();
  });
}

export function href(...steps: string[]): string {
  return `#/${steps.map(encodeURIComponent).join("/")}`;
}

export function go(...steps: string[]): void {
  location.hash = href(...steps);
}

/** Another address in the same place of the history. */
export function replace(...steps: string[]): void {
  history.replaceState(null, "", href(...steps));
  route.value = steps;
}
