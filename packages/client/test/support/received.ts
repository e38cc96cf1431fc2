/** The requests of a test's server, read as the batches of this library. */
import { gunzipSync } from "node:zlib";
import type { Receiver } from "@posthaste/testkit/receiver";
import type { Message } from "../../src/message.ts";

export interface Body {
  readonly batch: readonly Message[];
  readonly sentAt: string;
}

export function bodies(server: Receiver): readonly Body[] {
  return server.requests.map(({ body, headers }) => {
    const bytes = headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
    return JSON.parse(bytes.toString("utf8")) as Body;
  });
}

export function messages(server: Receiver): readonly Message[] {
  return bodies(server).flatMap(({ batch }) => batch);
}
