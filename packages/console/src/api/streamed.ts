/** Answers that come as server-sent events until they end, read by `fetch`: a refusal is told as every other is. */
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
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value = "" } = await reader.read();
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    yield* blocks.flatMap(eventsOf);
    if (done) return;
  }
}

/** Control writes each event with one line of each field. */
function eventsOf(block: string): readonly StreamedEvent[] {
  const [, event = ""] = /^event: (.*)$/m.exec(block) ?? [];
  const [, data] = /^data: (.*)$/m.exec(block) ?? [];
  return data === undefined ? [] : [{ event, data: JSON.parse(data) }];
}
