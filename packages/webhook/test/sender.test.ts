/** Rules: AT2 and AT3 of attempt.ts. */
import { eventually } from "@posthaste/testkit/eventually";
import { hasGoodSignature, signatureOf } from "@posthaste/testkit/signature";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { type OpenSocket, openSocket } from "../src/connector.ts";
import { aDestination } from "./destination.ts";
import { attempt, attemptTo, BODY, useClosedPort, useRawServer, useReceiver, useSender } from "./harness.ts";

describe("an attempt", () => {
  it("posts the exact bytes with the headers of the product, and nothing that was not asked for", async () => {
    const receiver = await useReceiver();
    const sender = useSender();
    const destination = aDestination({
      secrets: { active: "secret", next: null, previous: null },
      urls: [{ url: `${receiver.url}/hook/a?b=c`, headers: { "X-Api-Key": "kéy" } }],
    });
    await attempt(sender, { destination, messageId: "message-1", body: BODY, attempt: 2 }).settled;
    const [request] = receiver.requests;
    expect(request?.method).toBe("POST");
    expect(request?.target).toBe("/hook/a?b=c");
    expect(request?.body).toEqual(BODY);
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: "keep-alive",
      "user-agent": "Posthaste/1.0",
      "content-type": "application/json",
      "content-length": String(BODY.length),
      "x-message-id": "message-1",
      "x-attempt": "2",
      "x-signature": signatureOf("secret", BODY),
      "x-api-key": "kéy",
    });
    expect(request !== undefined && hasGoodSignature(request, "secret")).toBe(true);
  });

  it("begins no request whose time is over when its connection is there, after a standstill", async () => {
    const receiver = await useReceiver();
    const stopped = new Int32Array(new SharedArrayBuffer(4));
    const open: OpenSocket = (target) => {
      const socket = openSocket(target);
      // As under SIGSTOP: the connection is made by the kernel, and nobody hears of it.
      process.nextTick(() => process.nextTick(() => Atomics.wait(stopped, 0, 0, 1500)));
      return socket;
    };
    const sender = useSender({ limits: { headersTimeoutMs: 400 }, openSocket: open });
    const { urls } = await attemptTo(sender, [receiver.url]).finished;
    expect(urls).toMatchObject([{ outcome: "retryable", error: "timeout" }]);
    await attemptTo(useSender(), [`${receiver.url}/later`]).finished;
    expect(receiver.requests.map(({ target }) => target)).toEqual(["/later"]);
  });

  it("carries no signature without a secret", async () => {
    const receiver = await useReceiver();
    await attemptTo(useSender(), [receiver.url]).settled;
    expect(receiver.requests[0]?.headers).not.toHaveProperty("x-signature");
  });

  it("carries Standard Webhooks headers that its library accepts, where the destination opted in", async () => {
    const receiver = await useReceiver();
    const secret = `whsec_${Buffer.from("twenty-four bytes long!!").toString("base64")}`;
    const secrets = { active: secret, next: null, previous: null };
    await attemptTo(useSender(), [receiver.url], { secrets, standardWebhooks: true }).settled;
    const [request] = receiver.requests;
    const headers = (request?.headers ?? {}) as Record<string, string>;
    expect(new Webhook(secret).verify(request?.body ?? "", headers)).toEqual(JSON.parse(BODY.toString()));
    expect(headers["webhook-id"]).toBe(headers["x-message-id"]);
  });

  it("signs throughout a rotation with the active secret, and for Standard Webhooks with every live one", async () => {
    const receiver = await useReceiver();
    const secrets = { active: "whsec_YWN0aXZl", next: "whsec_bmV4dA==", previous: null };
    await attemptTo(useSender(), [receiver.url], { secrets, standardWebhooks: true }).settled;
    const [request] = receiver.requests;
    const headers = (request?.headers ?? {}) as Record<string, string>;
    expect(headers["x-signature"]).toBe(signatureOf(secrets.active, BODY));
    for (const secret of [secrets.active, secrets.next]) {
      expect(new Webhook(secret).verify(request?.body ?? "", headers)).toBeTruthy();
    }
  });

  it("sends a message id that no header can hold in its encoded form", async () => {
    const receiver = await useReceiver();
    const destination = aDestination({ urls: [{ url: receiver.url, headers: {} }] });
    const messageId = "bestellung ☃\r\nX-Injected: 1";
    const { settled } = attempt(useSender(), { destination, messageId, body: BODY, attempt: 1 });
    expect((await settled).settlement.outcome).toBe("delivered");
    expect(receiver.requests[0]?.headers["x-message-id"]).toBe("bestellung%20%E2%98%83%0D%0AX-Injected:%201");
    expect(receiver.requests[0]?.headers).not.toHaveProperty("x-injected");
  });

  it.each([
    [200, "delivered"],
    [204, "delivered"],
    [302, "permanent"],
    [400, "permanent"],
    [404, "permanent"],
    [408, "retryable"],
    [425, "retryable"],
    [429, "retryable"],
    [500, "retryable"],
    [503, "retryable"],
  ] as const)("judges %i as %s", async (status, outcome) => {
    const receiver = await useReceiver({ script: { status } });
    const report = await attemptTo(useSender(), [receiver.url]).settled;
    expect(report.settlement.outcome).toBe(outcome);
    expect(report.urls).toMatchObject([{ url: receiver.url, status, outcome, error: null }]);
    expect(report.urls[0]?.durationMs).toBeGreaterThan(0);
  });

  it.each([429, 503])("heeds Retry-After on %i", async (status) => {
    const receiver = await useReceiver({ script: { status, headers: { "retry-after": "90" } } });
    const { settlement, startedAtMs } = await attemptTo(useSender(), [receiver.url]).settled;
    const notBeforeMs = settlement.retries[0]?.notBeforeMs ?? 0;
    expect(notBeforeMs - startedAtMs).toBeGreaterThanOrEqual(90_000);
    expect(notBeforeMs - startedAtMs).toBeLessThan(95_000);
  });

  it.each([500, 200, 404])("ignores Retry-After on %i", async (status) => {
    const receiver = await useReceiver({ script: { status, headers: { "retry-after": "90" } } });
    const { urls } = await attemptTo(useSender(), [receiver.url]).settled;
    expect(urls).toMatchObject([{ notBeforeMs: null }]);
  });

  it("reports the start of the answer with every secret masked", async () => {
    const body = "you sent shared-secret and Bearer token-1";
    const receiver = await useReceiver({ script: { status: 400, body } });
    const { finished } = attemptTo(useSender(), [], {
      secrets: { active: "shared-secret", next: null, previous: null },
      urls: [{ url: receiver.url, headers: { Authorization: "Bearer token-1" } }],
    });
    expect((await finished).urls).toMatchObject([{ answer: "you sent *** and ***" }]);
  });

  it("masks a secret that the answer's kept part ends within", async () => {
    const token = Array.from({ length: 250 }, (_, index) => index + 1_000).join("");
    const receiver = await useReceiver({ script: { status: 500, body: token.repeat(17) } });
    const destination = aDestination({ urls: [{ url: receiver.url, headers: { "X-Token": token } }] });
    const { finished } = attempt(useSender(), { destination, messageId: "message-1", body: BODY, attempt: 1 });
    expect((await finished).urls).toMatchObject([{ answer: "***".repeat(17) }]);
  });

  it("is permanent for a URL that cannot be requested", async () => {
    const { urls } = await attemptTo(useSender(), ["gopher://receiver.example/"]).settled;
    expect(urls).toMatchObject([{ outcome: "permanent", error: "invalid_request" }]);
  });

  it("is permanent, and sends nothing, with a header that HTTP does not allow", async () => {
    const receiver = await useReceiver();
    const urls = [{ url: receiver.url, headers: { "X-Bad": "line\nbreak" } }];
    const report = await attemptTo(useSender(), [], { urls }).settled;
    expect(report.urls).toMatchObject([{ outcome: "permanent", error: "invalid_request" }]);
    expect(receiver.requests).toHaveLength(0);
  });
});

describe("an attempt to several URLs", () => {
  it("sends to all of them at once and settles at the first 2xx, while the others run on", async () => {
    const fast = await useReceiver();
    const slow = await useReceiver({ script: { fault: "hang" } });
    const sender = useSender();
    const { settled, finished } = attemptTo(sender, [slow.url, fast.url]);
    const first = await settled;
    expect(first.settlement).toMatchObject({ outcome: "delivered", retries: [], dead: [] });
    expect(first.urls).toMatchObject([{ url: fast.url, outcome: "delivered" }]);
    expect(sender.requestsInFlight).toBeGreaterThanOrEqual(1);
    await eventually(() => expect(slow.requests).toHaveLength(1));
    await slow.close();
    expect((await finished).urls).toMatchObject([
      { url: slow.url, outcome: "retryable", error: "connection_reset" },
      { url: fast.url, outcome: "delivered" },
    ]);
    expect(sender.requestsInFlight).toBe(0);
  });

  it("is retried to all when none succeeds and one failure is retryable", async () => {
    const port = await useClosedPort();
    const gone = await useReceiver({ script: { status: 410 } });
    const report = await attemptTo(useSender(), [gone.url, `http://127.0.0.1:${port}/`]).settled;
    expect(report.settlement).toEqual({
      outcome: "retryable",
      retries: [{ urls: null, notBeforeMs: null }],
      dead: [],
    });
    expect(report.urls).toHaveLength(2);
  });

  it("is dead when every URL refuses for good", async () => {
    const receiver = await useReceiver({ script: { status: 400 } });
    const { settlement } = await attemptTo(useSender(), [`${receiver.url}/a`, `${receiver.url}/b`]).settled;
    expect(settlement.dead).toEqual([{ urls: null, reason: "rejected_by_receiver" }]);
  });

  it("settles each URL on its own when the destination asks for it", async () => {
    const receiver = await useReceiver();
    receiver.script("/bad", { status: 400 });
    receiver.script("/busy", { status: 503 });
    const [good, bad, busy] = [`${receiver.url}/good`, `${receiver.url}/bad`, `${receiver.url}/busy`];
    const { settlement } = await attemptTo(useSender(), [good, bad, busy], { settle: "each" }).settled;
    expect(settlement).toEqual({
      outcome: "retryable",
      retries: [{ urls: [busy], notBeforeMs: null }],
      dead: [{ urls: [bad], reason: "rejected_by_receiver" }],
    });
  });

  it("sends only to the URLs that a retry names", async () => {
    const receiver = await useReceiver();
    const urls = ["/a", "/b", "/c"].map((path) => ({ url: receiver.url + path, headers: {} }));
    const destination = aDestination({ settle: "each", urls });
    const { settled } = attempt(useSender(), {
      destination,
      messageId: "message-1",
      body: BODY,
      attempt: 2,
      urls: [`${receiver.url}/b`, "http://127.0.0.1/no-longer-configured"],
    });
    expect((await settled).settlement.outcome).toBe("delivered");
    expect(receiver.requests.map(({ path }) => path)).toEqual(["/b"]);
  });

  it("AT2: tells nothing before the call has returned, also of what ends at once", () => {
    const sender = useSender();
    const destination = aDestination({ urls: [{ url: "gopher://receiver.example/", headers: {} }] });
    const request = { destination, messageId: "message-1", body: BODY, attempt: 1 };
    const calls: string[] = [];
    const reported = Promise.withResolvers<void>();
    sender.attempt(request, {
      onOutcome: (index, outcome, { error }) => calls.push(`${index} ${outcome} ${error}`),
      onEnd: (index) => calls.push(`${index} ended`),
      onSettled: () => calls.push("settled"),
      onFinished: () => reported.resolve(),
    });
    expect(calls).toEqual([]);
    return reported.promise.then(() => expect(calls).toEqual(["0 permanent invalid_request", "settled", "0 ended"]));
  });

  it("AT3: tells of each URL what it came to and when it ended, also after the attempt is settled", async () => {
    const receiver = await useReceiver();
    const quickEnded = Promise.withResolvers<void>();
    const slow = await useRawServer((socket) => {
      void quickEnded.promise.then(() => socket.write("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"));
    });
    const urls = [slow.url, "gopher://receiver.example/", `${receiver.url}/quick`];
    const destination = aDestination({ urls: urls.map((url) => ({ url, headers: {} })) });
    const calls: string[] = [];
    await new Promise<void>((resolve) => {
      useSender().attempt(
        { destination, messageId: "message-1", body: BODY, attempt: 1 },
        {
          onOutcome: (index, outcome) => calls.push(`${index} ${outcome}`),
          onEnd: (index) => {
            calls.push(`${index} ended`);
            if (index === 2) quickEnded.resolve();
          },
          onSettled: () => calls.push("settled"),
          onFinished: () => resolve(),
        },
      );
    });
    expect(calls).toEqual([
      ...["1 permanent", "1 ended"],
      ...["2 delivered", "settled", "2 ended"],
      ...["0 retryable", "0 ended"],
    ]);
  });

  it("has nothing left to do when none of the named URLs is configured any more", async () => {
    const destination = aDestination({ settle: "each" });
    const request = { destination, messageId: "message-1", body: BODY, attempt: 2, urls: ["http://127.0.0.1/gone"] };
    const handle = attempt(useSender(), request);
    expect(await handle.settled).toMatchObject({ settlement: { outcome: "delivered" }, urls: [] });
    expect(await handle.finished).toMatchObject({ urls: [] });
  });
});

describe("a test-send", () => {
  it("tells each URL's result and what was sent, with the customer's header values hidden", async () => {
    const receiver = await useReceiver({ script: { status: 401, body: "who are you" } });
    const destination = aDestination({
      secrets: { active: "one", next: "two", previous: null },
      urls: [{ url: receiver.url, headers: { Authorization: "Bearer token" } }],
    });
    const results = await useSender().test({ destination, messageId: "test-1", body: BODY, signWith: "active" });
    expect(results).toMatchObject([
      { status: 401, outcome: "permanent", answer: "who are you", body: BODY.toString() },
    ]);
    expect(results[0]?.headers).toEqual({
      "User-Agent": "Posthaste/1.0",
      "Content-Type": "application/json",
      Authorization: "***",
      "X-Message-Id": "test-1",
      "X-Attempt": "1",
      "X-Signature": signatureOf("one", BODY),
    });
    expect(receiver.requests[0]?.headers["authorization"]).toBe("Bearer token");
  });

  it("can be signed by the next secret, so that a receiver is checked before the switch", async () => {
    const receiver = await useReceiver();
    const secrets = { active: "one", next: "two", previous: null };
    const destination = aDestination({ secrets, urls: [{ url: receiver.url, headers: {} }] });
    await useSender().test({ destination, messageId: "test-1", body: BODY, signWith: "next" });
    expect(receiver.requests[0]?.headers["x-signature"]).toBe(signatureOf("two", BODY));
  });
});

describe("the sender's metrics", () => {
  it("name every outcome and error at 0 from the start", async () => {
    const page = await useSender().registry.metrics();
    expect(page).toContain("posthaste_requests_in_flight 0");
    expect(page).toContain('posthaste_attempts_total{outcome="delivered",error="none"} 0');
    expect(page).toContain('posthaste_attempts_total{outcome="retryable",error="timeout"} 0');
    expect(page).toContain('posthaste_attempts_total{outcome="permanent",error="address_refused"} 0');
  });

  it("count one for each request by its outcome and error", async () => {
    const receiver = await useReceiver();
    receiver.script("/bad", { status: 400 });
    const closedPort = await useClosedPort();
    const sender = useSender();
    await attemptTo(sender, [`${receiver.url}/good`, `${receiver.url}/bad`, `http://127.0.0.1:${closedPort}/`])
      .finished;
    const page = await sender.registry.metrics();
    expect(page).toContain('posthaste_attempts_total{outcome="delivered",error="none"} 1');
    expect(page).toContain('posthaste_attempts_total{outcome="permanent",error="none"} 1');
    expect(page).toContain('posthaste_attempts_total{outcome="retryable",error="connection_refused"} 1');
    expect(page).toContain("posthaste_requests_in_flight 0");
    expect(page).toContain("posthaste_connections_opened_total 2");
    expect(page).toContain(`posthaste_request_slots ${sender.maxConnections}`);
  });

  it("count a sender of test-sends apart", async () => {
    const receiver = await useReceiver();
    const sender = useSender({ sends: "test-sends" });
    const destination = aDestination({ urls: [{ url: receiver.url, headers: {} }] });
    await sender.test({ destination, messageId: "test-1", body: BODY, signWith: "active" });
    const page = await sender.registry.metrics();
    expect(page).toContain('posthaste_test_sends_total{outcome="delivered",error="none"} 1');
    expect(page).not.toContain("posthaste_attempts_total");
  });
});

describe("closing the sender", () => {
  it("ends what is under way at once, as a failure that is retried", async () => {
    const receiver = await useReceiver({ script: { fault: "hang" } });
    const sender = useSender();
    const { finished } = attemptTo(sender, [receiver.url]);
    await sender.close();
    expect((await finished).urls).toMatchObject([{ outcome: "retryable", error: "shutting_down" }]);
    expect(sender.requestsInFlight).toBe(0);
    expect(sender.openConnections).toBe(0);
  });
});
