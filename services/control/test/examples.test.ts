/** Tries every example of `/openapi.json`: the request succeeds, and the answer has the shape of the example. */

import { attemptAt, createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXAMPLES } from "../src/examples/examples.ts";
import { ADMIN_TOKEN, type Answer, startTestControl, type TestControl } from "./control.ts";
import { type DescribedOperation, describedOperations } from "./described-operations.ts";

/** Its own: some examples leave replays that never end. */
let topics: TestTopics;
let control: TestControl;

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics);
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const post = async (path: string, body?: unknown) => (await control.call("POST", path, body)).body;
const makeSource = async () => (await post("/v1/sources", { name: "Web shop", kind: "web" })).id;

async function makeDestination(): Promise<string> {
  const settings = { sharedSecret: "0123456789-0123456789", urls: [{ url: "http://127.0.0.1:1/hook" }] };
  const input = { type: "Webhooks", name: "Billing", sourceIds: [await makeSource()], settings };
  return (await post("/v1/destinations", input)).id;
}

/** With an attempt that failed, and a dead letter. */
async function makeDeadDestination(): Promise<string> {
  const destinationId = await makeDestination();
  const writer = await createLogWriter(topics);
  const urls = [
    { url: "http://127.0.0.1:1/hook", status: 400, error: null, durationMs: 12.3, answer: "unknown field" },
  ];
  await writer.attempts([attemptAt(1, { destinationId, outcome: "permanent", urls })]);
  await writer.deadLetters([deadLetterAt(1, { destinationId })]);
  return destinationId;
}

async function makeDeadLetter(): Promise<string> {
  const destinationId = await makeDeadDestination();
  return eventually(async () => {
    const { body } = await control.call("GET", `/v1/dead-letters?destinationId=${destinationId}`);
    return body.data[0].place;
  });
}

async function makeReplay(): Promise<string> {
  const destinationId = await makeDeadDestination();
  return eventually(async () => {
    // So slow that it can still be paused.
    const { id } = await post("/v1/replays", { destinationId, ratePerSecond: 0.001 });
    expect(id).toMatch(/^rpl_/);
    return id;
  });
}

/** Ids in the examples that need a real resource, each with a function that makes the resource. */
const MADE: Readonly<Record<string, () => Promise<string>>> = {
  src_4k2v8m1n0p3q5r7s: makeSource,
  dst_4k2v8m1n0p3q5r7s: makeDeadDestination,
  aud_4k2v8m1n0p3q5r7s: async () => (await post("/v1/audiences", { name: "Made", sourceId: await makeSource() })).id,
  del_4k2v8m1n0p3q5r7s: async () => (await post("/v1/deletions", { userId: "user-7" })).id,
  tok_4k2v8m1n0p3q5r7s: async () => (await post("/v1/tokens", { name: "made", scopes: ["read"] })).id,
  rpl_4k2v8m1n0p3q5r7s: makeReplay,
  rcv_4k2v8m1n0p3q5r7s: async () => (await post("/v1/test-receivers", {})).id,
  "3:1042": makeDeadLetter,
  "4k2v8m1n0p3q5r7s4k2v8m1n0p3q5r7s": async () => (await post("/v1/session/link")).link.split("=")[1],
};

/** Further steps before the request of an operation. */
const BEFORE: Readonly<Record<string, (asked: Asked) => Promise<unknown>>> = {
  switchSecret: ({ path }) => nameNext(path),
  undoRotation: ({ path }) => nameNext(path),
  retireSecret: async ({ path }) => {
    await nameNext(path);
    await post(path.replace("retire", "switch"));
  },
  resumeReplay: ({ path }) => post(path.replace("resume", "pause")),
  ...Object.fromEntries(
    ["listDeliveries", "listLatestDeliveries", "listDeadLetters", "countDeadLetters", "groupDeadLetters"].map(
      (operation) => [
        operation,
        ({ path }: Asked) =>
          eventually(async () => expect((await control.call("GET", path)).body.data).not.toEqual([])),
      ],
    ),
  ),
  getDeliveryRecord: ({ path }) => eventually(async () => expect((await control.call("GET", path)).status).toBe(200)),
  resendDelivery: ({ body }) =>
    eventually(async () => {
      const { messageId, destinationId } = body as { readonly messageId: string; readonly destinationId: string };
      const path = `/v1/deliveries/record?messageId=${messageId}&destinationId=${destinationId}`;
      expect((await control.call("GET", path)).status).toBe(200);
    }),
  listAudit: async () => control.call("PATCH", `/v1/sources/${await makeSource()}`, { name: "Shop" }),
  listSources: makeSource,
  listDestinations: makeDestination,
  listTokens: () => post("/v1/tokens", { name: "made", scopes: ["read"] }),
  listReplays: makeReplay,
  listAudiences: async () => post("/v1/audiences", { name: "Made", sourceId: await makeSource() }),
  listComputedTraits: async () =>
    control.call("PUT", "/v1/computed-traits/lifetime_value", { sourceId: await makeSource(), values: { ada: 1 } }),
  removeComputedTrait: ({ path }) => {
    const [at = "", query] = path.split("?");
    const sourceId = new URLSearchParams(query).get("sourceId");
    return control.call("PUT", at, { sourceId, values: { ada: 1 } });
  },
};

const nameNext = (path: string) =>
  post(path.replace(/\w+$/, "next"), { sharedSecret: "the-next-secret-of-32-characters" });

interface Asked {
  readonly operationId: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: unknown;
}

let operations: readonly DescribedOperation[];
const operationIds = Object.keys(EXAMPLES);

beforeAll(async () => {
  operations = await describedOperations(control);
});

function described(operationId: string): DescribedOperation {
  const found = operations.find((each) => each.operationId === operationId);
  if (found === undefined) throw new Error(`the description has no ${operationId}`);
  return found;
}

/** The request of an example; makes the resources that the request names. */
async function requestOf(operationId: string): Promise<Asked> {
  const { method, path, parameters = [], requestBody } = described(operationId);
  const of = (place: string) =>
    parameters.flatMap(({ name, in: at, example }) =>
      at === place && example !== undefined ? [[name, example] as const] : [],
    );
  const filled = of("path").reduce((at, [name, value]) => at.replace(`{${name}}`, value), path);
  const query = new URLSearchParams(Object.fromEntries(of("query")));
  const body = requestBody?.content["application/json"].example;
  let asked = JSON.stringify({ operationId, method, path: query.size === 0 ? filled : `${filled}?${query}`, body });
  for (const [example, make] of Object.entries(MADE)) {
    if (asked.includes(example)) asked = asked.replaceAll(example, await make());
  }
  return JSON.parse(asked);
}

async function ask(asked: Asked): Promise<Answer> {
  await BEFORE[asked.operationId]?.(asked);
  return control.call(asked.method, asked.path, asked.body, await signedIn(asked));
}

/** Headers with a session's cookie, for the operation that only a session can request. */
async function signedIn({ operationId }: Asked): Promise<Record<string, string>> {
  if (operationId !== "endSession") return {};
  const { headers } = await control.call("POST", "/v1/session", { token: ADMIN_TOKEN });
  return { authorization: "", cookie: headers.get("set-cookie")?.split(";")[0] ?? "", origin: control.url };
}

/** Compares the fields and their types; a null or empty value fits anything. */
function fits(value: unknown, example: unknown): boolean {
  if (value === null || example === null) return true;
  if (Array.isArray(value) || Array.isArray(example)) {
    if (!Array.isArray(value) || !Array.isArray(example)) return false;
    return value.length === 0 || example.length === 0 || fits(value[0], example[0]);
  }
  if (typeof value !== "object" || typeof example !== "object") return typeof value === typeof example;
  const [fields, shown] = [Object.entries(value), new Map(Object.entries(example))];
  // A map of anything.
  if (shown.size === 0 || fields.length === 0) return true;
  return (
    fields.length === shown.size && fields.every(([name, field]) => shown.has(name) && fits(field, shown.get(name)))
  );
}

describe("an example", () => {
  it("is there for each operation", () => {
    const all = operations.map(({ operationId }) => operationId);
    expect(all.toSorted()).toEqual(operationIds.toSorted());
  });

  it.each(operationIds)("of %s works, and is answered as it says", async (operationId) => {
    const { responses } = described(operationId);
    const [status = "", response] = Object.entries(responses).find(([code]) => Number(code) < 300) ?? [];
    const answer = await ask(await requestOf(operationId));
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([Number(status), expect.anything()]);
    const content = response?.content?.["application/json"];
    if (content === undefined) return;
    expect([fits(answer.body, content.example), answer.body, content.example]).toEqual([
      true,
      expect.anything(),
      expect.anything(),
    ]);
  });
});
