// Tabs by the pattern of the ARIA practices: arrows move, the panel follows.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export interface Tab {
  id: string;
  label: string;
  panel: () => ComponentChildren;
}

export function Tabs({ name, tabs, first }: { name: string; tabs: Tab[]; first?: string }) {
  const [at, setAt] = useState(first ?? tabs[0]?.id ?? "");
  const id = name.replace(/[^\w-]/g, "_");
  const active = tabs.find((tab) => tab.id === at) ?? tabs[0];
  if (!active) return null;
  const move = (by: number): void => {
    const i = tabs.indexOf(active);
    const next = tabs[(i + by + tabs.length) % tabs.length];
    setAt(next.id);
    document.getElementById(`${id}-tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={name}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-tab-${tab.id}`}
            aria-selected={tab === active}
            aria-controls={`${id}-panel`}
            tabIndex={tab === active ? 0 : -1}
            onClick={() => setAt(tab.id)}
            onKeyDown={(event) => {
              if (event.key === "ArrowRight") move(1);
              else if (event.key === "ArrowLeft") move(-1);
              else return;
              event.preventDefault();
            }}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${active.id}`}>
        {active.panel()}
      </div>
    </div>
  );
}
