/**
 * A source, a receiver and a signed destination that joins them, made through control; and what came out at the end.
 */
import { randomBytes } from "node:crypto";
import type { ReceivedRequest, Receiver } from "@posthaste/testkit/receiver";
import type { Installation } from "./installation.ts";

/** decisions.md: a destination gets the events received from one second after control's answer. */
const CONFIG_LIVE_MS = 1_000;

export interface Route {
  readonly writeKey: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly sharedSecret: string;
  /** The path of the receiver that the destination sends to. */
  readonly path: string;
}

/** Makes it and answers when events of the source go there. */
export async function createRoute(
  { control }: Installation,
  receiver: Pick<Receiver, "url">,
  path: string,
): Promise<Route> {
  const sharedSecret = randomBytes(16).toString("hex");
  const source = await control.createSource(`source of ${path}`);
  const destinationId = await control.createDestination({
    name: `destination ${path}`,
    sourceIds: [source.id],
    urls: [`${receiver.url}${path}`],
    sharedSecret,
  });
  await new Promise((resolve) => setTimeout(resolve, CONFIG_LIVE_MS));
  return { writeKey: source.writeKey, sourceId: source.id, destinationId, sharedSecret, path };
}

export function bodyOf(request: ReceivedRequest): Record<string, unknown> {
  return JSON.parse(request.body.toString("utf8")) as Record<string, unknown>;
}

export function messageIdsOf(requests: readonly ReceivedRequest[]): ReadonlySet<string | undefined> {
  return new Set(requests.map((request) => request.headers["x-message-id"]));
}
