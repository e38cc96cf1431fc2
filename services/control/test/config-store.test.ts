import { AuditTrail } from "@posthaste/configuration/audit-trail";
import { type ConfigStore, openConfigStore } from "@posthaste/configuration/config-store";
import type { Codec } from "@posthaste/contracts/codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { createSourceCodec, type SourceRecord } from "@posthaste/contracts/source-codec";
import type { AuditEntry } from "@posthaste/core/access/audit-entry";
import type { Author } from "@posthaste/core/access/author";
import type { Source } from "@posthaste/core/config/source";
import { SILENT_LOG } from "@posthaste/core/log";
import { createTable } from "@posthaste/kafka/log/table";
import { createProducer, type OutgoingRecord, type Producer } from "@posthaste/kafka/producer/producer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sourceAudit } from "../src/configuration/sources/source-audit.ts";

let topics: TestTopics;
let codec: Codec<Source>;
let ids = 0;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  codec = createSourceCodec(await topics.openCodec<SourceRecord>("source"));
});

afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await topics.remove();
});

async function openProducer(): Promise<Producer> {
  const opened = await createProducer(topics.connection, {
    name: "test",
    topics: [topics.names.sourceConfig, topics.names.audit],
  });
  closing.push(() => opened.close());
  return opened;
}

/** A store as a process of its own has it, whose clock is off by `skewMs`. */
async function openStore(
  writer: number,
  skewMs = 0,
  onSend: (records: readonly OutgoingRecord[]) => void = () => {},
): Promise<ConfigStore<Source>> {
  const producer = await openProducer();
  const clock = { nowMs: () => Date.now() + skewMs, monotonicMs: () => performance.now() };
  const store = await openConfigStore(topics.connection, {
    topic: topics.names.sourceConfig,
    codec,
    producer: {
      ...producer,
      send: (records, options) => {
        onSend(records);
        return producer.send(records, options);
      },
    },
    clock,
    log: SILENT_LOG,
    writer,
    trail: new AuditTrail({ topic: topics.names.audit, codec: await topics.openCodec<AuditEntry>("audit"), clock }),
    auditedFields: sourceAudit,
  });
  closing.push(() => store.close());
  await store.caughtUp();
  return store;
}

const source = (id: string, revision: number, name: string): Source => ({
  id,
  revision,
  name,
  kind: "web",
  enabled: true,
  writeKeys: [],
  createdAtMs: 0,
  updatedAtMs: 0,
});

const newId = (): string => {
  ids += 1;
  return `src_${ids}`;
};

/** Writes a name where there is none, and adds to it where there is one. */
const addTag =
  (id: string, tag: string) =>
  (current: Source | undefined, revision: number): Source =>
    source(id, revision, current === undefined ? tag : `${current.name} ${tag}`);

const writeRaw = (value: Source): Promise<void> =>
  topics.producer.send([
    {
      topic: topics.names.sourceConfig,
      key: value.id,
      value: codec.encode(value),
      headers: { [REVISION_HEADER]: String(value.revision) },
    },
  ]);

/** The records that a process reads when it starts now. */
async function readAnew(): Promise<{ get: (id: string) => Source | undefined; stale: string[] }> {
  const stale: string[] = [];
  const table = await createTable(topics.connection, {
    topic: topics.names.sourceConfig,
    decode: codec.decode,
    prefetch: codec.prefetch,
    onStale: (id) => stale.push(id),
  });
  closing.push(() => table.close());
  await table.caughtUp();
  return { get: (id) => table.get(id), stale };
}

const by: Author = {
  caller: { tokenId: null, name: "dana", scopes: ["write"], sessionId: null, way: "cli" },
  operation: "changeSource",
  requestId: "req_1",
};

describe("what somebody asked for", () => {
  it("goes with its entry of the audit in one send; what control does by itself goes alone", async () => {
    const sends: (readonly string[])[] = [];
    const store = await openStore(1, 0, (records) => sends.push(records.map(({ topic }) => topic)));
    const id = newId();
    const { sourceConfig, audit } = topics.names;
    await store.change(id, addTag(id, "made"), by);
    await store.change(id, addTag(id, "alone"), null);
    await store.change(id, () => null, by);
    expect(sends).toEqual([[sourceConfig, audit], [sourceConfig], [sourceConfig, audit]]);
  });

  it("S4: has an entry for each record that two processes write at once, those put back included", async () => {
    /** Of each record by its revision: whether a send of it had an entry. A repair (S5) sends one again without. */
    const written = new Map<string, boolean>();
    const note = ([record, entry]: readonly OutgoingRecord[]) => {
      const name = `${record?.key} ${record?.headers?.[REVISION_HEADER]}`;
      written.set(name, written.get(name) === true || entry?.topic === topics.names.audit);
    };
    const [one, two] = await Promise.all([openStore(1, 0, note), openStore(2, 0, note)]);
    const onlyFirst = (id: string) => (current: Source | undefined, revision: number) => {
      if (current !== undefined) throw new Error("there is one");
      return source(id, revision, "made");
    };
    for (let round = 0; round < 10; round += 1) {
      const id = newId();
      const made = await Promise.allSettled([one.change(id, onlyFirst(id), by), two.change(id, onlyFirst(id), by)]);
      expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    }
    const before = written.size;
    const both = newId();
    await one.change(both, addTag(both, "made"), by);
    for (let round = 0; round < 20; round += 1) {
      const tag = String(round);
      await Promise.all([one.change(both, addTag(both, tag), by), two.change(both, addTag(both, tag), by)]);
    }
    // Some were made again on top of the other's.
    expect(written.size - before).toBeGreaterThan(1 + 2 * 20);
    expect(written.size).toBeGreaterThanOrEqual(10);
    expect([...written].filter(([, hasEntry]) => !hasEntry)).toEqual([]);
  });
});

describe("a config store", () => {
  it("S1: holds a change when it answers it", async () => {
    const store = await openStore(1);
    const id = newId();
    const made = await store.change(id, addTag(id, "made"), null);
    expect(store.get(id)).toEqual(made);
    expect((await readAnew()).get(id)).toEqual(made);
    await store.change(id, () => null, null);
    expect(store.get(id)).toBeUndefined();
  });

  it("S2: makes the changes of one key one after the other, each on top of the last", async () => {
    const store = await openStore(1);
    const id = newId();
    await Promise.all(Array.from({ length: 20 }, (_, tag) => store.change(id, addTag(id, String(tag)), null)));
    expect(store.get(id)?.name.split(" ")).toEqual(Array.from({ length: 20 }, (_, tag) => String(tag)));
  });

  it("S2: goes on after a change that was refused", async () => {
    const store = await openStore(1);
    const id = newId();
    const refused = store.change(
      id,
      () => {
        throw new Error("refused");
      },
      null,
    );
    const made = store.change(id, addTag(id, "made"), null);
    await expect(refused).rejects.toThrow("refused");
    expect((await made)?.name).toBe("made");
  });

  it.each([0, 60_000, -60_000])(
    "S4: keeps the changes that two processes make to one key at once, their clocks %d ms apart",
    async (skewMs) => {
      const [one, two] = await Promise.all([openStore(1), openStore(2, skewMs)]);
      const id = newId();
      await one.change(id, addTag(id, "made"), null);
      const expected = ["made"];
      for (let round = 0; round < 10; round += 1) {
        await Promise.all([
          one.change(id, addTag(id, `one${round}`), null),
          two.change(id, addTag(id, `two${round}`), null),
        ]);
        expected.push(`one${round}`, `two${round}`);
      }
      const { name } = (await readAnew()).get(id) ?? { name: "" };
      expect(name.split(" ").sort()).toEqual(expected.sort());
      await eventually(() => expect([one.get(id)?.name, two.get(id)?.name]).toEqual([name, name]));
    },
  );

  it("S4: lets a removal stand that another process made while this one changed", async () => {
    const [one, two] = await Promise.all([openStore(1), openStore(2)]);
    const mustBeThere = (id: string) => (current: Source | undefined, revision: number) => {
      if (current === undefined) throw new Error(`${id} is gone`);
      return { ...current, revision, name: "changed" };
    };
    for (let round = 0; round < 10; round += 1) {
      const id = newId();
      await one.change(id, addTag(id, "made"), null);
      await two.change(id, addTag(id, "seen"), null);
      await Promise.allSettled([one.change(id, () => null, null), two.change(id, mustBeThere(id), null)]);
      expect((await readAnew()).get(id)).toBeUndefined();
    }
  });

  it("S5: writes the newest again over an older revision that came late: compaction keeps it", async () => {
    const store = await openStore(1);
    const id = newId();
    const newest = await store.change(id, addTag(id, "newest"), null);
    await writeRaw(source(id, 1, "late"));
    await eventually(async () => {
      const last = await lastRecord(id);
      expect(last).toEqual(newest);
    });
    expect(store.get(id)).toEqual(newest);
  });

  it("S5: repairs at its start what came late while no process ran", async () => {
    const id = newId();
    await writeRaw(source(id, 200, "newest"));
    await writeRaw(source(id, 100, "late"));
    await openStore(1);
    await eventually(async () => {
      expect(await lastRecord(id)).toMatchObject({ revision: 200, name: "newest" });
    });
  });
});

/** The record that compaction would keep, whatever its revision. */
async function lastRecord(id: string): Promise<Source | undefined> {
  let last: Source | undefined;
  const table = await createTable(topics.connection, {
    topic: topics.names.sourceConfig,
    decode: (bytes) => {
      const value = codec.decode(bytes);
      if (value.id === id) last = value;
      return value;
    },
    prefetch: codec.prefetch,
    onStale: (key, revision) => {
      if (key === id) last = source(id, revision, "an older revision");
    },
  });
  await table.caughtUp();
  await table.close();
  return last;
}
