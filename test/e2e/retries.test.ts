import { eventually } from "@posthaste/testkit/eventually";
import { hasGoodSignature } from "@posthaste/testkit/signature";
import { describe, expect, it } from "vitest";
import { type Call, sendBatch } from "./calls.ts";
import { readDeadLetters } from "./dead-letters.ts";
import { bodyOf, createRoute, messageIdsOf, untilKnown } from "./route.ts";
import { countUnanswered, undisturbed } from "./undisturbed.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };
const calls = (name: string, count: number): Call[] =>
  Array.from({ length: count }, (_, index) => ({
    type: "track",
    userId: `user-${index}`,
    event: "Ordered",
    messageId: `${name}-${index}`,
  }));

const deadLetters = () =>
  readDeadLetters({
    brokers: installation.system.stack.brokers,
    schemaRegistry: installation.system.stack.schemaRegistry,
    names: installation.names,
  });

useInstallation();

describe("within the retry window", () => {
  it("gives a receiver that fails for a while every event by the retry topics, attempts counted", async () => {
    const route = await createRoute(installation, receiver, "/recovers");
    let isDown = true;
    receiver.script(route.path, () => ({ status: isDown ? 503 : 200 }));
    const sent = calls("recovers", 20);
    expect(await sendBatch(installation.system.ingestUrl, route.writeKey, sent)).toBe(200);
    // One was refused by a retry topic's attempt too.
    await eventually(() => {
      const second = receiver.requestsTo(route.path).filter((request) => request.headers["x-attempt"] === "2");
      expect(messageIdsOf(second).size).toBeGreaterThanOrEqual(1);
    }, ARRIVAL);
    isDown = false;
    const recoveredAtMs = Date.now();
    await eventually(() => {
      const delivered = receiver.requestsTo(route.path).filter((request) => request.receivedAtMs >= recoveredAtMs);
      expect(messageIdsOf(delivered)).toEqual(new Set(sent.map((call) => call.messageId)));
    }, ARRIVAL);
    const requests = receiver.requestsTo(route.path);
    expect(requests.every((request) => hasGoodSignature(request, route.sharedSecret))).toBe(true);
    const unanswered = await countUnanswered(installation);
    for (const { messageId } of sent) {
      const attempts = requests.filter((request) => request.headers["x-message-id"] === messageId);
      const numbers = attempts.map((request) => Number(request.headers["x-attempt"]));
      expect(new Set(numbers).size).toBe(numbers.length);
      // A request without an answer may not have come to the receiver.
      expect(Math.max(...numbers) - numbers.length).toBeLessThanOrEqual(unanswered);
      expect(new Set(attempts.map((request) => request.body.toString())).size).toBe(1);
    }
  });

  it("tells of an audience by retries too, with the marks of each identify, at its source's destinations alone", async () => {
    const { control, system } = installation;
    const route = await createRoute(installation, receiver, "/told-later");
    const elsewhere = await createRoute(installation, receiver, "/told-elsewhere");
    const off = { name: "off", sourceIds: [route.sourceId], urls: [`${receiver.url}/told-off`] };
    const offId = await control.createDestination({ ...off, sharedSecret: route.sharedSecret });
    await control.call("PATCH", `/v1/destinations/${offId}`, { enabled: false });
    await untilKnown(installation);
    let isDown = true;
    receiver.script(route.path, () => ({ status: isDown ? 503 : 200 }));
    const named = { name: "Slow Payers", sourceId: route.sourceId };
    const { id } = (await control.call("POST", "/v1/audiences", named)) as { id: string };
    const members = (change: object) => control.call("PATCH", `/v1/audiences/${id}/members`, change);
    await members({ add: ["ada", "bob"] });
    const requests = () => receiver.requestsTo(route.path);
    await eventually(() => {
      const retried = requests().filter((request) => Number(request.headers["x-attempt"]) > 1);
      expect(new Set(retried.map((request) => bodyOf(request)["userId"]))).toEqual(new Set(["ada", "bob"]));
    }, ARRIVAL);
    await members({ remove: ["ada"] });
    isDown = false;
    const recoveredAtMs = Date.now();
    // Whatever the order in which they come, the newest one holds.
    const reported = () => requests().filter(({ receivedAtMs }) => receivedAtMs >= recoveredAtMs);
    const valuesOf = (userId: string) => {
      const identifies = new Map(reported().map((request) => [request.headers["x-message-id"], bodyOf(request)]));
      const own = [...identifies.values()].filter((body) => body["userId"] === userId);
      own.sort((one, other) => (String(one["timestamp"]) < String(other["timestamp"]) ? -1 : 1));
      return own.map(({ traits }) => traits);
    };
    await eventually(() => {
      expect(valuesOf("ada")).toEqual([{ slow_payers: true }, { slow_payers: false }]);
      expect(valuesOf("bob")).toEqual([{ slow_payers: true }]);
    }, ARRIVAL);
    const marks = { type: "identify", context: { posthaste: { kind: "audience", id } } };
    for (const request of requests()) {
      expect(bodyOf(request)).toMatchObject(marks);
      expect(hasGoodSignature(request, route.sharedSecret)).toBe(true);
    }
    for (const messageId of messageIdsOf(requests())) {
      const attempts = requests().filter((request) => request.headers["x-message-id"] === messageId);
      expect(new Set(attempts.map((request) => request.body.toString())).size).toBe(1);
    }
    expect(messageIdsOf(requests()).size).toBe(3);
    for (const { writeKey } of [route, elsewhere]) {
      const call = { type: "track", event: "E", userId: "ada", messageId: `after-${writeKey}` };
      expect(await sendBatch(system.ingestUrl, writeKey, [call])).toBe(200);
    }
    await eventually(() => {
      for (const { path, writeKey } of [route, elsewhere])
        expect([...messageIdsOf(receiver.requestsTo(path))]).toContain(`after-${writeKey}`);
    }, ARRIVAL);
    expect(messageIdsOf(receiver.requestsTo(elsewhere.path))).toEqual(new Set([`after-${elsewhere.writeKey}`]));
    expect(receiver.requestsTo("/told-off")).toEqual([]);
  });

  it("puts what the receiver refuses for good there at once, after one attempt", async () => {
    const route = await createRoute(installation, receiver, "/refuses");
    receiver.script(route.path, { status: 410 });
    expect(await sendBatch(installation.system.ingestUrl, route.writeKey, calls("refused", 1))).toBe(200);
    const deadLetter = await eventually(async () => {
      const found = (await deadLetters()).filter(({ destinationId }) => destinationId === route.destinationId);
      expect(found).toMatchObject([{ messageId: "refused-0", reason: "rejected_by_receiver" }]);
      return found[0];
    }, ARRIVAL);
    // After one that was answered: where the machine stood for longer than an attempt takes, there were others before.
    const statuses = deadLetter?.history.map(({ urls }) => urls[0]?.status ?? null) ?? [];
    expect(statuses).toEqual([...statuses.slice(1).map(() => null), 410]);
    expect(deadLetter?.attempts).toBe(statuses.length);
    expect(receiver.requestsTo(route.path).length).toBeLessThanOrEqual(statuses.length);
  });

  it("a dead letter that was given up between two attempts of one URL is replayed to that URL alone", async () => {
    const { control } = installation;
    const { destinationId, served, owed } = await undisturbed(installation, async (round, until) => {
      const source = await control.createSource("each");
      const [served, owed] = [`/served-${round}`, `/owed-${round}`];
      const urls = [served, owed].map((path) => ({ url: `${receiver.url}${path}` }));
      const { id: destinationId } = (await control.call("POST", "/v1/destinations", {
        ...{ type: "Webhooks", name: "each", sourceIds: [source.id], enabled: true },
        settings: { settle: "each", urls },
      })) as { id: string };
      receiver.script(owed, { status: 503 });
      await untilKnown(installation);
      expect(await sendBatch(installation.system.ingestUrl, source.writeKey, calls(`each-${round}`, 1))).toBe(200);
      await until(() => expect(receiver.requestsTo(owed).length).toBeGreaterThan(0));
      return { destinationId, served, owed };
    });
    await control.call("PATCH", `/v1/destinations/${destinationId}`, { enabled: false });
    await eventually(async () => {
      const found = (await deadLetters()).filter((deadLetter) => deadLetter.destinationId === destinationId);
      expect(found).toMatchObject([
        { reason: "destination_disabled", lastAttempt: [{ url: `${receiver.url}${owed}`, error: "not_attempted" }] },
      ]);
    }, ARRIVAL);
    await control.call("PATCH", `/v1/destinations/${destinationId}`, { enabled: true });
    receiver.script(owed, { status: 200 });
    const [before, unanswered] = [receiver.requestsTo(owed).length, await countUnanswered(installation)];
    await eventually(async () => {
      const { matched } = (await control.call("POST", "/v1/replays", { destinationId })) as {
        matched: number;
      };
      expect(matched).toBe(1);
    }, ARRIVAL);
    await eventually(() => expect(receiver.requestsTo(owed).length).toBeGreaterThan(before), ARRIVAL);
    const again = (await countUnanswered(installation)) - unanswered;
    expect(receiver.requestsTo(owed).length).toBeLessThanOrEqual(before + 1 + again);
    expect(receiver.requestsTo(served)).toHaveLength(1);
  });
});
