/** Rule: AS6 of audience-sync.ts. */

import type { Author } from "@posthaste/core/access/author";
import type { Audience } from "@posthaste/core/audience/audience";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { audienceAudit } from "./audience-audit.ts";
import { AudienceRemovals } from "./audience-removals.ts";
import { AudienceSyncs, type AudienceSyncsOptions } from "./audience-sync.ts";

const LEASE_MS = 15_000;
const BY: Author = {
  caller: { tokenId: null, name: "somebody", scopes: [], sessionId: null, way: "api" },
  ...{ operation: "removeAudience", requestId: "req_1" },
};
const AUDIENCE: Audience = {
  ...{ id: "aud_1", revision: 1, kind: "audience", name: "A", trait: "a", sourceId: "src_1", bornRevision: 1 },
  ...{ lease: null, lastSync: null, isRemoved: false, createdAtMs: 0, updatedAtMs: 0 },
};
/** The number of writes of a removal: its lease, its word, fences, users, the audience's record. */
const WRITES = 5;
const WORD = 2;

// Nobody asks for more time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The topics, of one audience with three users; and processes over them. */
function installation() {
  let held: Audience | undefined = AUDIENCE;
  let nowMs = 0;
  const users = new Set(["ada", "bob", "cyd"]);
  const audited: object[] = [];

  /** It is killed at its nth write: before the brokers have that, or before it hears that they do. */
  const start = (killedAt = Number.POSITIVE_INFINITY, isWritten = false) => {
    let writes = 0;
    const write = async <T>(apply: () => T): Promise<T> => {
      writes += 1;
      if (writes > killedAt || (writes === killedAt && !isWritten)) return new Promise(() => undefined);
      const written = apply();
      return writes === killedAt ? new Promise(() => undefined) : written;
    };
    const audiences = {
      values: () => (held === undefined ? [] : [held]),
      change: (_: string, change: (current: Audience | undefined, revision: number) => Audience | null, by: unknown) =>
        write(() => {
          const next = change(held, (held?.revision ?? 0) + 1) ?? undefined;
          if (by !== null) audited.push({ by, to: next === undefined ? null : audienceAudit(next) });
          held = next;
          return next;
        }),
    };
    const everybody = async () => ({
      changes: [...users].map((userId) => ({ userId, valueJson: "true", newestMs: 0 })),
      ...{ after: null, unchanged: 0 },
    });
    const forget = (records: readonly OutgoingRecord[]) => {
      for (const { key, value } of records) if (value === null) users.delete(String(key).split(":").at(-1) ?? "");
    };
    const table = { everybody, stale: async () => [] };
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const options = {
      ...{ audiences, clock, log: SILENT_LOG, leaseMs: LEASE_MS, topic: "t", codec: { encode: () => Buffer.of(1) } },
      pace: { stepUsers: 1000, passed: async () => undefined },
      membership: { table, refresh: async () => table },
      producer: { partitionsOf: () => 1, send: (records: readonly OutgoingRecord[]) => write(() => forget(records)) },
    };
    // As much of the options as a removal uses.
    const syncs = new AudienceSyncs(options as unknown as AudienceSyncsOptions);
    const removals = new AudienceRemovals({ audiences, syncs, clock, log: SILENT_LOG });
    return { syncs, removals, writes: () => writes };
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { start, pass, users, audited, held: () => held };
}

const kills = Array.from({ length: WRITES }, (_, index) => [
  { killedAt: index + 1, isWritten: false },
  { killedAt: index + 1, isWritten: true },
]).flat();

it.each(kills)("is all or nothing, with one entry in the audit, whoever is killed: %j", async (kill) => {
  const { start, pass, users, audited, held } = installation();
  const first = start(kill.killedAt, kill.isWritten);
  first.syncs.remove(AUDIENCE, BY).catch(() => undefined);
  await expect.poll(() => first.writes()).toBe(kill.killedAt);
  const isSaid = kill.killedAt > WORD || (kill.killedAt === WORD && kill.isWritten);
  const next = start();
  const wasThere = held() !== undefined;
  // Its lease runs still.
  expect(await next.removals.finish()).toBe(isSaid && wasThere);
  expect(held() !== undefined).toBe(wasThere);
  pass(LEASE_MS);
  await next.removals.finish();
  expect(await next.removals.finish()).toBe(false);
  expect([held() === undefined, users.size, audited]).toEqual(
    isSaid ? [true, 0, [{ by: BY, to: {} }]] : [false, 3, []],
  );
});

it("is ended by whoever asks for it again, without another entry", async () => {
  const { start, pass, users, audited, held } = installation();
  const first = start(WORD + 1);
  first.syncs.remove(AUDIENCE, BY).catch(() => undefined);
  await expect.poll(() => first.writes()).toBe(WORD + 1);
  pass(LEASE_MS);
  await start().syncs.remove(AUDIENCE, BY);
  expect([held(), users.size, audited.length]).toEqual([undefined, 0, 1]);
});
