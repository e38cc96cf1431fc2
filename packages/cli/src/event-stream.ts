/** Server-sent events out of the bytes of an answer. */
export interface ServerSentEvent {
  readonly name: string;
  /** The parsed JSON. */
  readonly data: unknown;
}

/** What comes before the last empty line: an event that is cut off in the middle is none. */
export async function* serverSentEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) yield parsed(event);
  }
}

function parsed(event: string): ServerSentEvent {
  let [name, data] = ["message", ""];
  for (const line of event.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice("event: ".length);
    if (line.startsWith("data: ")) data += line.slice("data: ".length);
  }
  return { name, data: data === "" ? null : JSON.parse(data) };
}
