import { retryTopicName } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { isLong } from "../faults/form.ts";
import { type Call, sendBatch } from "./calls.ts";
import { readDeadLetters } from "./dead-letters.ts";
import { readTopic } from "./read-topic.ts";
import { bodyOf, createRoute, type Route } from "./route.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };
const DELAYS_MS = [1000, 2000, 25_000];

/** Events of another user that are delivered after an answer, beside which those of a suppressed one would be. */
const LATE = 50;
/** When control is killed, in ms after each request was sent, and the users of a request. */
const KILLED_AFTER_MS = isLong ? [30, 150, 400] : [100];
const USERS = isLong ? 5000 : 1000;

interface UnroutedEvents {
  readonly sourceId: string;
  readonly events: readonly { readonly messageId: string; readonly cause: string }[];
}

useInstallation();

const call = (messageId: string, userId: string): Call => ({ type: "track", userId, event: "E", messageId });
const send = async ({ writeKey }: Route, ...calls: Call[]) =>
  expect(await sendBatch(installation.system.ingestUrl, writeKey, calls)).toBe(200);
const read = <T>(topic: string, schema: "delivery" | "unrouted-events") => {
  const { brokers, schemaRegistry } = installation.system.stack;
  return readTopic<T>({ brokers, schemaRegistry, names: installation.names, topic, schema });
};
const deadLettersOf = async ({ destinationId }: Route) =>
  (await readDeadLetters({ ...installation.system.stack, names: installation.names })).filter(
    (deadLetter) => deadLetter.destinationId === destinationId,
  );
const suppress = async (input: object) =>
  (await installation.control.call("POST", "/v1/deletions", { suppress: true, ...input })) as {
    id: string;
    notifications: number;
  };

/** The user of a request. */
const userOf = (request: Parameters<typeof bodyOf>[0]) => bodyOf(request)["userId"];

describe("a suppressed user with events in every place", () => {
  it("gets none delivered after the answer; the notification comes once, and the others' events all do", async () => {
    const route = await createRoute(installation, receiver, "/everywhere");
    const { control, names, system } = installation;
    const deadOnes = new Set(["dead-0"]);
    receiver.script(route.path, (request) => {
      const id = String(request.headers["x-message-id"]);
      if (deadOnes.has(id)) return { status: 410 };
      return { status: userOf(request) === "gone" && id.startsWith("retried") ? 503 : 200 };
    });
    const attemptsOf = (messageId: string) =>
      receiver.requestsTo(route.path).filter(({ headers }) => headers["x-message-id"] === messageId).length;
    // Among others that are delivered, so that no breaker opens.
    const others = Array.from({ length: 40 }, (_, index) => call(`here-${index}`, `here-${index}`));
    const sendRetried = async (index: number) => {
      await send(route, call(`retried-${index}`, "gone"), ...others.slice(index * 10, index * 10 + 10));
    };
    const wasTried = (messageId: string, times: number) =>
      eventually(() => expect(attemptsOf(messageId)).toBeGreaterThanOrEqual(times), ARRIVAL);
    await sendRetried(0);
    await send(route, call("dead-0", "gone"));
    await wasTried("retried-0", 2);
    await sendRetried(1);
    await wasTried("retried-0", 3);
    await wasTried("retried-1", 2);
    await sendRetried(2);
    await wasTried("retried-2", 1);
    await eventually(async () => {
      expect((await deadLettersOf(route)).map(({ messageId }) => messageId)).toEqual(["dead-0"]);
      for (const [index, delayMs] of [...DELAYS_MS].reverse().entries()) {
        const waiting = await read<Delivery>(retryTopicName(names, delayMs), "delivery");
        expect(
          waiting.map(({ messageId }) => messageId),
          `${delayMs}`,
        ).toContain(`retried-${index}`);
      }
    }, ARRIVAL);
    await system.process("delivery").stop();
    await send(route, call("delivery-0", "gone"), ...others.slice(30));
    await eventually(async () => {
      const deliveries = await read<Delivery>(names.deliveries, "delivery");
      expect(deliveries.map(({ messageId }) => messageId)).toContain("delivery-0");
    }, ARRIVAL);
    await system.process("router").stop();
    await send(route, call("event-0", "gone"), call("here-too", "here"));

    const answer = await suppress({ userId: "gone", sourceIds: [route.sourceId] });
    const answeredMs = Date.now();
    expect(answer.notifications).toBe(1);
    await Promise.all([system.process("router").start(), system.process("delivery").start()]);
    const dropped = ["retried-0", "retried-1", "retried-2", "delivery-0"];
    await eventually(async () => {
      const found = (await deadLettersOf(route)).filter(({ reason }) => reason === "suppressed");
      expect(found.map(({ messageId }) => messageId).sort()).toEqual([...dropped].sort());
      expect(found.map(({ body }) => body.length)).toEqual([0, 0, 0, 0]);
    }, ARRIVAL);
    await eventually(async () => {
      const records = await read<UnroutedEvents>(names.unrouted, "unrouted-events");
      const unrouted = records.filter(({ sourceId }) => sourceId === route.sourceId).flatMap(({ events }) => events);
      expect(unrouted).toMatchObject([{ messageId: "event-0", cause: "suppressed" }]);
    }, ARRIVAL);
    await eventually(() => {
      const arrived = new Set(receiver.requestsTo(route.path).map(userOf));
      for (const { userId } of [...others, { userId: "here" }]) expect(arrived).toContain(userId);
    }, ARRIVAL);
    const late = receiver
      .requestsTo(route.path)
      .filter((request) => userOf(request) === "gone" && request.receivedAtMs >= answeredMs);
    const timestamp = expect.any(String);
    await eventually(() => {
      const reported = receiver.requestsTo(route.path).filter((request) => bodyOf(request)["type"] === "delete");
      const bodies = new Map(reported.map((request) => [request.headers["x-message-id"], bodyOf(request)]));
      expect([...bodies.values()]).toEqual([{ type: "delete", userId: "gone", timestamp }]);
    }, ARRIVAL);
    expect(late.filter((request) => bodyOf(request)["type"] !== "delete")).toEqual([]);

    await eventually(async () => {
      const list = (await control.call("GET", `/v1/dead-letters?destinationId=${route.destinationId}`)) as {
        data: { reason: string }[];
        leftOut: object;
      };
      expect(list.data.map(({ reason }) => reason)).toEqual(dropped.map(() => "suppressed"));
      expect(list.leftOut).toEqual({ suppressed: 1, purged: 0 });
    }, ARRIVAL);
    const replay = await control.call("POST", "/v1/replays", { destinationId: route.destinationId });
    expect(replay).toMatchObject({ id: null, matched: 0, leftOut: { suppressed: 5 } });
    await eventually(async () => {
      const { states } = (await control.call("GET", `/v1/deletions/${answer.id}`)) as { states: object };
      expect(states).toEqual({ sent: 0, retrying: 0, delivered: 1, dead: 0 });
    }, ARRIVAL);

    await control.call("DELETE", "/v1/suppressions?userId=gone");
    await eventually(async () => {
      await send(route, call(`again-${performance.now()}`, "gone"));
      const again = receiver.requestsTo(route.path).map(({ headers }) => String(headers["x-message-id"]));
      expect(again.some((messageId) => messageId.startsWith("again-"))).toBe(true);
    }, ARRIVAL);
  });

  it("gets none delivered after the answer while new ones come all the time", async () => {
    const route = await createRoute(installation, receiver, "/stream");
    let sent = 0;
    let isStreaming = true;
    const stream = (async () => {
      while (isStreaming) {
        await send(route, call(`stream-${sent}`, "streamed"), call(`beside-${sent}`, "beside"));
        sent += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const usersSince = (atMs: number) =>
      receiver.requestsTo(route.path).flatMap((request) => (request.receivedAtMs >= atMs ? [userOf(request)] : []));
    await eventually(() => expect(usersSince(0).length).toBeGreaterThan(20), ARRIVAL);
    await suppress({ userId: "streamed", sourceIds: [route.sourceId] });
    // A request that came before that to a receiver that stood still then is received before this is answered.
    await fetch(`${receiver.url}/marker`);
    const answeredMs = Date.now();
    // Of the requests sent after the answer, so many are delivered.
    const beganWith = sent;
    const besideLate = () => usersSince(answeredMs).filter((user) => user === "beside").length;
    await eventually(() => expect([sent - beganWith, besideLate()].every((count) => count > LATE)).toBe(true), ARRIVAL);
    isStreaming = false;
    await stream;
    await eventually(() => {
      const beside = receiver.requestsTo(route.path).filter((request) => userOf(request) === "beside");
      expect(new Set(beside.map(({ headers }) => headers["x-message-id"])).size).toBe(sent);
    }, ARRIVAL);
    const late = receiver
      .requestsTo(route.path)
      .filter(({ receivedAtMs }) => receivedAtMs >= answeredMs)
      .filter((request) => userOf(request) === "streamed" && bodyOf(request)["type"] !== "delete");
    expect(late).toEqual([]);
  });
});

describe(`control that is killed in the middle of a request for ${USERS} users`, () => {
  const usersOf = (afterMs: number) => Array.from({ length: USERS }, (_, index) => `killed-${afterMs}-${index}`);

  it(`after ${KILLED_AFTER_MS.join(", ")} ms, and started again: each user is notified, whole`, async () => {
    const { control, system } = installation;
    const requests = await Promise.all(
      KILLED_AFTER_MS.map(async (afterMs) => {
        const route = await createRoute(installation, receiver, `/killed-${afterMs}`);
        const userIds = usersOf(afterMs);
        const input = { id: `request-${afterMs}`, userIds, sourceIds: [route.sourceId], suppress: true };
        return { afterMs, route, userIds, input };
      }),
    );
    for (const { afterMs, input } of requests) {
      const refused = control.call("POST", "/v1/deletions", input).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await system.process("control").kill();
      await refused;
      await system.process("control").start();
    }
    // As a real client does: the same requests under the same ids.
    await Promise.all(
      requests.map(({ input }) =>
        eventually(() => control.call("POST", "/v1/deletions", input), { timeoutMs: 60_000, intervalMs: 500 }),
      ),
    );
    for (const { route, input, userIds } of requests) {
      const notified = () => receiver.requestsTo(route.path);
      // Control is asked when all are there, since each of its answers is counted over all of them.
      await eventually(() => expect(new Set(notified().map(userOf)).size).toBe(userIds.length), {
        timeoutMs: 120_000,
        intervalMs: 500,
      });
      await eventually(
        async () => {
          const status = await control.call("GET", `/v1/deletions/${input.id}`);
          expect(status).toMatchObject({ state: "sent", users: USERS, states: { delivered: USERS } });
        },
        { ...ARRIVAL, intervalMs: 500 },
      );
      expect(new Set(notified().map(userOf))).toEqual(new Set(userIds));
      expect(new Set(notified().map(({ headers }) => headers["x-message-id"])).size).toBe(USERS);
      const gone = (await control.call("GET", `/v1/suppressions?userId=${userIds.at(-1)}`)) as { sourceIds: string[] };
      expect(gone.sourceIds).toEqual([route.sourceId]);
    }
  }, 600_000);
});
