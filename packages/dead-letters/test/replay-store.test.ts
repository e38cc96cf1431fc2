/** RR3 of replay-runner.ts: the removal of plans and progress, over the real broker. */

import { AuditTrail } from "@posthaste/configuration/audit-trail";
import { type AvroReplayRecord, createReplayCodec, type RecordedProgress } from "@posthaste/contracts/replay-codec";
import type { AuditEntry } from "@posthaste/core/access/audit-entry";
import type { Author } from "@posthaste/core/access/author";
import { PosthasteError } from "@posthaste/core/errors";
import { SILENT_LOG } from "@posthaste/core/log";
import { claimProgress, isDue, NONE_SKIPPED } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { Producer } from "@posthaste/kafka/producer/producer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { openReplayStore, type ReplayStore } from "../src/replay-store.ts";

const PLAN: ReplayPlan = {
  ...{ purpose: "replay", want: "running", filter: {}, again: false, ratePerSecond: null, topicId: null, ranges: [] },
  ...{ matched: 1, leftOut: NONE_SKIPPED, leftOutPlaces: new Uint8Array(), samples: [] },
  ...{ createdAtMs: 0, expiresAtMs: 1000, startedAtMs: 5 },
};
const ENDED: RecordedProgress = {
  ...claimProgress(undefined, 0),
  ...{ state: "done", endedAtMs: 10, leftOutPlaces: new Uint8Array(), updatedAtMs: 10 },
};

const CLOCK = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

let topics: TestTopics;
/** Somebody. */
const BY: Author = {
  caller: { tokenId: null, name: "dana", scopes: ["replay"], sessionId: null, way: "api" },
  operation: "replayDeadLetters",
  requestId: "req_1",
};

let store: ReplayStore;
/** Writes that are left before the process is as good as killed. */
let writes: number;

beforeAll(async () => {
  topics = await createTestTopics("control");
  const producer: Producer = Object.create(topics.producer, {
    send: {
      value: (...records: Parameters<Producer["send"]>) => {
        writes -= 1;
        return writes < 0 ? Promise.reject(new PosthasteError("closed", "killed")) : topics.producer.send(...records);
      },
    },
  });
  store = await openReplayStore(topics.connection, {
    ...{ topic: topics.names.replays, producer, clock: CLOCK, log: SILENT_LOG, writer: 7 },
    trail: new AuditTrail({
      topic: topics.names.audit,
      codec: await topics.openCodec<AuditEntry>("audit"),
      clock: CLOCK,
    }),
    codec: createReplayCodec(await topics.openCodec<AvroReplayRecord>("replay")),
  });
  await store.caughtUp();
});

beforeEach(() => {
  writes = Number.POSITIVE_INFINITY;
});

afterAll(async () => {
  await store.close();
  await topics.remove();
});

it("a plan that somebody started in the moment in which it was over stays", async () => {
  await store.add("rpl_started", { ...PLAN, want: "planned", startedAtMs: null });
  const isOver = ({ plan }: { readonly plan: ReplayPlan }) => plan.startedAtMs === null;
  const started = store.act("rpl_started", { act: "start", by: BY, change: () => ({ startedAtMs: 7 }) });
  const [gone] = await Promise.all([store.remove("rpl_started", isOver), started]);
  expect([gone, store.get("rpl_started")?.plan.startedAtMs]).toEqual([false, 7]);
  expect(await store.remove("rpl_started", () => true)).toBe(true);
  expect(store.get("rpl_started")).toBeUndefined();
});

it("a replay that is removed is not carried out again by whoever goes on after a crash in between", async () => {
  await store.add("rpl_done", PLAN);
  await store.writeProgress("rpl_done", () => ENDED);
  writes = 1;
  await expect(store.remove("rpl_done", () => true)).rejects.toThrow("killed");
  writes = Number.POSITIVE_INFINITY;
  const due = [...store.plans()].filter(({ plan, progress }) => isDue(plan.want, progress));
  expect(due).toEqual([]);
  // The replay's leftover progress is removed when it is as old as the replay was.
  await store.add("rpl_done", { ...PLAN, want: "planned", startedAtMs: null });
  expect(store.get("rpl_done")?.progress).toEqual(ENDED);
  await store.removeLeftProgress(() => true);
  expect(store.get("rpl_done")?.progress).toEqual(ENDED);
  await store.remove("rpl_done", () => true);
  expect([...store.plans()]).toEqual([]);
});

it("progress whose plan is gone is removed when it is over", async () => {
  await store.add("rpl_left", PLAN);
  await store.writeProgress("rpl_left", () => ENDED);
  writes = 1;
  await expect(store.remove("rpl_left", () => true)).rejects.toThrow("killed");
  writes = Number.POSITIVE_INFINITY;
  await store.removeLeftProgress(() => false);
  await store.removeLeftProgress(({ endedAtMs }) => endedAtMs === 10);
  await store.add("rpl_left", { ...PLAN, want: "planned", startedAtMs: null });
  expect(store.get("rpl_left")?.progress).toBeUndefined();
});
