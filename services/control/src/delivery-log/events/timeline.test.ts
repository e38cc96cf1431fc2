import { DEAD_LETTER_REASONS } from "@posthaste/core/delivery/dead-letter";
import { DEFERRED_CAUSES } from "@posthaste/core/delivery/deferred-cause";
import { UNROUTED_CAUSES, type UnroutedCause } from "@posthaste/core/routing/routing";
import { attemptAt, deadLetterAt, deferralAt, momentOf } from "@posthaste/testbed/log-writer";
import { expect, it } from "vitest";
import type { EventDelivery } from "./routed-events.ts";
import { deliverySteps, unroutedStep } from "./timeline.ts";

const RETRY = { kind: "retry" as const, urls: null, delayMs: 1, dueAtMs: 1, deadlineMs: 1, reason: null };
const NONE: EventDelivery = { attempts: [], deferrals: [], deadLetters: [], unfinished: [] };

function stepsOf(facts: Partial<EventDelivery>, resentBy = new Map<string, string>()) {
  const deliveries = new Map([["dst_1", { ...NONE, ...facts }]]);
  return deliverySteps(
    {
      sourceId: "src_1",
      origin: null,
      deliveries,
      said: null,
      deadLetters: [],
      purged: [],
      users: [],
      unlisted: new Map(),
    },
    resentBy,
  );
}

it("a step says a cause or a reason in words, and has its code beside them", () => {
  const deferred = DEFERRED_CAUSES.flatMap((cause) =>
    stepsOf({ deferrals: [deferralAt(1, { cause, recordDelayMs: 1 })] }),
  );
  const dead = DEAD_LETTER_REASONS.flatMap((reason) =>
    stepsOf({ deadLetters: [{ ...deadLetterAt(2, { reason }), place: "0:1" }] }),
  );
  const left = UNROUTED_CAUSES.map((cause) => unroutedStep(unrouted(cause)));
  expect([...deferred, ...dead].map(({ note }) => note)).toEqual([...DEFERRED_CAUSES, ...DEAD_LETTER_REASONS]);
  for (const { detail } of [...deferred, ...dead, ...left]) expect(detail).toMatch(/^[^_]{10,}$/);
});

it("an attempt says what each URL answered, and whether it is tried again", () => {
  const urls = [
    { url: "https://a.example/hook", status: 503, error: null, durationMs: 5, answer: null },
    { url: "https://b.example/hook", status: null, error: "timeout", durationMs: 5, answer: null },
  ];
  const failed = attemptAt(1, { recordDelayMs: 10_000, outcome: "retryable", urls });
  const reported = "try 1: 503 from https://a.example/hook; no answer (timeout) from https://b.example/hook";
  expect(stepsOf({ attempts: [{ ...failed, followUps: [RETRY] }] })).toEqual([
    {
      ...{ time: momentOf(1), what: "attempt", destinationId: "dst_1", note: "retryable" },
      detail: `${reported}, to be tried again`,
    },
  ]);
  expect(stepsOf({ attempts: [failed] })[0]?.detail).toBe(`${reported}, not tried again`);
});

it("what is sent again says by whom: by hand and by a replay", () => {
  const again = (replayId: string) =>
    stepsOf({ attempts: [attemptAt(1, { replayId })] }, new Map([["rsd_1", "dana"]]))[0];
  expect(again("rsd_1")).toMatchObject({ detail: "to be sent again, by hand, by dana", note: "rsd_1" });
  expect(again("rsd_2")).toMatchObject({ detail: "to be sent again, by hand, by whom the audit does not know" });
  expect(again("rpl_1")).toMatchObject({ detail: "to be sent again, by a replay", note: "rpl_1" });
});

function unrouted(cause: UnroutedCause): Parameters<typeof unroutedStep>[0] {
  return {
    ...{ messageId: "m", sourceId: "src_1", cause, type: "track", originPartition: 0, originOffset: 1 },
    ...{ userKey: null, event: null, receivedAtMs: 1, unroutedAtMs: 2, configOffset: 41, destinationIds: [] },
    ...{ firstOffset: null, integration: null },
  };
}
