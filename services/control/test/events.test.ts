/** "Why did this event not arrive?", asked of a control that has read the records of the services. */
import type { UnroutedCause } from "@posthaste/core/routing/routing";
import type { UnroutedEvent } from "@posthaste/core/routing/unrouted-event";
import {
  attemptAt,
  createLogWriter,
  deadLetterAt,
  deferralAt,
  type LogWriter,
  momentOf,
} from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

let topics: TestTopics;
let control: TestControl;
let writer: LogWriter;
/** Connected to a source, and off. */
let off: { readonly id: string; readonly sourceId: string };

/** The due time of a delivery that waits for a retry. */
const DUE = new Date(Date.now() + 3_600_000).toISOString();
const HOOK = "https://a.example/hook";
const failing = {
  outcome: "retryable" as const,
  urls: [{ url: HOOK, status: 503, error: null, durationMs: 9, answer: null }],
};

function unrouted(messageId: string, cause: UnroutedCause, differing: Partial<UnroutedEvent> = {}): UnroutedEvent {
  return {
    ...{ messageId, cause, type: "track", originPartition: 1, originOffset: 77, userKey: "user-7", event: "Signed Up" },
    ...{
      receivedAtMs: Date.parse(momentOf(1)),
      configOffset: 4,
      destinationIds: [],
      firstOffset: null,
      integration: null,
    },
    ...differing,
  };
}

beforeAll(async () => {
  topics = await createTestTopics("events");
  writer = await createLogWriter(topics);
  control = await startTestControl(topics);
  const source = await control.call("POST", "/v1/sources", { name: "Shop", kind: "server" });
  const settings = { urls: [{ url: HOOK }] };
  const body = { type: "Webhooks", name: "Warehouse", enabled: false, sourceIds: [source.body.id], settings };
  const destination = await control.call("POST", "/v1/destinations", body);
  expect([source.status, destination.status]).toEqual([201, 201]);
  off = { id: destination.body.id, sourceId: source.body.id };

  const due = Date.parse(DUE);
  const retry = {
    kind: "retry" as const,
    urls: null,
    delayMs: 10_000,
    dueAtMs: due,
    deadlineMs: due + 60_000,
    reason: null,
  };
  await writer.attempts([
    attemptAt(1, { messageId: "took" }),
    attemptAt(2, { messageId: "waits", ...failing, followUps: [retry] }),
    attemptAt(2, { messageId: "overdue", ...failing, followUps: [{ ...retry, dueAtMs: Date.parse(momentOf(12)) }] }),
    attemptAt(3, { messageId: "died", attempt: 8, ...failing }),
    attemptAt(4, {
      messageId: "took-elsewhere",
      urls: [
        { url: HOOK, status: null, error: "timeout", durationMs: 5000, answer: null },
        { url: "https://b.example/hook", status: 200, error: null, durationMs: 9, answer: null },
      ],
    }),
    attemptAt(5, { messageId: "mixed" }),
    attemptAt(5, { messageId: "mixed", destinationId: "dst_2", ...failing, followUps: [retry] }),
    attemptAt(6, { messageId: "it's; rm -rf /", ...failing, followUps: [retry] }),
  ]);
  await writer.deferrals([deferralAt(3, { messageId: "deferred" })]);
  await writer.deadLetters([deadLetterAt(4, { messageId: "died" })]);
  await writer.unrouted({
    sourceId: off.sourceId,
    unroutedAtMs: Date.parse(momentOf(2)),
    events: [
      unrouted("nowhere", "no_destination"),
      unrouted("off", "destination_off", { destinationIds: [off.id] }),
      unrouted("kept-back", "integrations", { integration: "All", destinationIds: [off.id] }),
      unrouted("took", "duplicate", { firstOffset: 12 }),
      unrouted("forgotten", "suppressed", { userKey: null, event: null }),
    ],
  });
  // The router read the record of one again, after it was connected to a destination that is off.
  await writer.unrouted({
    sourceId: off.sourceId,
    unroutedAtMs: Date.parse(momentOf(3)),
    events: [unrouted("read-twice", "no_destination", { originOffset: 90 })],
  });
  await writer.unrouted({
    sourceId: off.sourceId,
    unroutedAtMs: Date.parse(momentOf(4)),
    events: [unrouted("read-twice", "destination_off", { originOffset: 90, destinationIds: [off.id] })],
  });
  const ofForgotten = { sourceId: off.sourceId, userKey: "user-8" };
  const dead = { kind: "dead_letter" as const, urls: null, delayMs: null, dueAtMs: null, deadlineMs: null };
  await writer.attempts([
    attemptAt(7, {
      ...{ messageId: "died-forgotten", ...ofForgotten, ...failing },
      followUps: [{ ...dead, reason: "window_expired" }],
    }),
  ]);
  const call = {
    rejectedAtMs: Date.parse(momentOf(3)),
    code: "missing_user",
    message: "Say whose it is.",
    callJson: "{}",
  };
  await writer.rejectedCalls({
    sourceId: off.sourceId,
    calls: [
      { ...call, index: 0, messageId: "refused", userKey: null, event: "Signed Up", single: true },
      { ...call, index: 3, messageId: "refused-in-batch", userKey: null, event: null, single: false },
    ],
  });
  await eventually(async () => {
    for (const messageId of ["took-elsewhere", "deferred", "died", "nowhere", "refused-in-batch"]) {
      const { body: seen } = await control.call("GET", `/v1/events/${messageId}`);
      expect(seen.events).toHaveLength(1);
    }
    for (const [messageId, cause] of [
      ["died", "dead_letter"],
      ["read-twice", "destination_off"],
    ]) {
      expect((await control.call("GET", `/v1/events/${messageId}`)).body.cause).toBe(cause);
    }
    // Control has read all records: an event that it does not know does not exist.
    expect((await control.call("GET", "/v1/events/never-seen")).body.complete).toBe(true);
    // How its destination stood is read from a topic of its own.
    expect((await control.call("GET", "/v1/events/off")).body.sentence).toContain(" since ");
  });
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const verdictOn = async (messageId: string, query = "") => {
  const { status, body } = await control.call("GET", `/v1/events/${encodeURIComponent(messageId)}${query}`);
  expect(status).toBe(200);
  return body;
};

describe("the verdict on an event", () => {
  it.each([
    ["overdue", "waiting_retry", /answered 503; its next try was due /],
    ["waits", "waiting_retry", /^Not delivered to dst_1 yet: .* answered 503; next try .*\.retry-10s, last possible /],
    ["died", "dead_letter", /given up at .*, window expired \(receiver; .* answered 503\); .* replay when/],
    ["deferred", "deferred", /^Not delivered to dst_1 yet: deferred since .* its breaker is open after failures/],
    [
      "took-elsewhere",
      "delivered_elsewhere",
      /by https:\/\/b\.example\/hook in 9 ms; of its other URLs .* answered nothing \(timeout\)\.$/,
    ],
    ["nowhere", "no_destination", /^Not delivered: no destination is connected to "Shop"\.$/],
    [
      "off",
      "destination_off",
      /^Not delivered: every destination of "Shop" was off \("Warehouse" since .*\)\. It will not be sent unless .* once one of them is on\.$/,
    ],
    [
      "kept-back",
      "integration_off",
      /integrations entry "All" switched the destinations off\. It will not be sent unless the source sends it again, under another message id, with integrations that leave them on\.$/,
    ],
    [
      "forgotten",
      "suppressed",
      /^Not delivered: a deletion request stopped the user's events; which one could not be looked up now\.$/,
    ],
    ["refused", "refused", /^Not accepted: ingest answered 400 missing_user\. Say whose it is\.$/],
    ["refused-in-batch", "rejected_in_batch", /^Not accepted as call 3 of its batch: missing_user\./],
    ["never-seen", "unknown", /^No event with this ID in the last 7 days/],
  ])("%s: %s", async (messageId, cause, sentence) => {
    const body = await verdictOn(messageId);
    expect([body.cause, body.messageId]).toEqual([cause, messageId]);
    expect(body.sentence).toMatch(sentence);
  });

  it("names what was delivered, and apart from it the repeat that was not", async () => {
    const { cause, events } = await verdictOn("took");
    // A repeat is no worse than its original, but somebody who looks for the event must learn of the repeat.
    expect(cause).toBe("duplicate_of");
    expect(events.map((event: { cause: string }) => event.cause)).toEqual(["duplicate_of", "delivered"]);
    expect(events[0].sentence).toContain("sent this message id before, at 1:12 of the events.");
    expect(events[1]).toMatchObject({
      ...{ sourceId: "src_1", origin: { partition: 1, offset: 1 }, type: "track", userKey: "user-7" },
      destinations: [{ destinationId: "dst_1", cause: "delivered", tries: 1, due: null, deadline: null, place: null }],
    });
    expect((await verdictOn("took", "?sourceId=src_1")).cause).toBe("delivered");
    expect((await verdictOn("took", "?sourceId=src_none")).events).toEqual([]);
  });

  it("is that of the event at one place, where two came under one id", async () => {
    const of = async (origin: string) => {
      const { cause, events, sentence } = await verdictOn("took", `?origin=${origin}`);
      return [cause, events.map((each: { origin: unknown }) => each.origin), sentence];
    };
    expect(await of("1:77")).toEqual(["duplicate_of", [{ partition: 1, offset: 77 }], expect.any(String)]);
    expect(await of("1:1")).toEqual(["delivered", [{ partition: 1, offset: 1 }], expect.any(String)]);
    const nothing = expect.stringMatching(/^No event with this ID at 1:78 of the events in /);
    expect(await of("1:78")).toEqual(["unknown", [], nothing]);
    // It never came there.
    expect((await verdictOn("refused", "?origin=1:77")).events).toEqual([]);
    const { status, body } = await control.call("GET", "/v1/events/took?origin=77");
    expect([status, body.errors]).toEqual([
      400,
      [{ path: "origin", message: "expected a partition and an offset, such as 1:77" }],
    ]);
  });

  it("is the worst of its destinations', each with its own, the worst first", async () => {
    const { cause, events } = await verdictOn("mixed");
    expect(cause).toBe("waiting_retry");
    expect(events[0].destinations).toMatchObject([
      { destinationId: "dst_2", cause: "waiting_retry", due: DUE, tries: 1 },
      { destinationId: "dst_1", cause: "delivered" },
    ]);
  });

  it("is the newest where the router read a record twice", async () => {
    const { cause, events } = await verdictOn("read-twice");
    expect([cause, events.length]).toEqual(["destination_off", 1]);
  });

  it("tells nothing of a user whose events a deletion request stopped since, nor of their dead letters", async () => {
    await eventually(async () => {
      const { cause, events } = await verdictOn("died-forgotten");
      expect([cause, events[0].userKey]).toEqual(["dead_letter", "user-8"]);
    });
    const deletion = { id: "of-user-8", userId: "user-8", sourceIds: [off.sourceId], suppress: true };
    expect((await control.call("POST", "/v1/deletions", deletion)).status).toBe(202);
    await eventually(async () => {
      const { cause, command, events } = await verdictOn("died-forgotten");
      expect([cause, command, events[0].userKey, events[0].event]).toEqual([
        "suppressed",
        "posthaste deletions get of-user-8",
        null,
        null,
      ]);
    });
  });

  it.each([
    ["off", /^posthaste destinations update dst_\w+ --enabled$/],
    ["kept-back", /^posthaste sources calls src_\w+$/],
  ])("that was kept back has a command that helps: %s", async (messageId, command) => {
    expect((await verdictOn(messageId)).command).toMatch(command);
  });

  it("has a timeline from the call to its end", async () => {
    const { events } = await verdictOn("died");
    expect(events[0].timeline.map(({ what }: { what: string }) => what)).toEqual([
      "received",
      "routed",
      "attempt",
      "dead_letter",
    ]);
    // Words for the event's sender; names and numbers stand apart.
    expect(events[0].timeline.map(({ detail, note }: { detail: string; note: string }) => [detail, note])).toEqual([
      ["the call was accepted", null],
      ["to be sent", "by the configuration up to 4"],
      ["try 8: 503 from https://a.example/hook, not tried again", "retryable"],
      ["no URL took it until the end of its retry window", "window_expired"],
    ]);
    expect(events[0].destinations[0]).toMatchObject({ place: expect.stringMatching(/^0:\d+$/), tries: 3 });
    expect(events[0].command).toBe(`posthaste dead-letters replay --places ${events[0].destinations[0].place}`);
  });

  it("names a command that is safe in a shell, whatever the message id is", async () => {
    const { command } = await verdictOn("it's; rm -rf /");
    expect(command).toBe("posthaste deliveries --message-id 'it'\\''s; rm -rf /'");
  });
});
