/** A source, a receiver and a signed destination that joins them, made through control; and the requests at the end. */
import { randomBytes } from "node:crypto";
import { eventually } from "@posthaste/testkit/eventually";
import type { ReceivedRequest, Receiver } from "@posthaste/testkit/receiver";
import { expect } from "vitest";
import type { Installation } from "./installation.ts";

const PATIENCE = { timeoutMs: 60_000, intervalMs: 50 };

export interface Route {
  readonly writeKey: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly sharedSecret: string;
  /** The path of the receiver that the destination sends to. */
  readonly path: string;
}

/** Of a story that has not made its own yet. */
export const NO_ROUTE: Route = { writeKey: "", sourceId: "", destinationId: "", sharedSecret: "", path: "" };

/** Makes it and answers when events of the source go there. */
export async function createRoute(
  installation: Installation,
  receiver: Pick<Receiver, "url">,
  path: string,
): Promise<Route> {
  const { control } = installation;
  const sharedSecret = randomBytes(16).toString("hex");
  const source = await control.createSource(`source of ${path}`);
  const destinationId = await control.createDestination({
    name: `destination ${path}`,
    sourceIds: [source.id],
    urls: [`${receiver.url}${path}`],
    sharedSecret,
  });
  await untilAllHave(installation);
  return { writeKey: source.writeKey, sourceId: source.id, destinationId, sharedSecret, path };
}

/**
 * Resolves when every service has each change of a source or destination that control answered before, of which at most
 * one of each is a removal.
 */
export async function untilKnown(installation: Installation): Promise<void> {
  const { control } = installation;
  const settings = { urls: [{ url: "http://127.0.0.1:9/" }] };
  const marker = { type: "Webhooks", name: "marker", sourceIds: [], enabled: true, settings };
  // In their topics these stand behind it. Of each two: with one, a service that knows neither it nor a removal before
  // it has as many as one that knows both.
  for (let each = 0; each < 2; each += 1) {
    await control.createSource("marker");
    await control.call("POST", "/v1/destinations", marker);
  }
  await untilAllHave(installation);
}

/**
 * As many sources and destinations as control, which has those that it answered: enough where since they were as many
 * last all were made, or all removed. A service that is down has none.
 */
export async function untilAllHave({ system, names }: Installation): Promise<void> {
  const held = async (url: string): Promise<readonly string[]> => {
    const page = await fetch(url).then(
      (response) => response.text(),
      (error: { readonly cause?: { readonly code?: string } }) => {
        // Any other failure may come of a process that is up, and has them or not.
        if (error.cause?.code !== "ECONNREFUSED") throw error;
        return "";
      },
    );
    const topics = [names.sourceConfig, names.destinationConfig];
    return page
      .split("\n")
      .filter((line) => topics.some((topic) => line.startsWith(`posthaste_table_records{topic="${topic}"}`)));
  };
  await eventually(async () => {
    const ofControl = await held(system.metricsUrls.control);
    expect(ofControl).toHaveLength(2);
    for (const url of Object.values(system.metricsUrls))
      expect(ofControl).toEqual(expect.arrayContaining([...(await held(url))]));
  }, PATIENCE);
}

/** Removes every destination, and resolves when every service knows. */
export async function removeDestinations(installation: Installation): Promise<void> {
  const { control } = installation;
  const list = async () => (await control.call("GET", "/v1/destinations?limit=200")) as { readonly data: Listed[] };
  for (let { data } = await list(); data.length > 0; { data } = await list()) {
    for (const { id } of data) await control.call("DELETE", `/v1/destinations/${id}`);
  }
  await untilAllHave(installation);
}

interface Listed {
  readonly id: string;
}

export function bodyOf(request: ReceivedRequest): Record<string, unknown> {
  return JSON.parse(request.body.toString("utf8")) as Record<string, unknown>;
}

/** Without the repeats whose answer took longer than a request may, as on a busy machine. */
export function firstAttempts(requests: readonly ReceivedRequest[]): readonly ReceivedRequest[] {
  return requests.filter(({ headers }) => headers["x-attempt"] === "1");
}

export function messageIdsOf(requests: readonly ReceivedRequest[]): ReadonlySet<string | undefined> {
  return new Set(requests.map((request) => request.headers["x-message-id"]));
}
