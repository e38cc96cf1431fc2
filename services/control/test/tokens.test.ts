/** Tokens over two control processes that share a broker. */

import { SCOPES, type Scope } from "@posthaste/core/access/scope";
import { scopesOf } from "@posthaste/http-kit/caller";
import { topicTexts } from "@posthaste/testbed/topic-texts";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTE_NEEDS } from "../src/configuration/access/route-needs.ts";
import { ADMIN_TOKEN, type Answer, startTestControl, type TestControl } from "./control.ts";
import { type DescribedOperation, describedOperations } from "./described-operations.ts";
import { control, other, topics, useControls } from "./use-control.ts";

let one: TestControl;
let two: TestControl;
/** Every token that was made here. */
const secrets: string[] = [ADMIN_TOKEN];

useControls();

beforeAll(() => {
  [one, two] = [control, other];
});

afterAll(async () => {
  const kept = await topicTexts(topics, topics.names.tokens);
  expect(kept.length).toBeGreaterThan(5);
  for (const secret of secrets) {
    expect(one.logged() + two.logged()).not.toContain(secret);
    expect(kept.join("\n")).not.toContain(secret);
  }
});

interface Made {
  readonly id: string;
  readonly authorization: string;
}

async function make(scopes: readonly Scope[], by: Record<string, string> = {}): Promise<Made> {
  const { status, body } = await one.call("POST", "/v1/tokens", { name: scopes.join(" "), scopes }, by);
  expect(status).toBe(201);
  secrets.push(body.token);
  return { id: body.id, authorization: `Bearer ${body.token}` };
}

const operations = () => describedOperations(one);

/** Asks for an operation in a way that no state allows. */
function ask(
  { method, path }: Pick<DescribedOperation, "method" | "path">,
  headers: Record<string, string>,
  body: unknown = { unknown: 1 },
) {
  const url = path.replaceAll(/\{\w+\}/g, "no-such-thing");
  return two.call(method, url, method === "GET" || method === "DELETE" ? undefined : body, headers);
}

describe("a token", () => {
  it("is told once, and opens another process at once", async () => {
    const { id, authorization } = await make(["read"]);
    expect((await two.call("GET", "/v1/sources", undefined, { authorization })).status).toBe(200);
    const { body, text } = await two.call("GET", "/v1/tokens", undefined, { authorization });
    expect(body).toMatchObject({ complete: true, asOf: expect.any(String) });
    expect(body.data).toContainEqual({
      id,
      name: "read",
      scopes: ["read"],
      createdAt: expect.any(String),
      createdBy: "admin",
      linkUntil: null,
      sessionUsedAt: null,
      usedAt: expect.any(String),
    });
    expect(text).not.toContain(authorization.slice("Bearer ".length));
  });

  it("is told as never used until its text was, and elsewhere from when that was written", async () => {
    const { id, authorization } = await make(["read"]);
    const usedAt = async (control: TestControl) =>
      (await control.call("GET", "/v1/tokens?limit=200")).body.data.find((each: Made) => each.id === id)?.usedAt;
    expect(await usedAt(one)).toBeNull();
    await one.call("GET", "/v1/sources", undefined, { authorization });
    expect(await usedAt(one)).toEqual(expect.any(String));
    await eventually(async () => expect(await usedAt(two)).toEqual(expect.any(String)));
  });

  it("is refused where it was revoked from the answer on, and elsewhere as soon as that is read", async () => {
    const { id, authorization } = await make(["read"]);
    const statusAt = async (control: TestControl) =>
      (await control.call("GET", "/v1/sources", undefined, { authorization })).status;
    expect(await statusAt(two)).toBe(200);
    expect((await one.call("DELETE", `/v1/tokens/${id}`)).status).toBe(204);
    expect(await statusAt(one)).toBe(401);
    await eventually(async () => expect(await statusAt(two)).toBe(401));
    expect((await one.call("DELETE", `/v1/tokens/${id}`)).status).toBe(404);
  });

  it("makes none that may do more than itself", async () => {
    const { authorization } = await make(["read", "write"]);
    const more = { name: "more", scopes: ["read", "replay"] };
    const { status, body } = await one.call("POST", "/v1/tokens", more, { authorization });
    expect([status, body.detail]).toEqual([403, "your token has not the scope replay: it can make none that has"]);
    const own = await make(["write"], { authorization });
    const { body: listed } = await one.call("GET", "/v1/tokens?limit=200");
    expect(listed.data.find(({ id }: Made) => id === own.id)).toMatchObject({ createdBy: "read write" });
  });

  it.each([
    ["without a scope", { name: "x", scopes: [] }, "scopes: expected one scope at least"],
    [
      "with a scope that there is not",
      { name: "x", scopes: ["all"] },
      "scopes[0]: expected one of read, write, replay",
    ],
    ["without a name", { name: " ", scopes: ["read"] }, "name: expected a name"],
  ])("is not made %s", async (_, input, detail) => {
    const { status, body } = await one.call("POST", "/v1/tokens", input);
    expect([status, body.detail]).toEqual([400, detail]);
  });
});

describe("every operation", () => {
  it("is in the table of what it needs, and the description says the same", async () => {
    const described = (await operations()).map(({ operationId, security }): [string, readonly string[]] => [
      operationId,
      security.flatMap(({ token }) => token),
    ]);
    const table = Object.entries(ROUTE_NEEDS).map(([operation, need]) => [operation, scopesOf(need)]);
    expect(described.sort()).toEqual(table.sort());
  });

  it("is refused without a token, with 401", async () => {
    for (const operation of await operations()) {
      const { status } = await ask(operation, { authorization: "" });
      const isOpen = ROUTE_NEEDS[operation.operationId] === "none";
      expect([operation.operationId, status]).toEqual([operation.operationId, isOpen ? 400 : 401]);
    }
  });

  it.each(SCOPES)("is refused to a token with the scope %s alone that needs another, with its name", async (scope) => {
    const { authorization } = await make([scope]);
    for (const operation of await operations()) {
      const need = ROUTE_NEEDS[operation.operationId] ?? "none";
      const { status, body } = await ask(operation, { authorization });
      const named = [operation.operationId, status, body?.detail];
      const isEnough = need === "none" || need === "any" || need === scope;
      if (isEnough || (typeof need === "object" && need.scope === scope)) {
        expect([operation.operationId, [401, 403].includes(status)]).toEqual([operation.operationId, false]);
      } else {
        const wanted = typeof need === "object" ? need.scope : need;
        expect(named).toEqual([operation.operationId, 403, `this needs a token with the scope ${wanted}`]);
      }
    }
  });

  it("that has a dry run does that for a token that may read", async () => {
    const { authorization } = await make(["read"]);
    for (const path of ["/v1/replays", "/v1/unreadable/reproduce"]) {
      // A control that has just started may still open the projections of a dry run: it answers 503 meanwhile.
      await eventually(async () => {
        const dry = await one.call("POST", path, { dryRun: true }, { authorization });
        expect([path, [200, 202].includes(dry.status)]).toEqual([path, true]);
      });
      const wet = await one.call("POST", path, { dryRun: false }, { authorization });
      expect([path, wet.status]).toEqual([path, 403]);
    }
  });
});

it("a write key shows four characters to who may change nothing, wherever it stands", async () => {
  const { id, writeKey } = (await one.call("POST", "/v1/sources", { name: "web", kind: "web" })).body;
  const rotated = (await one.call("POST", `/v1/sources/${id}/write-key`, { oldKeySeconds: 60 })).body;
  const { authorization } = await make(["read", "replay"]);
  const answers: Answer[] = [];
  for (const path of ["/v1/sources?limit=200", `/v1/sources/${id}`]) {
    answers.push(await one.call("GET", path, undefined, { authorization }));
  }
  expect(answers[1]?.body).toMatchObject({
    writeKey: `${rotated.writeKey.slice(0, 4)}…`,
    oldWriteKeys: [{ writeKey: `${writeKey.slice(0, 4)}…` }],
  });
  for (const { text } of answers) {
    expect(text).not.toContain(writeKey);
    expect(text).not.toContain(rotated.writeKey);
  }
  expect((await one.call("GET", `/v1/sources/${id}`)).body.writeKey).toBe(rotated.writeKey);
});

it("ten wrong tokens and codes a minute from one address: what it sends then is refused unread, with a time", async () => {
  const guessed = await startTestControl(topics);
  const statusWith = (token: string) =>
    guessed.call("GET", "/v1/sources", undefined, { authorization: `Bearer ${token}` });
  const open = (body: object) => guessed.call("POST", "/v1/session", body, { authorization: "" });
  const beganAt = performance.now();
  for (let n = 0; n < 9; n += 1) expect((await statusWith(`wrong-${n}`)).status).toBe(401);
  // One that cannot be looked up on a busy machine does not count.
  await eventually(async () => expect((await open({ code: "wrong" })).status).toBe(401));
  for (const token of ["wrong-11", ADMIN_TOKEN]) {
    const { status, headers, body } = await statusWith(token);
    expect([status, body.type]).toEqual([429, "urn:posthaste:problem:too-many-requests"]);
    const passedS = (performance.now() - beganAt) / 1000;
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(60 - passedS);
    expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
  }
  const { body: made } = await one.call("POST", "/v1/session/link");
  expect((await open({ code: made.link.split("=")[1] })).status).toBe(429);
  expect((await guessed.call("GET", "/v1/sources", undefined, { authorization: "" })).status).toBe(401);
  await guessed.stop();
});
