/** Server-sent events out of bytes as they come. */
import { createParser, type EventSourceMessage } from "eventsource-parser";

export interface ServerSentEvent {
  readonly event: string;
  /** Of this event or of the last one that had an id; empty before there was any. */
  readonly id: string;
  readonly data: string;
}

/** Ends where the bytes end; an event that is not whole by then was none. */
export async function* serverSentEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const found: ServerSentEvent[] = [];
  let id = "";
  const onEvent = ({ event = "message", id: own = id, data }: EventSourceMessage) => {
    id = own;
    found.push({ event, id, data });
  };
  const parser = createParser({ onEvent });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* found.splice(0);
  }
}
