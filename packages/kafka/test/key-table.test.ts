import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { type FaultProxy, openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import { createKafkaMetrics } from "../src/connection/metrics.ts";
import { createKeyTable, type KeyTable, type KeyTableOptions } from "../src/log/key-table.ts";
import { connectTest } from "./harness.ts";
import { closing, topic, useTopic, writeRevision as write } from "./use-topic.ts";

/** Longer than an idle fetch, which is answered after a second. */
const LEASE_MS = 2000;

describe("the table of keys", () => {
  useTopic("keys", { settings: { "cleanup.policy": "compact" } });

  let proxy: FaultProxy;
  let keys: Set<string>;
  const registry = new Registry();
  const metrics = createKafkaMetrics(registry);

  beforeEach(async () => {
    proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    keys = new Set();
    closing.push(() => proxy.close());
  });

  /** A table that reaches its broker through the proxy. */
  async function openKeys(options: Partial<KeyTableOptions> = {}): Promise<KeyTable> {
    const through = connectTest({ route: (broker) => proxy.route(broker), metrics });
    closing.push(() => through.close());
    const table = await createKeyTable(through, {
      topic,
      onKey: (key, isHeld) => (isHeld ? keys.add(key) : keys.delete(key)),
      size: () => keys.size,
      leaseMs: LEASE_MS,
      onFailure: (reason) => {
        throw reason;
      },
      ...options,
    });
    closing.push(() => table.close());
    return table;
  }

  it("Y1: hands over what stands in the topic, then what comes and goes, and counts what is held", async () => {
    await write("src_1:a", "1", 1);
    await write("src_1:b", "1", 1);
    await write("src_1:b", null, 2);
    const table = await openKeys();
    await table.caughtUp();
    expect([...keys]).toEqual(["src_1:a"]);
    await write("src_1:c", "1", 1);
    await write("src_1:a", null, 2);
    await table.refresh(60_000);
    expect([...keys]).toEqual(["src_1:c"]);
    await eventually(async () => {
      const { values = [] } = (await registry.getSingleMetric("posthaste_table_records")?.get()) ?? {};
      expect(values.find(({ labels }) => labels.topic === topic)?.value).toBe(1);
    });
  });

  it("Y2: stays current while nothing comes, and tells at once whoever waits for that", async () => {
    const table = await openKeys();
    await table.caughtUp();
    let calls = 0;
    table.whenCurrent(() => {
      calls += 1;
    });
    await eventually(() => expect([table.isCurrent, table.state, calls]).toEqual([true, true, 1]));
    const endMs = performance.now() + 2 * LEASE_MS;
    await eventually(() => {
      expect(table.isCurrent).toBe(true);
      expect(performance.now()).toBeGreaterThan(endMs);
    });
  });

  it("Y2: is not current a lease after its line was cut, and is again once it holds what came meanwhile", async () => {
    const table = await openKeys();
    await table.caughtUp();
    proxy.refuse();
    proxy.cut();
    await eventually(() => expect(table.isCurrent).toBe(false));
    await write("src_1:a", "1", 1);
    const held: string[][] = [];
    table.whenCurrent(() => held.push([...keys]));
    expect(held).toEqual([]);
    proxy.accept();
    await eventually(() => expect(held).toEqual([["src_1:a"]]));
    await eventually(() => expect(table.isCurrent).toBe(true));
  });

  it("Y2: takes an answer that lay in a buffer for what it is, an answer about the past", async () => {
    const table = await openKeys();
    await table.caughtUp();
    proxy.hold();
    await eventually(() => expect(table.isCurrent).toBe(false));
    await write("src_1:a", "1", 1);
    const held: string[][] = [];
    table.whenCurrent(() => held.push([...keys]));
    // The answer of the fetch before passes first: it ends where the table stands.
    proxy.release();
    await eventually(() => expect(held).toEqual([["src_1:a"]]));
  });

  it("Y3, Y4: an older write that comes late changes nothing, and its writer is told of the newest", async () => {
    const stale: unknown[] = [];
    await write("src_1:a", "early", 5);
    await write("src_1:a", null, 4);
    const table = await openKeys({ onStale: ({ key, revision, value }) => stale.push([key, revision, String(value)]) });
    await table.caughtUp();
    expect([[...keys], stale]).toEqual([["src_1:a"], [["src_1:a", 5, "early"]]]);
    await write("src_1:a", null, 7);
    await write("src_1:a", "late", 6);
    await table.refresh(60_000);
    expect([[...keys], stale]).toEqual([
      [],
      [
        ["src_1:a", 5, "early"],
        ["src_1:a", 7, "null"],
      ],
    ]);
  });

  it("calls nobody after its end", async () => {
    const table = await openKeys();
    await table.caughtUp();
    proxy.hold();
    await eventually(() => expect(table.isCurrent).toBe(false));
    let calls = 0;
    table.whenCurrent(() => {
      calls += 1;
    });
    await table.close();
    proxy.release();
    await write("src_1:a", "1", 1);
    expect(calls).toBe(0);
  });
});
