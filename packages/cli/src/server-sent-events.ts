/** Server-sent events out of bytes as they come. */

export interface ServerSentEvent {
  readonly event: string;
  /** Of this event or of the last one that had an id; empty before there was any. */
  readonly id: string;
  readonly data: string;
}

/** Ends where the bytes end; an event that is not whole by then was none. */
export async function* serverSentEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let [rest, id, event, data] = ["", "", "", [] as string[]];
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, field, value = ""] = /^([a-z]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (line === "") {
        if (data.length > 0) yield { event: event === "" ? "message" : event, id, data: data.join("\n") };
        [event, data] = ["", []];
      } else if (field === "event") event = value;
      else if (field === "id") id = value;
      else if (field === "data") data.push(value);
    }
  }
}
