import { eventually } from "@posthaste/testkit/eventually";
import type { ReceivedRequest } from "@posthaste/testkit/receiver";
import { describe, expect, it } from "vitest";
import { bodyOf, createRoute, untilKnown } from "./route.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 90_000, intervalMs: 200 };

useInstallation();

interface Reported {
  readonly destinationId: string;
  readonly state: string;
  readonly attempts: number;
  readonly firstAttemptAt: string | null;
  readonly lastAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly deadAt: string | null;
}

describe("the notifications of a deletion request", () => {
  it("come to each enabled destination of each affected source, and are followed to their end with times", async () => {
    const { control, system } = installation;
    const one = await createRoute(installation, receiver, "/one");
    const other = await createRoute(installation, receiver, "/other");
    const unasked = await createRoute(installation, receiver, "/unasked");
    const beside = { sourceIds: [one.sourceId, other.sourceId], sharedSecret: one.sharedSecret };
    const both = await control.createDestination({ ...beside, name: "both", urls: [`${receiver.url}/both`] });
    const off = await control.createDestination({ ...beside, name: "off", urls: [`${receiver.url}/off`] });
    await control.call("PATCH", `/v1/destinations/${off}`, { enabled: false });
    await untilKnown(installation);
    let isDown = true;
    receiver.script("/one", () => ({ status: isDown ? 503 : 200 }));
    receiver.script("/other", { status: 410 });

    await system.process("delivery").stop();
    const askedAtMs = Date.now();
    const input = { id: "followed", userIds: ["ada", "bob"], sourceIds: [one.sourceId, other.sourceId] };
    expect(await control.call("POST", "/v1/deletions", input)).toEqual({ id: "followed", notifications: 8 });
    const states = async () => ((await control.call("GET", "/v1/deletions/followed")) as { states: object }).states;
    const reported = async () =>
      ((await control.call("GET", "/v1/deletions/followed/notifications")) as { data: readonly Reported[] }).data;
    const reportedOf = async (destinationId: string) =>
      (await reported()).filter((each) => each.destinationId === destinationId);
    expect(await states()).toEqual({ sent: 8, retrying: 0, delivered: 0, dead: 0 });
    for (const { attempts, firstAttemptAt } of await reported()) expect([attempts, firstAttemptAt]).toEqual([0, null]);

    await system.process("delivery").start();
    await eventually(
      async () => expect(await states()).toEqual({ sent: 0, retrying: 2, delivered: 4, dead: 2 }),
      ARRIVAL,
    );
    await eventually(() => expect(requestsTo("/one").length).toBeGreaterThan(2), ARRIVAL);
    isDown = false;
    await eventually(
      async () => expect(await states()).toEqual({ sent: 0, retrying: 0, delivered: 6, dead: 2 }),
      ARRIVAL,
    );

    // In the order in which they can only have happened, by clocks of one machine.
    const inOrder = (...times: readonly (number | string | null)[]) => {
      const asMs = times.map((time) => (typeof time === "number" ? time : Date.parse(String(time))));
      expect(asMs).toEqual([...asMs].sort((a, b) => a - b));
    };
    for (const each of await reportedOf(one.destinationId)) {
      expect([each.state, each.deadAt, each.attempts > 1]).toEqual(["delivered", null, true]);
      inOrder(askedAtMs, each.firstAttemptAt, each.deliveredAt, each.lastAttemptAt, Date.now());
      expect(each.firstAttemptAt).not.toBe(each.deliveredAt);
    }
    for (const each of await reportedOf(other.destinationId)) {
      expect([each.state, each.deliveredAt, each.attempts]).toEqual(["dead", null, 1]);
      inOrder(askedAtMs, each.firstAttemptAt, each.lastAttemptAt, each.deadAt, Date.now());
    }
    for (const each of await reportedOf(both)) {
      expect([each.state, each.deadAt]).toEqual(["delivered", null]);
      inOrder(askedAtMs, each.firstAttemptAt, each.deliveredAt, Date.now());
    }
    const users = ["ada", "bob"];
    expect([bodiesOf("/one"), bodiesOf("/other")]).toEqual([users, users].map((each) => each.map(notification)));
    // Two sources have it enabled, and each has a notification of its own.
    expect(bodiesOf("/both")).toEqual(["ada", "ada", "bob", "bob"].map(notification));
    expect([requestsTo("/off"), requestsTo(unasked.path)]).toEqual([[], []]);
  });
});

function requestsTo(path: string): readonly ReceivedRequest[] {
  return receiver.requestsTo(path);
}

const notification = (userId: string) => ({ type: "delete", userId, timestamp: expect.any(String) });

/** One for each notification, however often it came, in the order of its user. */
function bodiesOf(path: string): readonly Record<string, unknown>[] {
  const bodies = new Map(requestsTo(path).map((request) => [request.headers["x-message-id"], bodyOf(request)]));
  return [...bodies.values()].sort((a, b) => (String(a["userId"]) < String(b["userId"]) ? -1 : 1));
}
