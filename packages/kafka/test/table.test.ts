/** Rules: UR1 and UR2 of unknown-schema-records.ts. */
import { queryObjects } from "node:v8";
import { PosthasteError } from "@posthaste/core/errors";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { uniqueName } from "@posthaste/testkit/topics";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import type { KafkaConnection, KafkaConnectionOptions } from "../src/connection/connect.ts";
import { createKafkaMetrics } from "../src/connection/metrics.ts";
import { createTable, type Table, type TableOptions } from "../src/log/table.ts";
import { connectTest } from "./harness.ts";
import { closing, connection, topic, useTopic, writeRevision as write } from "./use-topic.ts";

/** For steps that wait for brokers, which may stand still with the machine. */
const PATIENCE_MS = 60_000;

describe("the joined table", () => {
  useTopic("table", { settings: { "cleanup.policy": "compact" } });

  async function openTable(options: Partial<TableOptions<string>> = {}, through = connection): Promise<Table<string>> {
    const table = await createTable<string>(through, { topic, decode: (bytes) => bytes.toString(), ...options });
    closing.push(() => table.close());
    return table;
  }

  function openConnection(options: Partial<KafkaConnectionOptions>): KafkaConnection {
    const opened = connectTest(options);
    closing.push(() => opened.close());
    return opened;
  }

  const contents = (table: Table<string>) => Object.fromEntries(table.entries());

  it("T3: has caught up when it holds what stood in the topic", async () => {
    await write("a", "1", 1);
    await write("b", "1", 1);
    await write("a", "2", 2);
    await write("b", null, 2);
    const table = await openTable();
    await table.caughtUp();
    expect(contents(table)).toEqual({ a: "2" });
    expect(table.size).toBe(1);
    expect(table.appliedOffset).toBe(3);
  });

  it("T3: has caught up with an empty topic", async () => {
    const table = await openTable();
    await table.caughtUp();
    expect(table.size).toBe(0);
    expect(table.appliedOffset).toBe(-1);
  });

  it("follows its topic, and tells of each change with its offset", async () => {
    const changes: unknown[] = [];
    const table = await openTable({ onChange: (key, value, { offset }) => changes.push([key, value, offset]) });
    await write("a", "1", 1);
    await write("a", null, 2);
    await eventually(() => expect(table.appliedOffset).toBe(1));
    expect(changes).toEqual([
      ["a", "1", 0],
      ["a", undefined, 1],
    ]);
  });

  it("T3: refresh reads to the end that the topic has now", async () => {
    const table = await openTable();
    for (let revision = 1; revision <= 20; revision += 1) {
      await write("a", String(revision), revision);
      await table.refresh(PATIENCE_MS);
      expect(table.get("a")).toBe(String(revision));
    }
  });

  it("refresh gives up in time when the broker does not answer", async () => {
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    closing.push(() => proxy.close());
    const table = await openTable({}, openConnection({ route: (broker) => proxy.route(broker) }));
    await table.caughtUp();
    proxy.hold();
    await expect(table.refresh(200)).rejects.toMatchObject({ code: "deadline_exceeded" });
  });

  it("keeps nothing of those who gave up waiting, however long it stands still", async () => {
    const table = await openTable({ prefetch: () => new Promise(() => {}) });
    await write("a", "1", 1);
    const giveUp = async (times: number) => {
      const waits = Array.from({ length: times }, () => [table.refresh(20), table.waitForOffset(0, 20)]).flat();
      const settled = await Promise.allSettled(waits);
      expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(2 * times);
    };
    await giveUp(10);
    const before = queryObjects(Promise, { format: "count" });
    await giveUp(1000);
    await eventually(() => expect(queryObjects(Promise, { format: "count" }) - before).toBeLessThan(200));
  });

  it("P5: ignores a lower revision that comes late, and tells its writer", async () => {
    const stale: unknown[] = [];
    const table = await openTable({ onStale: (...seen) => stale.push(seen) });
    await write("a", "old", 1);
    await write("a", "new", 2);
    await table.caughtUp();
    await write("a", "old", 1);
    await table.refresh(PATIENCE_MS);
    expect(contents(table)).toEqual({ a: "new" });
    expect(stale).toEqual([["a", 1]]);
    expect(table.appliedOffset).toBe(2);
  });

  it("T5: tells of an older write that stood last in the log, and of none that was repaired since", async () => {
    await write("repaired", "new", 2);
    await write("repaired", "old", 1);
    await write("repaired", "new", 2);
    await write("unrepaired", "new", 2);
    await write("unrepaired", "old", 1);
    const stale: unknown[] = [];
    const table = await openTable({ onStale: (...seen) => stale.push(seen) });
    await table.caughtUp();
    expect(contents(table)).toEqual({ repaired: "new", unrepaired: "new" });
    expect(stale).toEqual([["unrepaired", 1]]);
  });

  it("P5: applies an equal revision again", async () => {
    const table = await openTable();
    await write("a", "same", 1);
    await write("a", "same", 1);
    await table.refresh(PATIENCE_MS);
    expect(contents(table)).toEqual({ a: "same" });
  });

  it("T2: a removed key stays removed when a lower revision comes late", async () => {
    const table = await openTable();
    await write("a", "1", 1);
    await write("a", null, 2);
    await write("a", "1", 1);
    await table.refresh(PATIENCE_MS);
    expect(contents(table)).toEqual({});
    expect(table.revisionOf("a")).toBe(2);
  });

  it("lets a removed key come back with a higher revision", async () => {
    const table = await openTable();
    await write("a", null, 2);
    await write("a", "again", 3);
    await table.refresh(PATIENCE_MS);
    expect(contents(table)).toEqual({ a: "again" });
  });

  it("waits for a revision of a key and for an offset", async () => {
    const table = await openTable();
    const waiting = Promise.all([table.waitForRevision("a", 2, PATIENCE_MS), table.waitForOffset(1, PATIENCE_MS)]);
    await write("a", "1", 1);
    await write("a", "2", 2);
    await waiting;
    expect(table.get("a")).toBe("2");
    await table.waitForRevision("a", 1, 0);
    await expect(table.waitForRevision("a", 3, 50)).rejects.toMatchObject({ code: "deadline_exceeded" });
    await expect(table.waitForOffset(9, 50)).rejects.toMatchObject({ code: "deadline_exceeded" });
  });

  it("T4: keeps what it holds when a record cannot be decoded, says so, and goes on", async () => {
    const lines: unknown[] = [];
    const log: Log = { ...SILENT_LOG, error: (fields) => lines.push(fields) };
    const decode = (bytes: Buffer) => {
      if (bytes.toString() === "bad") throw new PosthasteError("invalid_input", "bad");
      return bytes.toString();
    };
    const table = await openTable({ decode }, openConnection({ log }));
    await write("a", "good", 1);
    await write("a", "bad", 2);
    await write("b", "good", 1);
    await table.refresh(PATIENCE_MS);
    expect(contents(table)).toEqual({ a: "good", b: "good" });
    expect(lines).toEqual([expect.objectContaining({ event: "table_record_unreadable", key: "a", offset: 1 })]);
  });

  it.each([
    ["the registry does not answer", true],
    ["the registry refuses the login", false],
  ])("T4: waits for a writer's schema that cannot be fetched yet, since %s", async (_, retryable) => {
    let asked = 0;
    const prefetch = (bytes: Buffer) => {
      if (bytes.toString() !== "new") return undefined;
      asked += 1;
      if (asked < 3) return Promise.reject(new PosthasteError("registry_unavailable", "not now", { retryable }));
      return Promise.resolve();
    };
    const decode = (bytes: Buffer) => {
      if (asked < 3) throw new PosthasteError("unknown_schema", "was not learnt");
      return bytes.toString();
    };
    const table = await openTable({ prefetch, decode });
    await write("a", "new", 1);
    await table.refresh(PATIENCE_MS);
    expect(contents(table)).toEqual({ a: "new" });
  });

  describe("a record whose schema the registry does not know", () => {
    /** Frames a text as of schema 7, which the registry knows when `isKnown` says so. */
    const framed = (text: string) =>
      Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), Buffer.from(text)]).toString("latin1");

    async function openUnknowing(options: Partial<TableOptions<string>> = {}) {
      const registry: { isKnown: boolean; asked: number; failsWith?: Error } = { isKnown: false, asked: 0 };
      const stale: string[] = [];
      const unknown = () => new PosthasteError("unknown_schema", "there is no schema 7");
      const isOf7 = (bytes: Buffer) => bytes.toString("latin1").startsWith(framed(""));
      const table = await openTable({
        unknownSchemaRoundMs: 50,
        onStale: (key) => stale.push(key),
        prefetch: (bytes) => {
          if (!isOf7(bytes) || registry.isKnown) return undefined;
          registry.asked += 1;
          return Promise.reject(registry.failsWith ?? unknown());
        },
        decode: (bytes) => {
          if (isOf7(bytes) && !registry.isKnown) throw unknown();
          return bytes.toString("latin1").replace(framed(""), "");
        },
        ...options,
      });
      return { table, registry, stale };
    }

    it("T4: is applied when the registry knows the schema, and holds nothing up until then", async () => {
      const { table, registry } = await openUnknowing();
      await write("a", framed("late"), 1);
      await write("b", "at once", 1);
      await table.refresh(PATIENCE_MS);
      expect(contents(table)).toEqual({ b: "at once" });
      registry.isKnown = true;
      await eventually(() => expect(contents(table)).toEqual({ a: "late", b: "at once" }));
      expect(table.revisionOf("a")).toBe(1);
    });

    it("T4: is told as a change when it is applied, after those of other keys that stand above it", async () => {
      const changes: string[] = [];
      const { table, registry } = await openUnknowing({
        onChange: (key, value, { offset }) => changes.push(`${offset}: ${key} is ${value}`),
      });
      await write("a", framed("late"), 1);
      await write("b", "at once", 1);
      await table.refresh(PATIENCE_MS);
      registry.isKnown = true;
      await eventually(() => expect(changes).toEqual(["1: b is at once", "0: a is late"]));
    });

    it("T4: fails the table through `onFailure` when the asking fails by a bug", async () => {
      const failures: Error[] = [];
      const { table, registry } = await openUnknowing({ onFailure: (reason) => failures.push(reason) });
      await write("a", framed("late"), 1);
      await table.refresh(PATIENCE_MS);
      registry.failsWith = new TypeError("a bug");
      await eventually(() => expect(failures).toEqual([registry.failsWith]));
    });

    it("T4, UR1: undoes nothing that its key got since, a removal included, and is no late write then", async () => {
      const { table, registry, stale } = await openUnknowing();
      await write("a", framed("old"), 1);
      await write("a", "new", 2);
      await write("b", framed("old"), 1);
      await write("b", null, 2);
      await write("c", framed("the only one"), 1);
      await table.refresh(PATIENCE_MS);
      registry.isKnown = true;
      await eventually(() => expect(contents(table)).toEqual({ a: "new", c: "the only one" }));
      expect(stale).toEqual([]);
    });

    it("UR1, P5: outlasts an older write that comes late, readable or not", async () => {
      const { table, registry } = await openUnknowing();
      await write("a", framed("new"), 2);
      await write("a", "old", 1);
      await write("b", framed("new"), 2);
      await write("b", framed("old"), 1);
      await table.refresh(PATIENCE_MS);
      expect(contents(table)).toEqual({ a: "old" });
      registry.isKnown = true;
      await eventually(() => expect(contents(table)).toEqual({ a: "new", b: "new" }));
      expect([table.revisionOf("a"), table.revisionOf("b")]).toEqual([2, 2]);
    });

    it("UR2: costs the registry one question a round for all records of the schema", async () => {
      const { table, registry } = await openUnknowing();
      for (let index = 0; index < 20; index++) await write(`k${index}`, framed("x"), 1);
      await table.refresh(PATIENCE_MS);
      const askedByReading = registry.asked;
      expect(askedByReading).toBeGreaterThanOrEqual(20);
      await eventually(() => expect(registry.asked).toBeGreaterThan(askedByReading));
      expect(registry.asked - askedByReading).toBeLessThan(20);
    });
  });

  describe("its state, for readiness and the gauges", () => {
    async function openWatched(behindLimitMs = 300) {
      const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
      closing.push(() => proxy.close());
      const registry = new Registry();
      const through = openConnection({
        metrics: createKafkaMetrics(registry),
        route: (broker) => proxy.route(broker),
      });
      const gauge = async (name: string) => {
        const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {};
        return values.find(({ labels }) => labels.topic === topic)?.value ?? Number.NaN;
      };
      const readAtS = () => gauge("posthaste_table_caught_up_timestamp_seconds");
      const behind = () => gauge("posthaste_table_behind_records");
      return { proxy, through, readAtS, behind, behindLimitMs };
    }

    it("is true once it has caught up, with an empty topic too, and stays so while nothing comes", async () => {
      // An idle fetch is answered every two seconds.
      const { through, readAtS, behind } = await openWatched(4000);
      const table = await openTable({ behindLimitMs: 4000 }, through);
      await table.caughtUp();
      await eventually(() => expect(table.state).toBe(true));
      const first = await readAtS();
      expect(first).toBeGreaterThan(Date.now() / 1000 - 60);
      await eventually(async () => expect(await readAtS()).toBeGreaterThan(first + 1));
      await eventually(async () => expect([table.state, await behind()]).toEqual([true, 0]));
    });

    it("says since when it is behind while no fetch is answered, and is true again afterwards", async () => {
      const { proxy, through, readAtS, behindLimitMs } = await openWatched();
      const table = await openTable({ behindLimitMs }, through);
      await table.caughtUp();
      proxy.hold();
      await eventually(() => expect(table.state).toMatch(new RegExp(`^${topic} was last read to its end \\d+ s ago$`)));
      const frozenAtS = await readAtS();
      await write("a", "1", 1);
      expect([table.get("a"), await readAtS()]).toEqual([undefined, frozenAtS]);
      proxy.release();
      await eventually(() => expect([table.state, table.get("a")]).toEqual([true, "1"]));
      expect(await readAtS()).toBeGreaterThan(frozenAtS);
    });

    it("says that it is behind while what it fetched waits for a schema, and by how many records", async () => {
      const { through, behind, behindLimitMs } = await openWatched();
      const schema = Promise.withResolvers<void>();
      const prefetch = (bytes: Buffer) => (String(bytes) === "new" ? schema.promise : undefined);
      const table = await openTable({ behindLimitMs, prefetch }, through);
      await table.caughtUp();
      for (const revision of [1, 2, 3]) await write("a", revision === 1 ? "new" : "old", revision);
      await eventually(async () => {
        expect(table.state).toContain("was last read to its end");
        expect(await behind()).toBeGreaterThan(0);
      });
      schema.resolve();
      await eventually(async () => expect([table.state, await behind()]).toEqual([true, 0]));
    });
  });

  it("reads on when its connections are cut, each record once", async () => {
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    closing.push(() => proxy.close());
    const changes: string[] = [];
    const through = openConnection({ route: (broker) => proxy.route(broker) });
    await openTable({ onChange: (_, value) => changes.push(String(value)) }, through);
    for (let revision = 1; revision <= 10; revision += 1) {
      await write("a", String(revision), revision);
      proxy.cut();
    }
    await eventually(() => expect(changes).toEqual(Array.from({ length: 10 }, (_, index) => String(index + 1))));
  });

  it("reports a failure of whoever follows its changes, and stops", async () => {
    const failures: Error[] = [];
    const onChange = () => {
      throw new TypeError("a bug");
    };
    await openTable({ onChange, onFailure: (reason) => failures.push(reason) });
    await write("a", "1", 1);
    await eventually(() => expect(failures).toHaveLength(1));
    expect(failures[0]).toMatchObject({ code: "internal", cause: { message: "a bug" } });
  });

  it("is not made for a topic that does not exist", async () => {
    const missing = createTable(connection, {
      topic: uniqueName("missing"),
      decode: String,
      missingPatienceMs: 200,
    });
    await expect(missing).rejects.toMatchObject({ code: "topic_missing" });
  });
});
