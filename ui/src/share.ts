// A link that carries the workbench's state: compressed, in the part of the address that browsers
// keep to themselves. `#/workbench/v1.d.…`: version, codec (deflate-raw), base64url.

export interface Shared {
  documents: string[];
  schema?: string;
  path?: string;
}

/** Longer links break in chat programs; then a file is the better way. */
export const LONGEST_LINK = 32_000;
/** What a link may become: more is refused before it is read whole. */
const LARGEST = 8_000_000;

export async function toLink(state: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await collect(
    new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw")),
    Number.POSITIVE_INFINITY,
  );
  let text = "";
  for (let i = 0; i < packed.length; i += 0x8000)
    text += String.fromCharCode(...packed.subarray(i, i + 0x8000));
  return `v1.d.${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

export async function fromLink(link: string): Promise<Shared> {
  const [version, codec, body] = link.split(".");
  if (version !== "v1" || codec !== "d" || !body)
    throw new Error("this link is of another version of the inspector, or cut");
  let packed: Uint8Array<ArrayBuffer>;
  try {
    const text = atob(body.replaceAll("-", "+").replaceAll("_", "/"));
    packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
  } catch {
    throw new Error("this link is damaged: it is no base64url");
  }
  let bytes: Uint8Array;
  try {
    bytes = await collect(
      new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")),
      LARGEST,
    );
  } catch (error) {
    throw error instanceof RangeError ? error : new Error("this link is damaged, or was cut");
  }
  const state: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (!isShared(state)) throw new Error("this link carries no documents");
  return state;
}

function isShared(value: unknown): value is Shared {
  if (value === null || typeof value !== "object") return false;
  const { documents, schema, path } = value as Record<string, unknown>;
  const isText = (one: unknown): boolean => one === undefined || typeof one === "string";
  return (
    Array.isArray(documents) &&
    documents.length <= 3 &&
    documents.every((one) => typeof one === "string") &&
    isText(schema) &&
    isText(path)
  );
}

async function collect(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new RangeError("what this link carries is too large; ask for the file");
    }
    parts.push(value);
  }
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
