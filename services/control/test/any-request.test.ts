/**
 * Requests of any kind, made from `/openapi.json`, by nobody and by a token of each scope: nothing fails, nothing is
 * done without a token, and nothing beyond a scope.
 */
import { SCOPES } from "@posthaste/core/access/scope";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { ROUTE_NEEDS } from "../src/access/route-needs.ts";
import { EXAMPLES } from "../src/examples/examples.ts";
import { scopesOf } from "../src/http/admit.ts";
import { type DescribedOperation, describedOperations } from "./described-operations.ts";
import { control, useControl } from "./use-control.ts";

useControl();

/** Of each operation and caller. */
const RUNS = 8;

let operations: readonly DescribedOperation[];
/** By scope; without a scope nobody. */
const callers = new Map<string, string>([["", ""]]);

beforeAll(async () => {
  operations = await describedOperations(control);
  for (const scope of SCOPES) {
    const { body } = await control.call("POST", "/v1/tokens", { name: scope, scopes: [scope] });
    callers.set(scope, `Bearer ${body.token}`);
  }
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
          const {
            status,
            headers,
            body: told,
          } = await control.call(operation.method, path, body, {
            authorization: callers.get(scope) ?? "",
          });
          if (!may) expect(status).toBe(scope === "" ? 401 : 403);
          else if (!isOpen) expect(status).not.toBe(401);
          expect(status).toBeLessThan(500);
          if (status < 400) return;
          expect(told).toMatchObject({ status, requestId: headers.get("x-request-id") });
        }),
        { numRuns: RUNS },
      );
    },
  );
});
