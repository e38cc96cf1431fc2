/**
 * Rules: NH1 of late-records.ts and CS3 of token-callers.ts, over two control processes. When the second is asked
 * about a record of the first, the second has not read the record yet.
 */

import { createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, startTestControl, type TestControl } from "./control.ts";
import { beforeItIsRead, withLateReading } from "./late-tables.ts";

vi.mock("@posthaste/kafka/log/table", async (load) => {
  const { withLateTables } = await import("./late-tables.ts");
  return withLateTables(await load<typeof import("@posthaste/kafka/log/table")>());
});

let topics: TestTopics;
let first: TestControl;
/** Which hears late. */
let other: TestControl;

beforeAll(async () => {
  topics = await createTestTopics("control");
  first = await startTestControl(topics);
  other = await withLateReading(() => startTestControl(topics));
});

afterAll(async () => {
  await Promise.all([first.stop(), other.stop()]);
  await topics.remove();
});

/** Makes a resource at the first process, and returns the body of the answer. */
async function make(path: string, body: object): Promise<Answer["body"]> {
  const answer = await first.call("POST", path, body);
  if (answer.status > 299) throw new Error(answer.text);
  return answer.body;
}

const makeSource = () => make("/v1/sources", { name: "Web shop", kind: "web" });
const settings = { urls: [{ url: "http://127.0.0.1:9/hook" }] };
const destinationOf = (sourceIds: readonly string[]) => ({
  ...{ type: "Webhooks", name: "Billing", sourceIds, enabled: false, settings },
});
const makeDestination = () => make("/v1/destinations", destinationOf([]));
const makeAudience = async () => make("/v1/audiences", { name: "Readers", sourceId: (await makeSource()).id });
const userOf = (sourceId: string) => ({ userIds: ["user-1"], sourceIds: [sourceId], suppress: false });

async function makePlan(purpose: "replay" | "purge"): Promise<Answer["body"]> {
  return make(`/v1/dead-letters/${purpose}`, { dryRun: true, ...(purpose === "replay" ? { again: true } : {}) });
}

interface Case {
  readonly make: () => Promise<Answer["body"]>;
  /** The request to the other process. */
  readonly asks: (made: Answer["body"]) => readonly [method: string, path: string, body?: unknown];
  readonly status: number;
}

const CASES: Readonly<Record<string, Case>> = {
  "a source": { make: makeSource, asks: ({ id }) => ["GET", `/v1/sources/${id}`], status: 200 },
  "a source's calls": { make: makeSource, asks: ({ id }) => ["GET", `/v1/sources/${id}/calls`], status: 200 },
  "a source's call to try": {
    make: makeSource,
    asks: ({ id }) => ["POST", `/v1/sources/${id}/sample`, {}],
    status: 200,
  },
  "the stream of a source's calls": {
    make: makeSource,
    asks: ({ id }) => ["GET", `/v1/live?topics=calls&sourceId=${id}`],
    status: 200,
  },
  "suppressions of a source": {
    make: makeSource,
    asks: ({ id }) => ["GET", `/v1/suppressions?userId=u&sourceId=${id}`],
    status: 200,
  },
  "a destination of a source": {
    make: makeSource,
    asks: ({ id }) => ["POST", "/v1/destinations", destinationOf([id])],
    status: 201,
  },
  "a deletion request of a source": {
    make: makeSource,
    asks: ({ id }) => ["POST", "/v1/deletions", userOf(id)],
    status: 202,
  },
  "an audience of a source": {
    make: makeSource,
    asks: ({ id }) => ["POST", "/v1/audiences", { name: "Buyers", sourceId: id }],
    status: 201,
  },
  "a computed trait of a source": {
    make: makeSource,
    asks: ({ id }) => ["PUT", "/v1/computed-traits/Visits", { sourceId: id, values: { "user-1": 3 } }],
    status: 200,
  },
  "a destination": { make: makeDestination, asks: ({ id }) => ["GET", `/v1/destinations/${id}`], status: 200 },
  "a test of a destination": {
    make: makeDestination,
    asks: ({ id }) => ["POST", `/v1/destinations/${id}/test`, {}],
    status: 200,
  },
  "a test of settings over a destination's": {
    make: makeDestination,
    asks: ({ id }) => ["POST", "/v1/destinations/test", { settings, destinationId: id }],
    status: 200,
  },
  "a test receiver of a destination": {
    make: makeDestination,
    asks: ({ id }) => ["POST", "/v1/test-receivers", { destinationId: id }],
    status: 201,
  },
  "a destination's health": {
    make: makeDestination,
    asks: ({ id }) => ["GET", `/v1/health/destinations/${id}`],
    status: 200,
  },
  "a destination's series": {
    make: makeDestination,
    asks: ({ id }) => ["GET", `/v1/destinations/${id}/series?metric=outcomes`],
    status: 200,
  },
  "an audience": { make: makeAudience, asks: ({ id }) => ["GET", `/v1/audiences/${id}`], status: 200 },
  "a member": { make: makeAudience, asks: ({ id }) => ["GET", `/v1/audiences/${id}/members/user-1`], status: 200 },
  "changes of an audience": {
    make: makeAudience,
    asks: ({ id }) => ["PATCH", `/v1/audiences/${id}/members`, { add: ["user-1"] }],
    status: 200,
  },
  "the whole of an audience": {
    make: makeAudience,
    asks: ({ id }) => ["PUT", `/v1/audiences/${id}/members`, ["user-1"]],
    status: 200,
  },
  "the end of an audience": { make: makeAudience, asks: ({ id }) => ["DELETE", `/v1/audiences/${id}`], status: 204 },
  "the end of a computed trait": {
    make: async () => {
      const { id: sourceId } = await makeSource();
      await first.call("PUT", "/v1/computed-traits/Visits", { sourceId, values: { "user-1": 3 } });
      return sourceId;
    },
    asks: (sourceId) => ["DELETE", `/v1/computed-traits/Visits?sourceId=${sourceId}`],
    status: 204,
  },
  "a deletion request": {
    make: async () => make("/v1/deletions", userOf((await makeSource()).id)),
    asks: ({ id }) => ["GET", `/v1/deletions/${id}`],
    status: 200,
  },
  "a plan": {
    make: () => makePlan("replay"),
    asks: ({ plan }) => ["GET", `/v1/replays/${plan}`],
    status: 200,
  },
  "the start of a plan": {
    make: () => makePlan("replay"),
    asks: ({ plan }) => ["POST", "/v1/replays", { plan }],
    status: 202,
  },
  // Which is refused, since nobody started it.
  "the end of a plan": {
    make: () => makePlan("replay"),
    asks: ({ plan }) => ["POST", `/v1/replays/${plan}/cancel`],
    status: 409,
  },
  "a purge's plan": {
    make: () => makePlan("purge"),
    asks: ({ plan }) => ["POST", "/v1/dead-letters/purge", { plan }],
    status: 202,
  },
};

/** Repeats a request while a projection is not read yet: such an answer says nothing of the new record. */
async function whenRead(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503 || !/: not read yet: try again soon$/.test(answer.body.detail)) return answer;
  }
}

describe("NH1: what another process made a moment ago is there", () => {
  beforeAll(async () => {
    const { id } = await make("/v1/destinations", { ...destinationOf([]), enabled: true });
    const deadLetters = [1, 2].map((n) => deadLetterAt(n, { destinationId: id }));
    await (await createLogWriter(topics)).deadLetters(deadLetters);
  });

  it.each(Object.entries(CASES))("%s", async (_, { make: write, asks, status }) => {
    const answer = await beforeItIsRead(write, (made) => whenRead(() => other.call(...asks(made))));
    expect(answer.status, answer.text).toBe(status);
  });
});

const cookieAt = ({ url }: TestControl, code: string) => ({
  cookie: `posthaste-session-${new URL(url).port}=${code}`,
  authorization: "",
});

/** The code of a session that the first process opens. */
async function openSession(): Promise<string> {
  const { headers } = await first.call("POST", "/v1/session", await keyOf());
  return /=(\w+);/.exec(headers.get("set-cookie") ?? "")?.[1] ?? "";
}

async function keyOf(): Promise<{ readonly code: string }> {
  const { link } = await make("/v1/session/link", {});
  return { code: link.split("#sign-in=")[1] };
}

const statusWith = async (code: string) =>
  (await other.call("GET", "/v1/sources", undefined, cookieAt(other, code))).status;

describe("CS3: what opens another process opens this one", () => {
  it("a session", async () => {
    expect(await beforeItIsRead(openSession, statusWith)).toBe(200);
  });

  it("a sign-in link", async () => {
    const answer = await beforeItIsRead(keyOf, (key) => other.call("POST", "/v1/session", key));
    expect(answer.status, answer.text).toBe(201);
  });

  it("a token", async () => {
    const answer = await beforeItIsRead(
      () => make("/v1/tokens", { name: "dana", scopes: ["read"] }),
      ({ token }) => other.call("GET", "/v1/sources", undefined, { authorization: `Bearer ${token}` }),
    );
    expect(answer.status, answer.text).toBe(200);
  });
});
