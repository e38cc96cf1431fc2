import { suppressionKey } from "@posthaste/core/deletion/suppression";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import { beforeEach, describe, expect, it } from "vitest";
import { DESTINATION, deliveryOf, observed, observePipeline } from "../../test/observed-pipeline.ts";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";

observePipeline();

let offset = 0;

beforeEach(() => {
  offset = 0;
});

/** A record of this user's, as the router or a retry topic has it. */
function recordOf(user: string, differing: { readonly type?: "track" | "delete"; readonly urls?: string[] } = {}) {
  offset += 1;
  const { type = "track", urls = null } = differing;
  const task: Task<IncomingDelivery> = observed.retry(offset, `deliveries/0/${offset}/0`, { attempts: 1, urls });
  const said = { body: Buffer.from(`{"userId":"${user}"}`), event: "Order Completed", restJson: `{"context":{}}` };
  const delivery = { ...deliveryOf(task), sourceId: "src_1", type, ...said };
  const record = { ...task.record, key: Buffer.from(`dst:${user}`) };
  return { ...task, record, item: { ...task.item, delivery } };
}

const suppress = (user: string) => observed.suppressions.add(suppressionKey("src_1", user));

describe("a delivery of a suppressed user", () => {
  it("becomes a dead letter without an attempt or anything of the call, and another user's is sent", () => {
    suppress("gone");
    observed.run(recordOf("gone"));
    observed.run(recordOf("here"));
    expect(observed.attempted).toHaveLength(1);
    expect(observed.published).toMatchObject([
      { kind: "dead_letter", reason: "suppressed", progress: { attempts: 1 }, delivery: { messageId: "m" } },
    ]);
    const nothing = { body: Buffer.alloc(0), event: null, restJson: null };
    expect(observed.published).toMatchObject([{ delivery: nothing }]);
  });

  it("is so whatever became of its destination, and names the URLs that it owes", () => {
    suppress("gone");
    observed.destination = undefined;
    observed.run(recordOf("gone", { urls: ["https://b.example/"] }));
    const lastAttempt = [{ url: "https://b.example/", error: "not_attempted" }];
    expect(observed.published).toMatchObject([{ reason: "suppressed", lastAttempt }]);
  });

  it("is none where it tells of the deletion itself", () => {
    suppress("gone");
    observed.run(recordOf("gone", { type: "delete" }));
    expect([observed.attempted.length, observed.published]).toEqual([1, []]);
  });

  it("V6: that waited for its permit meanwhile is not sent when it is given", async () => {
    observed.destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    observed.run(recordOf("here"));
    observed.run(recordOf("gone"));
    expect(observed.attempted).toHaveLength(1);
    suppress("gone");
    observed.nowMs += 5000;
    observed.pass(1000);
    expect(observed.attempted).toHaveLength(1);
    expect(observed.published).toMatchObject([{ kind: "dead_letter", reason: "suppressed" }]);
  });
});

describe("V6: while it is not known who is suppressed now", () => {
  it("nothing is sent; once it is, who was suppressed meanwhile is dropped and the others are sent", () => {
    observed.suppressions.isCurrent = false;
    observed.run(recordOf("gone"));
    observed.run(recordOf("here"));
    expect([observed.attempted, observed.published]).toEqual([[], []]);
    suppress("gone");
    observed.suppressions.becomeCurrent();
    expect(observed.attempted).toHaveLength(1);
    expect(observed.published).toMatchObject([{ kind: "dead_letter", reason: "suppressed" }]);
  });

  it("no permit leads to an attempt, and who had one comes again", () => {
    observed.destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    observed.run(recordOf("first"));
    observed.run(recordOf("second"));
    observed.suppressions.isCurrent = false;
    observed.nowMs += 5000;
    observed.pass(1000);
    expect([observed.attempted.length, observed.published]).toEqual([1, []]);
    observed.suppressions.becomeCurrent();
    observed.pass(1000);
    expect([observed.attempted.length, observed.published]).toEqual([2, []]);
  });

  it("who waits is forgotten when its partition is given up", () => {
    observed.suppressions.isCurrent = false;
    const task = recordOf("gone");
    observed.run(task);
    suppress("gone");
    Object.assign(task.window, { isRevoked: true });
    observed.suppressions.becomeCurrent();
    expect([observed.attempted, observed.published]).toEqual([[], []]);
  });
});
