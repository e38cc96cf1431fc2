/** Verdicts on records that a deletion request stopped: the request's name and its state since. */
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import type { UnroutedEvent } from "@posthaste/core/routing/unrouted-event";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { createLogWriter, deadLetterAt, type LogWriter } from "@posthaste/testbed/log-writer";
import { testEvent } from "@posthaste/testbed/test-event";
import { eventually } from "@posthaste/testkit/eventually";
import { beforeAll, expect, it } from "vitest";
import { control, topics, useControl } from "./use-control.ts";

let writer: LogWriter;
let sourceId: string;
/** When the request `ticket-1` came. */
let requestedAt: string;

/** Writes the router's report that an event's user is suppressed; `written` is the event at that offset. */
async function stopEvent(messageId: string, written: Event): Promise<void> {
  const codec = await topics.openCodec<Event>("event");
  const [offsets] = await topicOffsets(topics.connection, topics.names.events);
  const value = codec.encode(written);
  await topics.producer.send([{ topic: topics.names.events, key: eventKey(sourceId, written), value, partition: 0 }]);
  const event: UnroutedEvent = {
    ...{ messageId, cause: "suppressed", type: "track", originPartition: 0, originOffset: offsets?.end ?? 0 },
    ...{ userKey: null, event: null, receivedAtMs: Date.now(), configOffset: 0, destinationIds: [] },
    ...{ firstOffset: null, integration: null },
  };
  await writer.unrouted({ sourceId, unroutedAtMs: Date.now(), events: [event] });
}

const eventOf = (messageId: string, differing: Partial<Event> = {}) =>
  testEvent(messageId, { sourceId, userId: "ada", ...differing });

const verdictOn = (messageId: string) =>
  eventually(async () => {
    const { status, body } = await control.call("GET", `/v1/events/${messageId}`);
    expect([status, body.cause]).toEqual([200, "suppressed"]);
    return body;
  });

useControl();

beforeAll(async () => {
  writer = await createLogWriter(topics);
  sourceId = (await control.call("POST", "/v1/sources", { name: "Shop", kind: "server" })).body.id;
  await writer.deadLetters([deadLetterAt(1, { messageId: "hidden", sourceId })], 0, "ada");
  const request = { id: "ticket-1", userIds: ["ada", "eve"], sourceIds: [sourceId], suppress: true };
  expect((await control.call("POST", "/v1/deletions", request)).status).toBe(202);
  requestedAt = (await control.call("GET", "/v1/deletions/ticket-1")).body.createdAt;
  await stopEvent("stopped", eventOf("stopped"));
  await stopEvent("renamed", eventOf("renamed", { type: "alias", userId: "new", previousId: "eve" }));
  await stopEvent("overwritten", eventOf("another"));
  const empty = { reason: "suppressed" as const, body: Buffer.alloc(0), userKey: null };
  await writer.deadLetters([deadLetterAt(50, { messageId: "dropped", sourceId, ...empty })], 0, "ada");
});

const NAMED = () => `the deletion request ticket-1 of ${requestedAt} stopped the user's events`;

it.each([
  ["an event", "stopped", "Not delivered"],
  ["an alias, by the user whose id it replaces", "renamed", "Not delivered"],
  ["a delivery that was dropped", "dropped", "Not delivered to dst_1"],
  ["a dead letter that is hidden since", "hidden", "Not delivered"],
])("the request is named that stopped %s", async (_, messageId, undelivered) => {
  const { sentence, command, deletion, events } = await verdictOn(messageId);
  expect(sentence).toBe(`${undelivered}: ${NAMED()}.`);
  expect(command).toBe("posthaste deletions get ticket-1");
  expect(deletion).toEqual({ id: "ticket-1", requestedAt, ended: false });
  for (const event of events) expect(event).toMatchObject({ sentence, deletion, userKey: null });
});

it("the list of events says the same of each as its own verdict", async () => {
  // On a machine that is busy a page may have had no time for each.
  await eventually(async () => {
    const { body } = await control.call("GET", `/v1/events?sourceId=${sourceId}`);
    expect(body.data).toHaveLength(4);
    for (const { messageId, sentence, deletion } of body.data) {
      const own = await verdictOn(messageId);
      expect({ messageId, sentence, deletion }).toEqual({ messageId, sentence: own.sentence, deletion: own.deletion });
    }
    const ids = body.data.map(({ deletion }: { deletion: { id: string } | null }) => deletion?.id ?? "none");
    expect(ids.sort()).toEqual(["none", "ticket-1", "ticket-1", "ticket-1"]);
  });
});

it("no request is named where the event itself is not there any more", async () => {
  const { sentence, command, deletion } = await verdictOn("overwritten");
  expect(sentence).toBe(
    "Not delivered: a deletion request stopped the user's events; which one is not known any more.",
  );
  expect([command, deletion]).toEqual(["posthaste deletions list", null]);
});

it("a suppression that ended since, and a request that is on record no more, are told as that", async () => {
  await control.call("DELETE", "/v1/suppressions?userId=ada");
  await eventually(async () => {
    const { sentence, command, deletion } = await verdictOn("stopped");
    expect(sentence).toBe(
      `Not delivered: ${NAMED()}; that has ended since: what is sent of the user now is delivered.`,
    );
    expect([command, deletion?.ended]).toEqual(["posthaste deletions get ticket-1", true]);
  });
  const headers = { [REVISION_HEADER]: String(Number.MAX_SAFE_INTEGER) };
  await topics.producer.send([{ topic: topics.names.deletions, key: "ticket-1", value: null, headers }]);
  await eventually(async () => {
    const { sentence, command, deletion } = await verdictOn("stopped");
    expect(sentence).toBe("Not delivered: a deletion request stopped the user's events; it is not on record any more.");
    expect([command, deletion]).toEqual(["posthaste deletions list", null]);
  });
});
