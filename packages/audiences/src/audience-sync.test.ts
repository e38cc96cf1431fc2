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

/** Opens syncs of one audience, with the options that a sync uses, and collects their records. */
function openSyncs(options: { readonly client: () => MembershipClient } & Pick<AudienceSyncsOptions, "pace">) {
  let held = AUDIENCE;
  const sends: (readonly MembershipRecord[])[] = [];
  const syncs = new AudienceSyncs({
    ...{ clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() }, log: SILENT_LOG },
    ...{ leaseMs: 15_000, topic: "t", pace: options.pace },
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
        return options.client();
      },
      refresh: async () => options.client(),
    },
    producer: {
      partitionsOf: () => 1,
      send: async (records: readonly OutgoingRecord[]) => {
        const users = records.map(({ value }) => value as unknown as MembershipRecord);
        sends.push(users.filter(({ userId }) => userId !== null));
      },
    },
  } as unknown as AudienceSyncsOptions);
  return { syncs, sends, lease: () => held.lease };
}

const CALLER = { tokenId: null, name: "somebody", scopes: [], sessionId: null, way: "api" } as const;
const BY = { caller: CALLER, operation: "setAudienceMembers", requestId: "req_1" };

it("compares with its own upload, and fails where its table was opened anew since, which has another's", async () => {
  const [first, second] = [openTable(), openTable()];
  let current = first.client;
  const pace = { stepUsers: 1000, passed: async () => undefined };
  const { syncs, sends, lease } = openSyncs({ client: () => current, pace });
  async function* said(): AsyncGenerator<readonly Said[]> {
    yield [["ada", "true"]];
    // Between the last batch and the comparison the thread ends, and another audience's upload comes to the next one.
    first.end();
    current = second.client;
    second.table.addToUpload(second.table.openUpload(), [["somebody of another audience", "true"]]);
  }
  await expect(syncs.sync({ audience: AUDIENCE, said: said(), isWhole: true, by: BY })).rejects.toMatchObject({
    code: "table_not_caught_up",
  });
  expect(sends.flat()).toEqual([]);
  expect(lease()).toBeNull();
  first.table.close();
  second.table.close();
});

it("lets its pace count each batch of the upload and each page it writes, before the next one begins", async () => {
  const { table, client } = openTable();
  const steps: string[] = [];
  const pace = {
    stepUsers: 2,
    passed: async (users: number) => {
      steps.push(`${users} passed`);
      // Longer than whatever would begin without a wait.
      await new Promise((resolve) => setTimeout(resolve, 20));
      steps.push("go on");
    },
  };
  const watched: MembershipClient = {
    ...client,
    changed: async (query) => {
      const page = table.changed(query);
      steps.push(`page of ${page.changes.length}`);
      return page;
    },
  };
  const { syncs, sends } = openSyncs({ client: () => watched, pace });
  async function* said(): AsyncGenerator<readonly Said[]> {
    for (const users of [["ada", "bob"], ["cleo"]]) {
      steps.push(`${users.length} said`);
      yield users.map((user): Said => [user, "true"]);
    }
  }
  await syncs.sync({ audience: AUDIENCE, said: said(), isWhole: false, by: BY });
  const afterUpload = steps.indexOf("page of 2");
  expect(steps.slice(0, afterUpload)).toEqual(["2 said", "2 passed", "go on", "1 said", "1 passed", "go on"]);
  expect(steps.slice(afterUpload, afterUpload + 6)).toEqual([
    ...["page of 2", "2 passed", "go on"],
    ...["page of 1", "1 passed", "go on"],
  ]);
  expect(sends.flat().map(({ userId }) => userId)).toEqual(["ada", "bob", "cleo"]);
  table.close();
});
