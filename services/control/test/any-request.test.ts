/**
 * Requests of any kind, made from `/openapi.json`, by nobody and by a token of each scope: nothing fails, nothing is
 * done without a token, and nothing beyond a scope.
 */
import { SCOPES } from "@posthaste/core/access/scope";
import { scopesOf } from "@posthaste/http-kit/caller";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { topicTexts } from "@posthaste/testbed/topic-texts";
import { eventually } from "@posthaste/testkit/eventually";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTE_NEEDS } from "../src/configuration/access/route-needs.ts";
import { EXAMPLES } from "../src/examples/examples.ts";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";
import { type DescribedOperation, describedOperations } from "./described-operations.ts";

/** Of each operation and caller. */
const RUNS = process.env["POSTHASTE_LONG"] === "true" ? 8 : 2;
/** Runs of `openSession`, which counts wrong codes: four callers together stay below ten. */
const WRONG_CODES = 2;

/** Topics of this file alone: random requests stop users, purge dead letters and leave replays. */
let topics: TestTopics;
let control: TestControl;

/** No answer, no line of the log and no topic may hold these secrets. */
const secrets = [ADMIN_TOKEN, "header-value-s3cret", "shared-s3cret-of-some-length"];
/** Control answers the write key only to callers with the scope `write`. */
let writeKey: string;

let operations: readonly DescribedOperation[];
/** By scope; without a scope nobody. */
const callers = new Map<string, string>([["", ""]]);

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics);
  operations = await describedOperations(control);
  const source = (await control.call("POST", "/v1/sources", { name: "Web", kind: "web" })).body;
  writeKey = source.writeKey;
  const urls = [{ url: "http://127.0.0.1:1/hook", headers: { "X-Key": "header-value-s3cret" } }];
  const settings = { sharedSecret: "shared-s3cret-of-some-length", urls };
  const input = { type: "Webhooks", name: "CRM", sourceIds: [source.id], settings };
  expect((await control.call("POST", "/v1/destinations", input)).status).toBe(201);
  for (const scope of SCOPES) {
    const { body } = await control.call("POST", "/v1/tokens", { name: scope, scopes: [scope] });
    callers.set(scope, `Bearer ${body.token}`);
    secrets.push(body.token);
  }
});

afterAll(async () => {
  const { names } = topics;
  const kept = await Promise.all(
    [names.tokens, names.audit, names.destinationConfig].map((each) => topicTexts(topics, each)),
  );
  const written = `${control.logged()} ${kept.flat().join(" ")}`;
  expect(kept.flat().length).toBeGreaterThan(20);
  for (const secret of secrets) expect([secret, written.includes(secret)]).toEqual([secret, false]);
  expect(`${control.logged()} ${kept[1]?.join(" ")}`).not.toContain(writeKey);
  await control.stop();
  await topics.remove();
});

interface AnyRequest {
  readonly path: string;
  readonly body: string | undefined;
}

/** Text that may stand in a path as it is. */
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((each) => !/^\.{1,2}$/.test(each));

/** A request that is somewhere between the operation's example and nonsense. */
function requests({ operationId, method, path, parameters = [] }: DescribedOperation): fc.Arbitrary<AnyRequest> {
  const example = EXAMPLES[operationId] ?? {};
  const inPath = parameters.filter((each) => each.in === "path").map(({ name }) => name);
  const inQuery = parameters.filter((each) => each.in === "query").map(({ name }) => name);
  const param = (name: string) => fc.oneof(text, fc.constant(example.params?.[name] ?? "x"));
  const query = (name: string) => fc.oneof(text, fc.constant(example.query?.[name] ?? "1"));
  const body = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constant(example.body),
    fc
      .tuple(fc.constantFrom(...Object.keys(example.body ?? { none: 1 })), fc.jsonValue({ maxDepth: 1 }))
      .map(([name, value]) =>
        Array.isArray(example.body) ? [...example.body, value] : { ...Object(example.body), [name]: value },
      ),
  );
  return fc
    .record({
      params: fc.record(Object.fromEntries(inPath.map((name) => [name, param(name)]))),
      asked: fc.record(Object.fromEntries(inQuery.map((name) => [name, query(name)])), { requiredKeys: [] }),
      body,
    })
    .map(({ params, asked, body: sent }) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
      const search = new URLSearchParams(
        Object.entries(asked).map(([name, value]): [string, string] => [name, String(value)]),
      );
      return {
        path: search.size === 0 ? filled : `${filled}?${search}`,
        body: method === "GET" ? undefined : JSON.stringify(sent),
      };
    });
}

describe.each(["", ...SCOPES])("by a token with the scope %j alone", (scope) => {
  it.each(Object.keys(ROUTE_NEEDS))(
    "%s is done, refused or forbidden as the table says, whatever is asked",
    async (operationId) => {
      const operation = operations.find((each) => each.operationId === operationId);
      if (operation === undefined) throw new Error(`the description has no ${operationId}`);
      const need = ROUTE_NEEDS[operationId] ?? "none";
      const enough: readonly string[] = scopesOf(need);
      const isOpen = need === "none";
      const may = isOpen || (scope !== "" && (need === "any" || enough.includes(scope)));
      await fc.assert(
        fc.asyncProperty(requests(operation), async ({ path, body }) => {
          const authorization = callers.get(scope) ?? "";
          // Brokers that stand still with the machine are told by 503: it is asked again then, and not for ever.
          const answer = await eventually(async () => {
            const given = await control.call(operation.method, path, body, { authorization });
            expect(given.status).not.toBe(503);
            return given;
          });
          const { status, headers, body: reported, text: sent } = answer;
          if (!may) expect(status).toBe(scope === "" ? 401 : 403);
          else if (!isOpen) expect(status).not.toBe(401);
          expect(status).toBeLessThan(500);
          for (const secret of secrets) expect(sent).not.toContain(secret);
          if (scope !== "write") expect(sent).not.toContain(writeKey);
          if (status < 400) return;
          expect(reported).toMatchObject({ status, requestId: headers.get("x-request-id") });
        }),
        { numRuns: operationId === "openSession" ? WRONG_CODES : RUNS },
      );
    },
  );
});
