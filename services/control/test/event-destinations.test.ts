/** Destinations that an event did not go to: how each stood at the event's config offset, since when and by whom. */
import type { UnroutedEvent } from "@posthaste/core/routing/unrouted-event";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { attemptAt, createLogWriter, type LogWriter } from "@posthaste/testbed/log-writer";
import { eventually } from "@posthaste/testkit/eventually";
import { beforeAll, describe, expect, it } from "vitest";
import { control, topics, useControl } from "./use-control.ts";

let writer: LogWriter;
let sourceId: string;
let took: string;
let switched: string;
/** By event: when the offset of the configuration is the one that it was routed by. */
let offsets: { readonly on: number; readonly off: number; readonly onAgain: number };
let offAt: string;
let dana: Record<string, string>;

const configOffset = async (): Promise<number> => {
  const [only] = await topicOffsets(topics.connection, topics.names.destinationConfig);
  return (only?.end ?? 0) - 1;
};
const created = async (name: string): Promise<string> => {
  const settings = { urls: [{ url: "https://a.example/hook" }] };
  const body = { type: "Webhooks", name, enabled: true, sourceIds: [sourceId], settings };
  const answer = await control.call("POST", "/v1/destinations", body);
  expect(answer.status).toBe(201);
  return answer.body.id;
};
const change = async (id: string, fields: object) => {
  const answer = await control.call("PATCH", `/v1/destinations/${id}`, fields, dana);
  expect(answer.status).toBe(200);
  return answer.body;
};

useControl();

beforeAll(async () => {
  writer = await createLogWriter(topics);
  const { token } = (await control.call("POST", "/v1/tokens", { name: "dana", scopes: ["read", "write"] })).body;
  dana = { authorization: `Bearer ${token}` };
  sourceId = (await control.call("POST", "/v1/sources", { name: "Shop", kind: "server" })).body.id;
  took = await created("Took it");
  switched = await created("Warehouse");
  const on = await configOffset();
  offAt = (await change(switched, { enabled: false })).updatedAt;
  // Off as it was, by another name.
  await change(switched, { name: "Store" });
  const off = await configOffset();
  await change(switched, { enabled: true });
  offsets = { on, off, onAgain: await configOffset() };
  await created("Came later");
  const receivedAtMs = Date.now();
  const attempts = Object.entries(offsets).map(([messageId, offset], index) =>
    attemptAt(index, {
      ...{ messageId, sourceId, destinationId: took, configOffset: offset, receivedAtMs, originOffset: index },
    }),
  );
  await writer.attempts(attempts);
  const event: UnroutedEvent = {
    ...{ messageId: "all-off", cause: "destination_off", type: "track", originPartition: 1, originOffset: 70 },
    ...{ userKey: "user-7", event: "Signed Up", receivedAtMs, configOffset: offsets.off },
    ...{ destinationIds: [switched], firstOffset: null, integration: null },
  };
  await writer.unrouted({ sourceId, unroutedAtMs: receivedAtMs, events: [event] });
  // Control has read every topic to its end, the topic of the destinations too.
  await eventually(async () => {
    const causes = ["on", "off", "onAgain"].map(async (messageId) => {
      const { destinations } = (await verdictOn(messageId)).events[0];
      return destinations.find((each: { destinationId: string }) => each.destinationId === switched)?.cause;
    });
    expect(await Promise.all(causes)).toEqual(["unknown", "destination_off", "unknown"]);
  });
});

const verdictOn = (messageId: string) =>
  eventually(async () => {
    const { status, body } = await control.call("GET", `/v1/events/${messageId}`);
    expect([status, body.events.length]).toEqual([200, 1]);
    return body;
  });

describe("a destination that an event did not go to", () => {
  it("is told to have been off, since when and by whom, where another took the event", async () => {
    const { cause, events } = await verdictOn("off");
    // It counts only where nothing was routed.
    expect([cause, events[0].cause]).toEqual(["delivered", "delivered"]);
    expect(events[0].sentence).toMatch(/^Delivered to "Took it" at /);
    expect(events[0].destinations[1]).toMatchObject({
      ...{ destinationId: switched, cause: "destination_off", since: offAt, by: "dana" },
      sentence:
        `Not sent to "Store": it was off since ${offAt}, switched off by dana. ` +
        'It will not be sent unless the source sends it again, under another message id, once "Store" is on.',
      command: `posthaste destinations update ${switched} --enabled`,
    });
  });

  it.each(["on", "onAgain"])("is one of which nothing is known where it was %s then", async (messageId) => {
    const { events } = await verdictOn(messageId);
    const causes = events[0].destinations.map((each: { destinationId: string; cause: string }) => [
      each.destinationId,
      each.cause,
    ]);
    expect(causes).toEqual([
      [switched, "unknown"],
      [took, "delivered"],
    ]);
  });

  it("is told in the same way where all of them were off", async () => {
    const { cause, sentence, events } = await verdictOn("all-off");
    expect(cause).toBe("destination_off");
    const since = `since ${offAt}, switched off by dana`;
    expect(sentence).toContain(
      `Not delivered: every destination of "Shop" was off ("Store" ${since}). It will not be sent unless `,
    );
    expect(events[0].destinations).toMatchObject([{ destinationId: switched, since: offAt, by: "dana" }]);
  });

  it("is named where it was made for the source right after the event", async () => {
    const { id } = (await control.call("POST", "/v1/sources", { name: "New", kind: "server" })).body;
    const body = { type: "Webhooks", name: "Late", enabled: true, sourceIds: [id], settings: { urls: [] } };
    const settings = { urls: [{ url: "https://a.example/hook" }] };
    const late = (await control.call("POST", "/v1/destinations", { ...body, settings })).body;
    const receivedAtMs = Date.parse(late.createdAt) - 2000;
    const early: UnroutedEvent = {
      ...{ messageId: "early", cause: "no_destination", type: "track", originPartition: 1, originOffset: 71 },
      ...{ userKey: "user-7", event: "Signed Up", receivedAtMs, configOffset: offsets.onAgain },
      ...{ destinationIds: [], firstOffset: null, integration: null },
    };
    const events = [
      early,
      { ...early, messageId: "long-before", originOffset: 72, receivedAtMs: receivedAtMs - 10_000 },
    ];
    await writer.unrouted({ sourceId: id, unroutedAtMs: receivedAtMs, events });
    const { sentence } = await verdictOn("early");
    expect(sentence).toBe(
      `Not delivered: no destination was connected to "New" when it came; "Late" was made only at ${late.createdAt}.`,
    );
    expect((await verdictOn("long-before")).sentence).toBe('Not delivered: no destination is connected to "New".');
  });
});
