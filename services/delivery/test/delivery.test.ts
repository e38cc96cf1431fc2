/** Rule: V1 of check.ts. */
import { createHmac } from "node:crypto";
import { encodeProgress } from "@posthaste/contracts/headers";
import { retryTopicName } from "@posthaste/contracts/topics";
import { NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { NO_TOPIC_GENERATION } from "@posthaste/core/delivery/origin";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInstallation, type Installation, type TestDelivery } from "./installation.ts";

const DELAYS_MS = [300, 600, 900];
/** Longer than a busy machine takes for all of the attempts: only the end of the schedule ends the retries. */
const WINDOW_MS = 600_000;

let installation: Installation;
let delivery: TestDelivery;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  installation = await createInstallation(DELAYS_MS);
  delivery = await installation.startDelivery({ schedule: { delaysMs: DELAYS_MS, windowMs: WINDOW_MS } });
});

afterAll(async () => {
  await installation.remove();
  await receiver.close();
});

/** A destination of its own for the test, with one URL for each path. */
async function connect(id: string, paths: readonly string[] = [`/${id}`], settle: "any" | "each" = "any") {
  return installation.configure(id, { settle, urls: paths.map((path) => ({ url: receiver.url + path, headers: {} })) });
}

const deadLettersOf = (messageId: string) => installation.deadLetters.filter((each) => each.messageId === messageId);
const waitingOf = (messageId: string) => installation.waiting.filter((each) => each.messageId === messageId);
const attemptsOf = (messageId: string) => installation.attempts.filter((each) => each.messageId === messageId);

describe("a delivery", () => {
  it("is posted once, signed, with its message id, byte for byte, and measured", async () => {
    const configOffset = await connect("plain");
    await installation.send([{ messageId: "m-plain", destinationId: "plain", configOffset }]);
    const request = await eventually(() => {
      const [first] = receiver.requestsTo("/plain");
      if (first === undefined) throw new Error("nothing came");
      return first;
    });
    expect(String(request.body)).toBe('{"type":"track","event":"m-plain"}');
    expect(request.headers).toMatchObject({
      "content-type": "application/json",
      "x-message-id": "m-plain",
      "x-attempt": "1",
      "x-signature": createHmac("sha1", "shared").update(request.body).digest("hex"),
    });
    await eventually(() => expect(attemptsOf("m-plain")).toMatchObject([{ attempt: 1, outcome: "delivered" }]));
    expect(await delivery.metric("posthaste_end_to_end_latency_seconds_count")).toBeGreaterThanOrEqual(1);
    expect(receiver.requestsTo("/plain")).toHaveLength(1);
  });

  it("D2: that was written twice by a router is sent once", async () => {
    const configOffset = await connect("twice");
    const origin = { configOffset, originIncarnation: 7, originPartition: 1, destinationId: "twice", user: "u" };
    await installation.send([
      { ...origin, messageId: "m-1", originOffset: 5 },
      { ...origin, messageId: "m-2", originOffset: 6 },
      { ...origin, messageId: "m-1", originOffset: 5 },
      { ...origin, messageId: "m-2", originOffset: 6 },
      { ...origin, messageId: "m-3", originOffset: 7 },
    ]);
    await eventually(() => expect(receiver.requestsTo("/twice").at(-1)?.headers["x-message-id"]).toBe("m-3"));
    expect(receiver.requestsTo("/twice").map(({ headers }) => headers["x-message-id"])).toEqual(["m-1", "m-2", "m-3"]);
    expect(await delivery.metric('posthaste_repeats_dropped_total{kind="origin"}')).toBe(2);
  });

  it("V1: routed by a configuration that is not here yet waits for it", async () => {
    const next = (await connect("early-other")) + 1;
    await installation.send([{ messageId: "m-early", destinationId: "early", configOffset: next }]);
    await connect("early");
    await eventually(() => expect(receiver.requestsTo("/early")).toHaveLength(1));
    expect(deadLettersOf("m-early")).toEqual([]);
  });
});

describe("a replay for some of the URLs", () => {
  it.each(["any", "each"] as const)("stays with those when it fails, under `settle: %s`", async (settle) => {
    const id = `some-${settle}`;
    receiver.script(`/${id}-a`, [{ status: 503 }, { status: 200 }]);
    const configOffset = await connect(id, [`/${id}-a`, `/${id}-b`], settle);
    const draft = { messageId: `m-${id}`, destinationId: id, configOffset, originIncarnation: NO_TOPIC_GENERATION };
    const headers = encodeProgress({ ...NO_PROGRESS, urls: [`${receiver.url}/${id}-a`] });
    await installation.sendRaw(installation.names.deliveries, installation.encode(draft), headers);
    const url = `${receiver.url}/${id}-a`;
    await eventually(() =>
      expect(attemptsOf(`m-${id}`)).toMatchObject([{ urls: [{ url, status: 503 }] }, { urls: [{ url, status: 200 }] }]),
    );
    expect(receiver.requestsTo(`/${id}-b`)).toEqual([]);
  });
});

describe("a receiver that fails for a while", () => {
  it("D1: gets its delivery through the retry topics, with the attempt's number", async () => {
    receiver.script("/flaky", [{ status: 503 }, { status: 408 }, { status: 200 }]);
    const configOffset = await connect("flaky");
    await installation.send([{ messageId: "m-flaky", destinationId: "flaky", configOffset }]);
    await eventually(() => expect(receiver.requestsTo("/flaky")).toHaveLength(3));
    const requests = receiver.requestsTo("/flaky");
    expect(requests.map(({ headers }) => headers["x-attempt"])).toEqual(["1", "2", "3"]);
    expect(new Set(requests.map(({ body }) => String(body))).size).toBe(1);
    await eventually(() =>
      expect(waitingOf("m-flaky")).toMatchObject([
        { topic: retryTopicName(installation.names, 300), attempts: 1, deferrals: 0 },
        { topic: retryTopicName(installation.names, 600), attempts: 2, deferrals: 0 },
      ]),
    );
    // W1: by our clock, between the request that failed and the next.
    for (const [index, { republishedAtMs }] of waitingOf("m-flaky").entries()) {
      expect(republishedAtMs).toBeGreaterThanOrEqual((requests[index]?.receivedAtMs ?? Number.NaN) - 1);
      expect(republishedAtMs).toBeLessThanOrEqual(requests[index + 1]?.receivedAtMs ?? Number.NaN);
    }
    const [first, second, third] = requests.map(({ receivedAtMs }) => receivedAtMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(300);
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(600);
    await eventually(() =>
      expect(attemptsOf("m-flaky")).toMatchObject([
        { attempt: 1, outcome: "retryable", urls: [{ status: 503, error: null }] },
        { attempt: 2, outcome: "retryable", urls: [{ status: 408, error: null }] },
        { attempt: 3, outcome: "delivered", urls: [{ status: 200 }] },
      ]),
    );
  });

  it("for the whole schedule fills the dead letters, reason window_expired", async () => {
    receiver.script("/down", { status: 500, body: "no" });
    const configOffset = await connect("down");
    await installation.send([{ messageId: "m-down", destinationId: "down", configOffset }]);
    const [deadLetter] = await eventually(() => {
      expect(deadLettersOf("m-down")).toHaveLength(1);
      return deadLettersOf("m-down");
    });
    expect(deadLetter).toMatchObject({
      reason: "window_expired",
      attempts: 4,
      destinationId: "down",
      lastAttempt: [{ url: `${receiver.url}/down`, status: 500, error: null }],
    });
    expect(String(deadLetter?.body)).toBe('{"type":"track","event":"m-down"}');
    expect(receiver.requestsTo("/down")).toHaveLength(4);
  });

  it("W5: is not called before its Retry-After", async () => {
    receiver.script("/later", [{ status: 429, headers: { "retry-after": "2" } }, { status: 200 }]);
    const configOffset = await connect("later");
    await installation.send([{ messageId: "m-later", destinationId: "later", configOffset }]);
    await eventually(() => expect(receiver.requestsTo("/later")).toHaveLength(2));
    const [first, second] = receiver.requestsTo("/later").map(({ receivedAtMs }) => receivedAtMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1990);
    await eventually(() => expect(waitingOf("m-later").length).toBeGreaterThanOrEqual(2));
    expect(waitingOf("m-later").every(({ attempts }) => attempts === 1)).toBe(true);
    expect(await delivery.metric('posthaste_deferred_total{cause="retry_after"}')).toBeGreaterThanOrEqual(1);
  });
});

describe("what is given up at once", () => {
  it("is what every URL refuses for good: rejected_by_receiver", async () => {
    receiver.script("/gone", { status: 410 });
    const configOffset = await connect("gone");
    await installation.send([{ messageId: "m-gone", destinationId: "gone", configOffset }]);
    await eventually(() =>
      expect(deadLettersOf("m-gone")).toMatchObject([
        { reason: "rejected_by_receiver", attempts: 1, windowStartMs: null, lastAttempt: [{ status: 410 }] },
      ]),
    );
    expect(waitingOf("m-gone")).toEqual([]);
  });

  it("is an address in a forbidden network: address_refused", async () => {
    const configOffset = await installation.configure("inner", { urls: [{ url: "http://10.0.0.1/", headers: {} }] });
    await installation.send([{ messageId: "m-inner", destinationId: "inner", configOffset }]);
    await eventually(() => expect(deadLettersOf("m-inner")).toMatchObject([{ reason: "address_refused" }]));
  });

  it("is for a destination that was removed or switched off", async () => {
    await connect("removed");
    await installation.configure("removed", undefined);
    const configOffset = await installation.configure("disabled", { enabled: false });
    await installation.send([
      { messageId: "m-removed", destinationId: "removed", configOffset },
      { messageId: "m-disabled", destinationId: "disabled", configOffset },
    ]);
    await eventually(() => {
      expect(deadLettersOf("m-removed")).toMatchObject([{ reason: "destination_removed", attempts: 0 }]);
      expect(deadLettersOf("m-disabled")).toMatchObject([{ reason: "destination_disabled", lastAttempt: [] }]);
    });
    // It is counted when the broker's answer is back; the test may have read it by then.
    await eventually(async () =>
      expect(await delivery.metric('posthaste_dead_letters_total{reason="destination_removed"}')).toBe(1),
    );
  });

  it("waits in a retry topic when its destination is switched off meanwhile, and goes from there", async () => {
    // For longer than any change takes to be known here: its attempts would be over before.
    receiver.script("/off", { status: 503, headers: { "retry-after": "3600" } });
    const configOffset = await connect("off");
    await installation.send([{ messageId: "m-off", destinationId: "off", configOffset }]);
    await eventually(() => expect(waitingOf("m-off").length).toBeGreaterThan(0));
    await installation.configure("off", { enabled: false });
    await eventually(() => expect(deadLettersOf("m-off")).toMatchObject([{ reason: "destination_disabled" }]));
  });
});

describe("a destination with several URLs", () => {
  it("is served when one of them takes it, and no other is tried again", async () => {
    receiver.script("/any-1", { status: 503 });
    receiver.script("/any-2", { fault: "reset" });
    const configOffset = await connect("any", ["/any-1", "/any-2", "/any-3"]);
    await installation.send([{ messageId: "m-any", destinationId: "any", configOffset }]);
    await eventually(() => expect(attemptsOf("m-any")).toHaveLength(1));
    expect(attemptsOf("m-any")).toMatchObject([
      { outcome: "delivered", urls: [{ status: 503 }, { error: "connection_reset" }, { status: 200 }] },
    ]);
    expect(waitingOf("m-any")).toEqual([]);
    expect(receiver.requestsTo("/any-1")).toHaveLength(1);
  });

  it("under `settle: each` is tried again only where it failed, and given up only where it was refused", async () => {
    receiver.script("/each-1", [{ status: 503 }, { status: 200 }]);
    receiver.script("/each-2", { status: 404 });
    const configOffset = await connect("each", ["/each-1", "/each-2", "/each-3"], "each");
    await installation.send([{ messageId: "m-each", destinationId: "each", configOffset }]);
    await eventually(() => expect(receiver.requestsTo("/each-1")).toHaveLength(2));
    await eventually(() =>
      expect(deadLettersOf("m-each")).toMatchObject([
        { reason: "rejected_by_receiver", lastAttempt: [{ url: `${receiver.url}/each-2`, status: 404 }] },
      ]),
    );
    await eventually(() =>
      expect(waitingOf("m-each")).toMatchObject([{ urls: [`${receiver.url}/each-1`], attempts: 1 }]),
    );
    expect(receiver.requestsTo("/each-2")).toHaveLength(1);
    expect(receiver.requestsTo("/each-3")).toHaveLength(1);
  });
});

describe("what stands in the topics", () => {
  it("and is no delivery is counted and stops nothing", async () => {
    const configOffset = await connect("after");
    await installation.sendRaw(installation.names.deliveries, Buffer.from("no delivery"));
    await installation.send([{ messageId: "m-after", destinationId: "after", configOffset }]);
    await eventually(() => expect(receiver.requestsTo("/after")).toHaveLength(1));
    await eventually(async () => expect(await delivery.metric("posthaste_unreadable_deliveries_total")).toBe(1));
    expect(delivery.failures).toEqual([]);
  });

  it("and is of another schema that the registry knows is counted and stops nothing", async () => {
    const configOffset = await connect("after-stray");
    const { names, strayValue } = installation;
    const unreadable = () => delivery.metric("posthaste_unreadable_deliveries_total");
    const before = await unreadable();
    await installation.sendRaw(names.deliveries, strayValue);
    await installation.sendRaw(
      names.deliveries,
      installation.encode({ messageId: "m-behind", destinationId: "after-stray", configOffset }),
    );
    await eventually(() => expect(receiver.requestsTo("/after-stray")).toHaveLength(1));
    await eventually(async () => expect(await unreadable()).toBe(before + 1));
    expect(delivery.failures).toEqual([]);
  });

  it("W6: twice because of one republished record is sent once", async () => {
    const configOffset = await connect("copy");
    const value = installation.encode({ messageId: "m-copy", destinationId: "copy", configOffset });
    const topic = retryTopicName(installation.names, 300);
    const headers = { "republished-from": "deliveries/0/1/0", attempts: "1" };
    await installation.sendRaw(topic, value, headers);
    await installation.sendRaw(topic, value, headers);
    await eventually(async () =>
      expect(await delivery.metric('posthaste_repeats_dropped_total{kind="hand_off"}')).toBe(1),
    );
    await eventually(() => expect(receiver.requestsTo("/copy")).toHaveLength(1));
  });
});
