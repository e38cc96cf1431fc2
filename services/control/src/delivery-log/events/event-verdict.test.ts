import type { AttemptRecord, LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetterFact } from "@posthaste/core/verdict/delivery-facts";
import type { UnfinishedEvent } from "@posthaste/pipeline/pipeline-findings";
import type { ListedUnrouted } from "@posthaste/read-model/unrouted-entry";
import { testDestination } from "@posthaste/testbed/test-destination";
import { describe, expect, it } from "vitest";
import type { DestinationThen } from "./destination-history.ts";
import type { EventFacts } from "./event-facts.ts";
import { causeOfAll, type JudgedEvent, type JudgeTerms, judgeEvents, sourceIdOf } from "./event-verdict.ts";
import type { EventDelivery, RoutedEvent } from "./routed-events.ts";

const RECEIVED_MS = 1_000_000;
const CALL = { messageId: "message-1", sourceId: "src_1" };

const SAID: LoggedDelivery = {
  ...{
    ...CALL,
    destinationId: "dst_1",
    type: "track" as const,
    receivedAtMs: RECEIVED_MS,
    userKey: "user-7",
    event: "Ordered",
  },
  ...{ originPartition: 1, originOffset: 7, configOffset: 4, recordDelayMs: 0, recordPartition: 2, recordOffset: 100 },
  ...{ recordTimestampMs: RECEIVED_MS + 50, deferrals: 0, replayId: null },
};

const DELIVERED: AttemptRecord = {
  ...{ ...SAID, attempt: 1, startedAtMs: RECEIVED_MS + 100, outcome: "delivered", followUps: [] },
  bodyBytes: 2,
  urls: [{ url: "https://a.example/hook", status: 200, error: null, durationMs: 12, answer: null }],
};

const DEAD_LETTER: DeadLetterFact = {
  ...{ deadAtMs: RECEIVED_MS + 500, reason: "window_expired", reasonClass: "receiver", attempts: 9, replayId: null },
  ...{ lastAttempt: [], place: "0:3" },
};

const UNROUTED: ListedUnrouted = {
  ...{
    ...CALL,
    type: "track" as const,
    cause: "no_destination",
    originPartition: 1,
    originOffset: 7,
    userKey: "user-7",
  },
  ...{ event: "Ordered", receivedAtMs: RECEIVED_MS, configOffset: 4, destinationIds: [], firstOffset: null },
  ...{ integration: null, unroutedAtMs: RECEIVED_MS + 50 },
};

const REJECTED = {
  ...{ ...CALL, rejectedAtMs: RECEIVED_MS, code: "missing_user", message: "who?", index: 0 },
  ...{ userKey: null, event: null, single: true },
};

const REFUSED = {
  ...{ sourceId: "src_1", atMs: RECEIVED_MS, status: 413, code: "too_large", path: "/v1/track", bytes: 1 },
  ...{ userAgent: null, messageIds: ["message-1"], unknownKey: null },
};

const UNFINISHED: UnfinishedEvent = {
  ...{
    ...CALL,
    type: "track" as const,
    receivedAtMs: RECEIVED_MS,
    userKey: "user-7",
    event: null,
    partition: 1,
    offset: 7,
  },
  ...{ recordsBehind: 3, behindMs: 40 },
};

const HIDDEN = { sourceId: "src_1", digests: ["digest-of-a-user"] };

const facts = (known: Partial<EventFacts>): EventFacts => ({
  ...{ rejected: [], refused: [], unrouted: [], routed: [], unfinished: [], suppressedDeadLetters: [], isCut: false },
  fresh: { asOfMs: null, complete: true },
  ...known,
});

const delivery = (known: Partial<EventDelivery>): EventDelivery => ({
  ...{ attempts: [], deferrals: [], deadLetters: [], unfinished: [] },
  ...known,
});

function routed(deliveries: Readonly<Record<string, Partial<EventDelivery>>>, differing: Partial<RoutedEvent> = {}) {
  const known = new Map(Object.entries(deliveries).map(([id, each]) => [id, delivery(each)]));
  return facts({
    routed: [
      {
        sourceId: "src_1",
        origin: null,
        deliveries: known,
        said: SAID,
        deadLetters: [],
        purged: [],
        users: [],
        unlisted: new Map(),
        ...differing,
      },
    ],
  });
}

function judge(known: EventFacts, terms: Partial<JudgeTerms> = {}): readonly JudgedEvent[] {
  const nothing = {
    destinations: [],
    rest: { has: () => true },
    history: { at: () => null },
    nowMs: RECEIVED_MS,
    isSuppressed: () => false,
    lostOf: () => null,
  };
  return judgeEvents(known, { ...nothing, ...terms });
}

const causes = (known: EventFacts, terms: Partial<JudgeTerms> = {}) => judge(known, terms).map(({ cause }) => cause);

/** The causes for an event's destinations, in their order. */
function perDestination(known: EventFacts, terms: Partial<JudgeTerms> = {}) {
  const [event] = judge(known, terms);
  const deliveries = event !== undefined && "deliveries" in event ? event.deliveries : [];
  return deliveries.map(({ destinationId, verdict }) => [destinationId, verdict?.cause ?? null]);
}

/** A history in which each destination stood so at the event's config offset. */
const stood = (then: Partial<DestinationThen>): JudgeTerms["history"] => ({
  at: (_, configOffset) => (configOffset === 4 ? { state: "on", sourceIds: ["src_1"], sinceMs: 7, ...then } : null),
});

it.each([
  ["any", "delivered"],
  ["each", "dead_letter"],
] as const)("a dead letter that was sent again to another URL is judged by settle %s as %s", (settle, cause) => {
  const lastAttempt = [{ url: "https://old.example/hook", status: 503, error: null }];
  const again = { ...DELIVERED, startedAtMs: RECEIVED_MS + 900, replayId: "rpl_1" };
  const known = routed({ dst_1: { attempts: [again], deadLetters: [{ ...DEAD_LETTER, lastAttempt }] } });
  expect(causes(known, { destinations: [testDestination("dst_1", { settle })] })).toEqual([cause]);
});

describe("a repeat", () => {
  const REPEAT: ListedUnrouted = { ...UNROUTED, cause: "duplicate", originOffset: 9, firstOffset: 7 };
  const origin = { partition: 1, offset: 7 };
  const firstAtMs = (known: Partial<EventFacts>) => {
    const event = judge(facts({ ...known, unrouted: [REPEAT, ...(known.unrouted ?? [])] })).find(
      (each) => "unrouted" in each && each.unrouted === REPEAT,
    );
    return event !== undefined && "firstAtMs" in event ? event.firstAtMs : undefined;
  };

  it.each<[string, Partial<EventFacts>, number | null]>([
    ["became deliveries", routed({ dst_1: { attempts: [DELIVERED] } }, { origin }), RECEIVED_MS],
    ["became none", { unrouted: [UNROUTED] }, RECEIVED_MS],
    ["waits for the router", { unfinished: [UNFINISHED] }, RECEIVED_MS],
    ["is of another source", { unrouted: [{ ...UNROUTED, sourceId: "src_2" }] }, null],
    ["is of another partition", { unrouted: [{ ...UNROUTED, originPartition: 2 }] }, null],
    ["is another event", routed({ dst_1: {} }, { origin: { ...origin, offset: 8 } }), null],
  ])("knows when the first was received where that %s", (_, known, atMs) => {
    expect(firstAtMs(known)).toBe(atMs);
  });
});

describe("a call that was not accepted", () => {
  it.each([
    [true, "refused"],
    [null, "refused"],
    [false, "rejected_in_batch"],
  ])("that was single (%s) is %s", (single, cause) => {
    expect(causes(facts({ rejected: [{ ...REJECTED, single }] }))).toEqual([cause]);
  });

  it.each<[string, Partial<EventFacts>]>([
    ["rejected", { rejected: [REJECTED] }],
    ["unrouted", { unrouted: [UNROUTED] }],
    ["unrouted, its receipt not known", { unrouted: [{ ...UNROUTED, receivedAtMs: null, unroutedAtMs: RECEIVED_MS }] }],
    ["routed", { routed: routed({ dst_1: { attempts: [DELIVERED] } }).routed }],
    ["unfinished", { unfinished: [UNFINISHED] }],
  ])("in a request counts where nothing came of it later, but an event that is %s at that moment", (_, known) => {
    const causesAt = (atMs: number) => causes(facts({ ...known, refused: [{ ...REFUSED, atMs }] }));
    const without = causes(facts(known));
    expect(causesAt(RECEIVED_MS - 1)).toEqual(without);
    expect(causesAt(RECEIVED_MS)).toEqual(without);
    expect(causesAt(RECEIVED_MS + 1)).toEqual(["refused", ...without]);
  });

  it("in a request counts beside an event whose receipt nobody knows", () => {
    const known = { ...routed({}, { said: { ...SAID, receivedAtMs: null } }), refused: [REFUSED] };
    expect(causes(known)).toEqual(["refused", "unknown"]);
  });
});

describe("an event that became no delivery", () => {
  it.each([
    ["no_destination", "no_destination"],
    ["destination_off", "destination_off"],
    ["integrations", "integration_off"],
    ["duplicate", "duplicate_of"],
    ["suppressed", "suppressed"],
    ["other", "unknown"],
  ] as const)("for %s is %s", (cause, verdict) => {
    expect(causes(facts({ unrouted: [{ ...UNROUTED, cause }] }))).toEqual([verdict]);
  });

  it.each([
    ["with it", 0, {}, true],
    ["five seconds later", 5000, {}, true],
    ["later than that", 5001, {}, false],
    ["before it", -1, {}, false],
    ["with it, for another source", 0, { sourceIds: ["src_2"] }, false],
  ])("names the destination that was made %s: %i ms", (_, laterMs, change, isNamed) => {
    const made = testDestination("dst_new", { createdAtMs: RECEIVED_MS + laterMs, ...change });
    const madeAfter = isNamed ? { destinationId: "dst_new", atMs: RECEIVED_MS + laterMs } : null;
    const destinations = [testDestination("dst_other", { sourceIds: ["src_9"], createdAtMs: RECEIVED_MS }), made];
    expect(judge(facts({ unrouted: [UNROUTED] }), { destinations })).toMatchObject([{ madeAfter }]);
    const unrouted = [{ ...UNROUTED, receivedAtMs: null, unroutedAtMs: RECEIVED_MS }];
    expect(judge(facts({ unrouted }), { destinations })).toMatchObject([{ madeAfter }]);
    const duplicate = { ...UNROUTED, cause: "duplicate" as const };
    expect(judge(facts({ unrouted: [duplicate] }), { destinations })).toMatchObject([{ madeAfter: null }]);
  });

  it("since its destinations were off names them, and since when", () => {
    const off = { ...UNROUTED, cause: "destination_off" as const, destinationIds: ["dst_1", "dst_2"] };
    const sinceAt = (configOffset: number | null, history: JudgeTerms["history"]) =>
      judge(facts({ unrouted: [{ ...off, configOffset }] }), { history });
    const named = (sinceMs: number | null) =>
      ["dst_1", "dst_2"].map((destinationId) => ({
        destinationId,
        verdict: { cause: "destination_off", sinceMs, by: null, tries: 0 },
      }));
    expect(sinceAt(4, stood({ state: "off" }))).toMatchObject([{ deliveries: named(7) }]);
    expect(sinceAt(5, stood({ state: "off" }))).toMatchObject([{ deliveries: named(null) }]);
    expect(sinceAt(null, { at: () => ({ state: "off", sourceIds: [], sinceMs: 7 }) })).toMatchObject([
      { deliveries: named(null) },
    ]);
    const others = { ...off, cause: "integrations" as const };
    expect(judge(facts({ unrouted: [others] }))).toMatchObject([{ deliveries: [] }]);
  });
});

describe("an event with deliveries", () => {
  const DEAD = { deadLetters: [DEAD_LETTER] };
  const TOOK = { attempts: [DELIVERED] };

  it("has the worst first, and that is its own; one that was off comes last and is not", () => {
    const off = testDestination("dst_off", { enabled: false });
    const known = routed({ dst_1: TOOK, dst_2: DEAD });
    expect(perDestination(known, { destinations: [off] })).toEqual([
      ["dst_2", "dead_letter"],
      ["dst_1", "delivered"],
      ["dst_off", "destination_off"],
    ]);
    expect(causes(known, { destinations: [off] })).toEqual(["dead_letter"]);
    expect(causes(routed({ dst_1: TOOK }), { destinations: [off] })).toEqual(["delivered"]);
    expect(causes(routed({}))).toEqual(["unknown"]);
  });

  it("is not told of dead letters where its user's events were stopped", () => {
    const isSuppressed = (sourceId: string, userKey: string | null) => sourceId === "src_1" && userKey === "user-7";
    const known = routed({ dst_1: TOOK, dst_2: DEAD });
    expect(judge(known, { isSuppressed })).toMatchObject([
      {
        cause: "suppressed",
        deliveries: [
          { destinationId: "dst_2", verdict: { cause: "suppressed", atMs: DEAD_LETTER.deadAtMs, tries: 9 } },
          { destinationId: "dst_1", verdict: { cause: "delivered" } },
        ],
      },
    ]);
    const another = routed({ dst_2: DEAD }, { said: { ...SAID, userKey: "user-8" } });
    expect(causes(another, { isSuppressed })).toEqual(["dead_letter"]);
    const asked: unknown[] = [];
    judge(routed({ dst_2: DEAD }, { said: null }), { isSuppressed: (...whose) => asked.push(whose) === 0 });
    expect(asked).toEqual([["src_1", null]]);
  });

  it("is on its way where delivery has not read it, by the newest record of it", () => {
    const unfinished = [1, 2].map((recordsBehind) => ({ ...SAID, recordsBehind, behindMs: 10 * recordsBehind }));
    expect(judge(routed({ dst_1: { unfinished } }))).toMatchObject([
      { deliveries: [{ verdict: { cause: "in_pipeline", recordsBehind: 2, behindMs: 20, tries: 0 } }] },
    ]);
    expect(perDestination(routed({ dst_1: { unfinished, ...TOOK } }))).toEqual([["dst_1", "delivered"]]);
    expect(perDestination(routed({ dst_1: {} }))).toEqual([["dst_1", null]]);
  });

  it.each([
    ["is on", {}, [["dst_2", null]]],
    ["is off", { enabled: false }, [["dst_2", "destination_off"]]],
    ["is of another source", { sourceIds: ["src_2"] }, []],
    ["was changed as it came", { updatedAtMs: RECEIVED_MS }, [["dst_2", null]]],
    ["was changed since", { updatedAtMs: RECEIVED_MS + 1 }, []],
  ])("of which nothing is known at a destination that %s", (_, change, expected) => {
    const destinations = [testDestination("dst_2", change)];
    expect(perDestination(routed({}), { destinations })).toEqual(expected);
    const [deadLetters, purged] = [[deadLetterReceivedAt(RECEIVED_MS)], [deadLetterReceivedAt(RECEIVED_MS)]];
    expect(perDestination(routed({}, { said: null, deadLetters }), { destinations })).toEqual(expected);
    expect(perDestination(routed({}, { said: null, purged }), { destinations })).toEqual(expected);
  });

  it("whose receipt nobody knows is judged by its destinations as they are", () => {
    const destinations = [testDestination("dst_2", { updatedAtMs: RECEIVED_MS + 1 })];
    expect(perDestination(routed({}, { said: null }), { destinations })).toEqual([["dst_2", null]]);
  });

  it.each([
    ["was on", {}, [["dst_2", null]]],
    ["was off", { state: "off" }, [["dst_2", "destination_off"]]],
    ["was of another source", { sourceIds: ["src_2"] }, []],
    ["was not there", { state: "removed" }, []],
  ] as const)("of which nothing is known at a destination that %s then, however it stands now", (_, then, expected) => {
    for (const change of [{}, { enabled: false }, { sourceIds: [] }, { updatedAtMs: RECEIVED_MS + 1 }]) {
      const terms = { destinations: [testDestination("dst_2", change)], history: stood(then) };
      expect(perDestination(routed({}), terms)).toEqual(expected);
    }
    const [event] = judge(routed({}), { destinations: [testDestination("dst_2")], history: stood({ state: "off" }) });
    expect(event).toMatchObject({ deliveries: [{ verdict: { sinceMs: 7 } }] });
  });

  it("of which nothing is known is not held to a destination that it has a delivery for", () => {
    const destinations = [testDestination("dst_1", { enabled: false })];
    expect(perDestination(routed({ dst_1: TOOK }), { destinations })).toEqual([["dst_1", "delivered"]]);
  });
});

it("an event that the router has not come to is on its way", () => {
  expect(judge(facts({ unfinished: [UNFINISHED] }))).toEqual([{ cause: "in_pipeline", unfinished: UNFINISHED }]);
});

it("the whole is the worst of all; where nothing is known, dead letters of a stopped user say so", () => {
  const none = facts({});
  expect(causeOfAll([], none)).toBe("unknown");
  expect(causeOfAll([], { ...none, suppressedDeadLetters: [HIDDEN] })).toBe("suppressed");
  const both = facts({
    unrouted: [{ ...UNROUTED, cause: "duplicate" }],
    unfinished: [UNFINISHED],
    suppressedDeadLetters: [HIDDEN],
  });
  expect(causeOfAll(judge(both), both)).toBe("in_pipeline");
});

it("each names its source", () => {
  const of = (sourceId: string) => ({ sourceId });
  const every = facts({
    refused: [{ ...REFUSED, ...of("refused"), atMs: RECEIVED_MS + 1 }],
    rejected: [{ ...REJECTED, ...of("rejected") }],
    unrouted: [{ ...UNROUTED, ...of("unrouted") }],
    routed: routed({}, of("routed")).routed,
    unfinished: [{ ...UNFINISHED, ...of("unfinished") }],
  });
  expect(judge(every).map(sourceIdOf)).toEqual(["refused", "rejected", "unrouted", "routed", "unfinished"]);
});

function deadLetterReceivedAt(receivedAtMs: number): RoutedEvent["deadLetters"][number] {
  return {
    ...{
      ...CALL,
      destinationId: "dst_1",
      type: "track" as const,
      event: null,
      userKey: "user-7",
      reason: "window_expired",
    },
    ...{ reasonClass: "receiver", receivedAtMs, deadAtMs: RECEIVED_MS + 500, attempts: 9, deferrals: 0 },
    ...{ windowStartMs: null, lastAttempt: [], replayId: null, replays: 0 },
  };
}
