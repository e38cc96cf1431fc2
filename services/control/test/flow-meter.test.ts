/** The requests to the brokers by the repeated look at the flow. */
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { FlowMeter } from "../src/health/health/flow-meter.ts";

let topics: TestTopics;
beforeAll(async () => {
  topics = await createTestTopics("flow", { retryDelaysMs: [10_000, 60_000] });
});
afterAll(() => topics.remove());

const opened: FlowMeter[] = [];
afterEach(() => {
  for (const meter of opened.splice(0)) meter.close();
});

/** A meter that looks as fast as it can, and its requests: once a look its commits, and its failure if any. */
function openMeter({ failingLook = 0 }: { readonly failingLook?: number } = {}) {
  const { connection, names } = topics;
  const asked: ("list" | "commits" | "client" | "failed")[] = [];
  const looks = () => asked.filter((each) => each === "commits").length;
  const watched: KafkaConnection = {
    ...connection,
    log: {
      ...connection.log,
      debug: (fields) => {
        if (fields["event"] === "flow_unknown") asked.push("failed");
      },
    },
    createClient: (options) => {
      asked.push("client");
      return connection.createClient(options);
    },
    withAdmin: (use) => {
      // One question may be asked several times of the brokers.
      const reported = new Set<string>();
      const tell = (what: "list" | "commits") => {
        if (!reported.has(what)) asked.push(what);
        reported.add(what);
      };
      return connection.withAdmin((admin, cluster) =>
        use(
          {
            ...admin,
            listTopics: () => {
              tell("list");
              return admin.listTopics();
            },
            fetchOffsets: (question) => {
              if (question.groupId === names.routerGroup) {
                tell("commits");
                if (looks() === failingLook) throw new RangeError("a look that fails");
              }
              return admin.fetchOffsets(question);
            },
          },
          cluster,
        ),
      );
    },
  };
  const meter = new FlowMeter({ connection: watched, names, monotonicMs: () => performance.now(), everyMs: 1 });
  opened.push(meter);
  meter.start();
  return { meter, asked, looks };
}

describe("the look at the flow", () => {
  it("lists the topics every twelve looks, and asks for their ids by one connection (FM2)", async () => {
    const { meter, asked, looks } = openMeter();
    await eventually(() => expect(looks()).toBeGreaterThan(24));
    meter.close();
    const count = (what: string) => asked.filter((each) => each === what).length;
    // Whatever the brokers answered: a look that failed is followed by a list, and by another connection.
    expect(count("list") - count("failed")).toBeLessThanOrEqual(Math.ceil((looks() + 1) / 12));
    expect(count("client") - count("failed")).toBeLessThanOrEqual(1);
    expect(count("list")).toBeGreaterThanOrEqual(3);
    const { routerLag, deliveryLag, waiting } = meter.flow;
    expect([routerLag, deliveryLag]).toEqual([0, 0]);
    expect(waiting).toEqual([10_000, 60_000].map((delayMs) => ({ delayMs, count: 0 })));
  });

  it("lists the topics anew after a look that failed, since one may be gone (FM2)", async () => {
    const { meter, asked, looks } = openMeter({ failingLook: 3 });
    await eventually(() => expect(looks()).toBeGreaterThan(3));
    meter.close();
    expect(asked).toContain("failed");
    for (const [index, what] of asked.entries()) {
      if (what === "failed" && index < asked.length - 1) expect(asked[index + 1]).toBe("list");
    }
  });
});
