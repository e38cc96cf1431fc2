/** The doctor over real brokers and a real registry, each of which something is wrong with. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { createSecretBox, parseSecretKeys } from "@posthaste/contracts/secret-box";
import { subjectOf, topicCatalogue } from "@posthaste/contracts/topics";
import { applyTopics } from "@posthaste/kafka/topics/topic-admin";
import { testDestination } from "@posthaste/testbed/test-destination";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secretKey, startTestControl, type TestControl } from "./control.ts";
import { createHealthWriter, type HealthWriter } from "./health-writer.ts";

const MINUTE_MS = 60_000;
/** Longer than the look at the groups takes to come round. */
const NEXT_LOOK = { timeoutMs: 60_000 };

let topics: TestTopics;
let control: TestControl;
let health: HealthWriter;
/** Answers as a service would whose clock is an hour behind. */
let service: Server;
/** How much control's monotonic clock is ahead, and the other one behind. */
let aheadMs = 0;
let behindMs = 0;
/** The release that the service says. */
let release: string | null = null;
const clock = { nowMs: () => Date.now() - behindMs, monotonicMs: () => performance.now() + aheadMs };

beforeAll(async () => {
  topics = await createTestTopics("doctor", { retryDelaysMs: [10_000] });
  service = createServer((_, response) => {
    response.sendDate = false;
    const headers = { date: new Date(Date.now() - 60 * MINUTE_MS).toUTCString() };
    response.writeHead(200, release === null ? headers : { ...headers, "posthaste-version": release }).end("{}");
  });
  await new Promise<void>((resolve) => {
    service.listen(0, "127.0.0.1", resolve);
  });
  const readyUrls = `router=http://127.0.0.1:${(service.address() as AddressInfo).port}/readyz`;
  // The schemas of its topics are registered by itself alone.
  const env = { SCHEMA_REGISTRY_URL: schemaRegistryUrl() };
  control = await startTestControl(topics, { clock, readyUrls, env });
  health = await createHealthWriter(topics);
});

afterAll(async () => {
  await control.stop();
  service.close();
  await topics.remove();
});

interface Reported {
  readonly state: string;
  readonly findings: readonly { readonly state: string; readonly what: string; readonly remedy: string }[];
}

const ask = async () => (await control.call("GET", "/v1/doctor")).body;

async function check(name: string): Promise<Reported> {
  const { checks } = await ask();
  return checks.find((each: { readonly name: string }) => each.name === name);
}

/** Until one of the check's findings is this. */
const finds = (name: string, what: RegExp, options = {}) =>
  eventually(async () => {
    const { findings } = await check(name);
    expect(findings.map((each) => each.what)).toContainEqual(expect.stringMatching(what));
  }, options);

describe("GET /v1/doctor", () => {
  it("finds topics and schemas well that the program made, and names one broker and a clock an hour behind", async () => {
    await health.sayProcess("one", { retryDelaysMs: [10_000] });
    await eventually(async () => {
      expect(await ask()).toMatchObject({
        ok: false,
        checks: [
          ...["services", "tables", "brokers", "topics"].map((name) => ({ name, state: "ok", findings: [] })),
          {
            name: "replication",
            state: "warning",
            findings: [{ what: expect.stringMatching(/^The cluster has one/) }],
          },
          ...["registry", "schemas"].map((name) => ({ name, state: "ok", findings: [] })),
          {
            name: "clocks",
            state: "wrong",
            findings: [{ what: expect.stringMatching(/^The clock of router is 3\d{3} s behind/) }],
          },
          { name: "keys", state: "ok", findings: [] },
          // No router and no delivery runs here.
          {
            name: "groups",
            state: "wrong",
            findings: ["router", "delivery", "delivery.retry"].map((group) => ({
              what: expect.stringMatching(new RegExp(`member of .*\\.${group}: nobody reads`)),
            })),
          },
          ...["offsets", "lag", "losses", "settings"].map((name) => ({ name, state: "ok", findings: [] })),
        ],
        complete: true,
      });
    });
  });

  it("names a service of another release than control", async () => {
    release = "0.0.1";
    await finds("services", /^router runs 0\.0\.1, and control \S+\.$/);
    release = null;
  });

  it("names processes whose clock is ahead, and those with other settings that lack a topic", async () => {
    const nowMs = Date.now() + 10 * MINUTE_MS;
    await health.sayProcess("two", { retryDelaysMs: [10_000, 30_000], startedAtMs: nowMs }, nowMs);
    await finds("clocks", /^The clock of delivery two is (600|5\d\d) s ahead of control's/);
    expect((await check("settings")).findings).toMatchObject([
      {
        state: "warning",
        what: expect.stringMatching(/POSTHASTE_RETRY_SCHEDULE: 10000ms at one; 10000ms,30000ms at two/),
      },
    ]);
    expect((await check("topics")).findings.map(({ what }) => what)).toEqual([
      `${topics.names.retryPrefix}30s is missing.`,
    ]);
  });

  it("names processes whose clock is behind, and hears what they say of their settings", async () => {
    const retryDelaysMs = [10_000, 70_000];
    await eventually(async () => {
      await health.sayProcess("late", { retryDelaysMs }, Date.now() - 3 * MINUTE_MS);
      expect((await check("clocks")).findings.map(({ what }) => what)).toContainEqual(
        expect.stringMatching(/^The clock of delivery late is 18\d s behind control's/),
      );
      expect(JSON.stringify((await check("settings")).findings)).toContain("10000ms,70000ms at late");
    });
    await topics.producer.send([{ topic: topics.names.destinationHealth, key: "process:late", value: null }]);
    await eventually(async () => expect(JSON.stringify(await check("settings"))).not.toContain("late"));
  });

  it("names a setting of a topic that somebody changed", async () => {
    const { names, connection } = topics;
    const loose = topicCatalogue({ names, partitions: 2, retryDelaysMs: [] })
      .filter(({ name }) => name === names.destinationConfig)
      .map((spec) => ({ ...spec, cleanup: "delete" as const }));
    await applyTopics(connection, loose, { names, replicationFactor: 1, minInsyncReplicas: 1 });
    await finds("topics", /destination-config: cleanup.policy is delete, and compact is wanted/);
  });

  it("names schemas that the registry lost, and subjects that take any schema", async () => {
    const of = (schema: "event" | "delivery") => encodeURIComponent(subjectOf(topics.names, schema));
    const removed = await fetch(`${schemaRegistryUrl()}/subjects/${of("event")}`, { method: "DELETE" });
    const loosened = await fetch(`${schemaRegistryUrl()}/config/${of("delivery")}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ compatibility: "NONE" }),
    });
    expect([removed.status, loosened.status]).toEqual([200, 200]);
    // A registry that is slow has the check come to nothing.
    await eventually(async () => {
      const { state, findings } = await check("schemas");
      // Other schemas are missing too, where no process under test has registered them.
      expect(findings.map((each) => each.what)).toEqual(
        expect.arrayContaining([
          "The schema registry lacks the schema event of this version.",
          expect.stringMatching(/^The subject of the schema delivery takes schemas that cannot read/),
        ]),
      );
      expect(state).toBe("wrong");
    });
  });

  it("names destinations whose secrets control cannot open, and those that delivery cannot", async () => {
    const records = await topics.openCodec<DestinationRecord>("destination");
    const codec = createDestinationCodec(records, createSecretBox(parseSecretKeys(secretKey("lost"))));
    const sealed = codec.encode(testDestination("dst_sealed", { name: "Sealed" }));
    await topics.producer.send([{ topic: topics.names.destinationConfig, key: "dst_sealed", value: sealed }]);
    await finds("keys", /^Secrets of Sealed \(dst_sealed\) are sealed with a key that control does not have: lost\.$/);
    await health.say("one", "dst_sealed", { deferred: { unknown_key: 3 } });
    await finds("keys", /^A delivery process held deliveries for Sealed \(dst_sealed\) back/);
  });

  it("names a partition in which records wait and that nobody reads", async () => {
    await topics.producer.send([{ topic: topics.names.events, key: "k", value: Buffer.from("x"), partition: 1 }]);
    await eventually(async () => {
      const { lag } = (await control.call("GET", "/v1/status")).body;
      expect(lag.router).toBe(1);
    }, NEXT_LOOK);
    expect((await check("lag")).findings).toEqual([]);
    aheadMs += 2 * MINUTE_MS;
    await finds("lag", /router has finished nothing of .*events\/1 for 1\d\d s, and one record waits\.$/);
  });

  it("names a retry topic to which a broker wrote in the future", async () => {
    const { names, producer } = topics;
    await producer.send([{ topic: `${names.retryPrefix}10s`, key: "k", value: Buffer.from("x") }]);
    expect((await check("clocks")).findings.map(({ what }) => what)).not.toContainEqual(
      expect.stringMatching(/^A broker/),
    );
    behindMs = 10 * MINUTE_MS;
    await finds("clocks", /^A broker's clock is ahead of control's: .*retry-10s has records from the future/);
  });
});
