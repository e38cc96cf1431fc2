/** Answers that come as server-sent events until they end, read by `fetch`: a refusal is told as every other is. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import { problemOf, unreachable } from "./client.ts";

export interface StreamedEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Throws ApiProblem for every answer that is no success; ends where the answer does. */
export async function* streamed(path: string, signal: AbortSignal): AsyncGenerator<StreamedEvent> {
  const response = await fetch(path, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw unreachable();
  });
  if (!response.ok) throw await problemOf(response);
  if (response.body === null) return;
  const texts = response.body.pipeThrough(new TextDecoderStream());
  const reader = texts.pipeThrough(new EventSourceParserStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield { event: value.event ?? "", data: JSON.parse(value.data) };
  }
}
