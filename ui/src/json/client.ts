// The main thread's side of the worker.

// Put in by the build.
declare const WORKER_NAME: string;

import type { Answer, Operations, Question } from "./worker";

type Result<K extends keyof Operations> = Awaited<ReturnType<Operations[K]>>;
type Input<K extends keyof Operations> = Parameters<Operations[K]>[0];

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

let worker: Worker | undefined;
const waiting = new Map<number, Waiting>();
let next = 1;

/** A page of its own, without a server, has the worker's text within it. */
function start(): Worker {
  const text = document.getElementById("worker-text")?.textContent;
  if (text) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const made = new Worker(url);
    URL.revokeObjectURL(url);
    return made;
  }
  return new Worker(new URL(WORKER_NAME, import.meta.url));
}

export function ask<K extends keyof Operations>(operation: K, input: Input<K>): Promise<Result<K>> {
  if (!worker) {
    worker = start();
    worker.onmessage = (event: MessageEvent<Answer>) => {
      const answer = event.data;
      const one = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (!one) return;
      if ("error" in answer) one.reject(new Error(answer.error));
      else one.resolve(answer.value as never);
    };
    worker.onerror = (event) => {
      const error = new Error(event.message || "the worker failed");
      for (const one of waiting.values()) one.reject(error);
      waiting.clear();
    };
  }
  const id = next++;
  const question: Question = { id, operation, input };
  const running = worker;
  return new Promise<Result<K>>((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (value: never) => void, reject });
    running.postMessage(question);
  });
}
