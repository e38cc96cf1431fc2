/** The vectors that every client library of this project shares, run against a real server. */
import { eventually } from "@posthaste/testkit/eventually";
import { type Answer, type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, describe, expect, it } from "vitest";
import { AnalyticsError } from "../src/errors.ts";
import { createFakeEnvironment, type FakeEnvironment } from "./support/fake-environment.ts";
import {
  type BatchCase,
  createVectorClient,
  makeCall,
  type RefusalCase,
  type RetryCase,
  readVectors,
  type VectorAnswer,
} from "./support/vectors.ts";

const SUCCESS: Answer = { body: '{"success": true}' };
let server: Receiver;

afterEach(() => server.close());

describe("batches", () => {
  const { now, cases } = readVectors<BatchCase>("batches");

  it.each(cases)("$name", async (vector) => {
    server = await startReceiver({ script: SUCCESS });
    const environment = createFakeEnvironment(now);
    await runSteps(vector, environment);
    const bodies = server.requests.map(({ body }) => describeBody(body));
    // Only the fields that the vector has of a request, but all of these.
    const described = vector.requests.map((expected, index) =>
      Object.fromEntries(Object.entries(bodies[index] ?? {}).filter(([key]) => key in expected)),
    );
    expect(described).toEqual(vector.requests);
    expect(bodies).toHaveLength(vector.requests.length);
  });
});

describe("refusals", () => {
  const { now, cases } = readVectors<RefusalCase>("refusals");

  it.each(cases)("$name", async (vector) => {
    server = await startReceiver({ script: SUCCESS });
    const client = createVectorClient({ endpoint: server.url }, createFakeEnvironment(now));
    const { code, field, message } = vector.error;
    expect(refusalOf(() => makeCall(client, vector))).toMatchObject({ code, field: field ?? undefined, message });
    await client.close();
    expect(server.requests).toEqual([]);
  });
});

describe("answers", () => {
  const { now, cases } = readVectors<RetryCase>("retries");

  it.each(cases)("$name", async (vector) => {
    const [first, ...others] = vector.answers;
    server = await startReceiver({ script: [toAnswer(first), ...others.map(toAnswer)] });
    const environment = createFakeEnvironment(now);
    const delivered: string[] = [];
    const errors: unknown[] = [];
    const client = createVectorClient(
      {
        ...vector.options,
        endpoint: server.url,
        flushAt: vector.calls,
        onSuccess: (messages) => delivered.push(...messages.map(({ messageId }) => messageId)),
        onError: ({ code, message, status, serverCode, attempts }, messages) => {
          errors.push({
            code,
            message,
            status,
            serverCode,
            attempts,
            messages: messages.map((call) => call.messageId),
          });
        },
      },
      environment,
    );
    for (let count = 0; count < vector.calls; count += 1) client.track({ userId: "u1", event: "E" });
    for (const delayMs of vector.delaysMs) {
      await eventually(() => expect(environment.pendingDelaysMs()).toEqual([delayMs]));
      environment.advance(delayMs);
    }
    await client.flush();
    expect({ delivered, errors }).toEqual({ delivered: vector.delivered, errors: vector.errors });
    expect(server.requests).toHaveLength(vector.delaysMs.length + 1);
    if (vector.sentAt) expect(server.requests.map(({ body }) => describeBody(body).sentAt)).toEqual(vector.sentAt);
  });
});

async function runSteps({ options, steps }: BatchCase, environment: FakeEnvironment): Promise<void> {
  const client = createVectorClient({ ...options, endpoint: server.url }, environment);
  for (const step of steps) {
    if ("call" in step) for (let count = step.repeat ?? 1; count > 0; count -= 1) makeCall(client, step);
    else if ("advanceMs" in step) environment.advance(step.advanceMs);
    else if ("awaitRequests" in step) await eventually(() => expect(server.requests).toHaveLength(step.awaitRequests));
    else if ("flush" in step) await client.flush();
    else await client.close();
  }
  await client.close();
}

function describeBody(body: Buffer) {
  const { batch, sentAt, ...rest } = JSON.parse(body.toString("utf8"));
  expect(rest).toEqual({});
  return { bytes: body.length, sentAt, count: batch.length, messages: batch };
}

function refusalOf(call: () => void): AnalyticsError {
  try {
    call();
  } catch (error) {
    if (error instanceof AnalyticsError) return error;
    throw error;
  }
  throw new Error("the call was taken");
}

function toAnswer({ status = 200, headers = {}, body = "", reset }: VectorAnswer): Answer {
  return reset ? { fault: "reset" } : { status, headers, body };
}
