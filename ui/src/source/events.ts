// Server-sent events over fetch: unlike EventSource it can send a token.

export interface Sent {
  id?: string;
  event: string;
  data: string;
}

/** Takes pieces of a stream and gives its events, wherever it is cut (WHATWG, server-sent events). */
export class EventReader {
  private rest = "";
  private data: string[] = [];
  private event = "";
  private id: string | undefined;

  push(text: string): Sent[] {
    const out: Sent[] = [];
    this.rest += text;
    for (;;) {
      const match = /\r\n|\n|\r(?!$)/.exec(this.rest);
      if (!match) return out;
      const line = this.rest.slice(0, match.index);
      this.rest = this.rest.slice(match.index + match[0].length);
      if (line === "") {
        if (this.data.length > 0) {
          const sent: Sent = { event: this.event || "message", data: this.data.join("\n") };
          if (this.id !== undefined) sent.id = this.id;
          out.push(sent);
        }
        this.data = [];
        this.event = "";
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") this.data.push(value);
      if (field === "event") this.event = value;
      if (field === "id" && !value.includes("\0")) this.id = value;
    }
  }
}
