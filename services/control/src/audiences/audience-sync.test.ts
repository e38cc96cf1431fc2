import type { Audience } from "@posthaste/core/audience/audience";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import { PosthasteError } from "@posthaste/core/errors";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { expect, it } from "vitest";
import { AudienceSyncs, type AudienceSyncsOptions, type Said } from "./audience-sync.ts";
import { MEMBERSHIP_METHODS, type MembershipClient } from "./membership-client.ts";
import { MembershipTable } from "./membership-table.ts";

const AUDIENCE: Audience = {
  ...{ id: "aud_1", revision: 1, kind: "audience", name: "A", trait: "a", sourceId: "src_1", bornRevision: 1 },
  ...{ lease: null, lastSync: null, isRemoved: false, createdAtMs: 0, updatedAtMs: 0 },
};

/** A table as its thread has it, until the thread ends. */
function openTable() {
  const table = new MembershipTable({ path: null, identity: "c/t" });
  let hasEnded = false;
  const ask = (method: (typeof MEMBERSHIP_METHODS)[number]) => {
    const run = table[method] as (...args: readonly unknown[]) => unknown;
    return async (...args: readonly unknown[]) => {
      if (hasEnded) throw new PosthasteError("table_not_caught_up", "the thread ended", { retryable: true });
      return run.apply(table, [...args]);
    };
  };
  const methods = Object.fromEntries(MEMBERSHIP_METHODS.map((method) => [method, ask(method)]));
  return {
    table,
    // Each method is the table's own.
    client: { ...methods, start: table.start } as MembershipClient,
    end: () => {
      hasEnded = true;
    },
  };
}

it("compares with its own upload, and fails where its table was opened anew since, which has another's", async () => {
  const [first, second] = [openTable(), openTable()];
  let current = first.client;
  let held = AUDIENCE;
  const sent: MembershipRecord[] = [];
  const options = {
    ...{ clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() }, log: SILENT_LOG },
    ...{ leaseMs: 15_000, topic: "t", pace: { stepUsers: 1000, passed: async () => undefined } },
    audiences: {
      get: () => held,
      change: async (_: string, change: (audience: Audience, revision: number) => Audience) => {
        held = change(held, held.revision + 1);
        return held;
      },
    },
    codec: { encode: (record: MembershipRecord) => record },
    membership: {
      get table() {
        return current;
      },
      refresh: async () => current,
    },
    producer: {
      partitionsOf: () => 1,
      send: async (records: readonly OutgoingRecord[]) => {
        for (const { value } of records) sent.push(value as unknown as MembershipRecord);
      },
    },
  };
  // As much of the options as a sync uses.
  const caller = { tokenId: null, name: "somebody", scopes: [], sessionId: null, way: "api" } as const;
  const by = { caller, operation: "setAudienceMembers", requestId: "req_1" };
  const syncs = new AudienceSyncs(options as unknown as AudienceSyncsOptions);
  async function* said(): AsyncGenerator<readonly Said[]> {
    yield [["ada", "true"]];
    // Between the last batch and the comparison the thread ends, and another audience's upload comes to the next one.
    first.end();
    current = second.client;
    second.table.addToUpload(second.table.openUpload(), [["somebody of another audience", "true"]]);
  }
  await expect(syncs.sync({ audience: AUDIENCE, said: said(), isWhole: true, by })).rejects.toMatchObject({
    code: "table_not_caught_up",
  });
  expect(sent.filter(({ userId }) => userId !== null)).toEqual([]);
  expect(held.lease).toBeNull();
  first.table.close();
  second.table.close();
});
