/** A client of `/v1/live` that keeps every event, on a socket of its own. */
import { get, type IncomingMessage } from "node:http";
import { ADMIN_TOKEN } from "./control.ts";

export interface LiveEvent {
  readonly event: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails on what is not there
  readonly data: any;
}

export interface LiveClient {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** All that came. */
  readonly events: readonly LiveEvent[];
  /** The events of one topic, without their ids. */
  // biome-ignore lint/suspicious/noExplicitAny: see `data`
  readonly rows: (topic: string) => any[];
  /** Of the last event. */
  readonly lastId: () => string;
  /** How the connection ended; null while it has not. */
  readonly ended: () => "closed" | null;
  /** Takes no more bytes. */
  readonly stopReading: () => void;
  readonly goOnReading: () => void;
  /** Destroys the socket. */
  readonly cut: () => void;
}

export interface LiveAsked {
  readonly lastId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Resolves with the answer's head. */
export async function openLive(url: string, query: string, { lastId, headers }: LiveAsked = {}): Promise<LiveClient> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(`${url}/v1/live?${query}`, {
      agent: false,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(lastId === undefined ? {} : { "last-event-id": lastId }),
        ...headers,
      },
    });
    request.once("response", resolve);
    request.once("error", reject);
  });
  const events: LiveEvent[] = [];
  let [text, ended] = ["", null as "closed" | null];
  response.setEncoding("utf8");
  response.on("data", (more: string) => {
    const parts = (text + more).split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const fields = new Map(part.split("\n").map((line) => [line.split(":")[0], line.replace(/^\w+: /, "")]));
      const [event, id, data] = [fields.get("event"), fields.get("id"), fields.get("data")];
      if (event !== undefined && id !== undefined && data !== undefined)
        events.push({ event, id, data: JSON.parse(data) });
    }
  });
  response.on("error", () => {});
  response.on("close", () => {
    ended = "closed";
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    rows: (topic) => events.filter(({ event }) => event === topic).map(({ data }) => data),
    lastId: () => events.at(-1)?.id ?? "",
    ended: () => ended,
    stopReading: () => response.pause(),
    goOnReading: () => response.resume(),
    cut: () => response.destroy(),
  };
}
