import fc from "fast-check";
import { expect, it } from "vitest";
import { parseBatch } from "./batch.ts";
import { isJsonObject } from "./json-fragment.ts";
import { parseJson } from "./parse-json.ts";

const MAX_SHARED = 1_000;

it("takes what stands beside the calls for all of them", () => {
  const parsed = parseBatch(
    {
      batch: [{ type: "track" }, 3],
      context: { a: 1 },
      integrations: { All: false },
      sentAt: "2026-11-21T03:24:21+0000",
      messageId: "the batch's own",
    },
    MAX_SHARED,
  );
  expect(parsed).toMatchObject({
    accepted: true,
    batch: {
      calls: [{ type: "track" }, 3],
      context: { json: `{"a":1}` },
      integrations: { enabled: { All: false } },
      sentAtMs: Date.UTC(2026, 10, 21, 3, 24, 21),
    },
  });
});

it.each([[{ batch: null }], [{ batch: [], context: null, integrations: null, sentAt: null }]])(
  "takes %j for a batch of none",
  (body) => {
    expect(parseBatch(body, MAX_SHARED)).toMatchObject({
      accepted: true,
      batch: { calls: [], context: null, sentAtMs: null },
    });
  },
);

it.each([
  [{}, `"batch" must be an array of calls.`],
  [{ batch: {} }, `"batch" must be an array of calls.`],
  [{ batch: [], context: [] }, `"context" must be an object.`],
  [{ batch: [], integrations: false }, `"integrations" must be an object.`],
])("refuses %j and says what to change", (body, message) => {
  expect(parseBatch(body, MAX_SHARED)).toEqual({ accepted: false, refusal: { code: "invalid_field", message } });
});

it("takes or refuses any JSON object, and never throws", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const body: unknown = parseJson(text);
      if (isJsonObject(body)) expect(typeof parseBatch({ batch: [], ...body }, MAX_SHARED).accepted).toBe("boolean");
    }),
  );
});

it.each(["context", "integrations"])("refuses a batch whose %s is too large or nests too deep for a call", (name) => {
  const refusalOf = (shared: unknown) => parseBatch({ batch: [], [name]: shared }, MAX_SHARED);
  const empty = JSON.stringify({ a: "" }).length;
  expect(refusalOf({ a: "x".repeat(MAX_SHARED - empty) })).toMatchObject({ accepted: true });
  expect(refusalOf({ a: "x".repeat(MAX_SHARED - empty + 1) })).toMatchObject({ refusal: { code: "shared_too_large" } });
  const nested = (levels: number) => parseJson(`${`{"a":`.repeat(levels)}1${"}".repeat(levels)}`);
  expect(refusalOf(nested(99))).toMatchObject({ accepted: true });
  expect(refusalOf(nested(100))).toMatchObject({ refusal: { code: "nested_too_deep" } });
  expect(refusalOf(nested(40_000))).toMatchObject({ refusal: { code: "nested_too_deep" } });
});
