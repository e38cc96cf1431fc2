/** Calls that nest too deep: work is counted, not timed. */
import { MAX_NESTING } from "@posthaste/core/call/json-fragment";
import { afterEach, expect, it, vi } from "vitest";
import { WRITE_KEY } from "./test-gateway.ts";
import { gateway, useGateway } from "./use-gateway.ts";

useGateway();
afterEach(() => {
  vi.restoreAllMocks();
});

it("calls that nest thousands of levels are refused, and serialised no deeper than two calls may be", async () => {
  const spy = vi.spyOn(JSON, "stringify");
  const call = (levels: number) =>
    `{"type":"track","userId":"u","event":"E","traits":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`;
  expect((await gateway.post("/v1/identify", call(8_500))).status).toBe(400);
  const answer = await gateway.post("/v1/batch", `{"batch":[${call(4_000)},${call(9)},${call(8_500)}]}`);
  expect(await answer.json()).toMatchObject({ rejected: [0, 2].map((index) => ({ index, code: "nested_too_deep" })) });
  const tooDeep = "[".repeat(2 * MAX_NESTING + 1);
  const texts = spy.mock.results.map(({ value }) => (value instanceof RangeError ? tooDeep : String(value)));
  expect(texts.filter((text) => text.includes(tooDeep))).toEqual([]);
});

it("calls of a large batch that nest too deep are not parsed, are kept without their key, and others are taken", async () => {
  const parse = vi.spyOn(JSON, "parse");
  const deep = `{"userId":"u","messageId":"m","writeKey":"${WRITE_KEY}","a":${"[".repeat(100)}${"]".repeat(100)}}`;
  const good = `{"type":"track","userId":"u","event":"E"}`;
  const answer = await gateway.post("/v1/batch", `{"batch":[${`${deep},`.repeat(150)}${good}]}`);
  const parsed = parse.mock.calls.map(([text]) => String(text));
  expect(parsed.filter((text) => text.includes("[[["))).toEqual([]);
  const rejected = Array.from({ length: 150 }, (_, index) => ({ index, code: "nested_too_deep" }));
  expect(await answer.json()).toMatchObject({ rejected });
  expect(gateway.events()).toMatchObject([{ userId: "u" }]);
  const kept = gateway.rejected().flatMap(({ calls }) => calls);
  expect(kept).toHaveLength(150);
  expect(kept[0]).toMatchObject({ code: "nested_too_deep", userKey: "u", messageId: "m" });
  expect(kept[0]?.callJson).toBe(deep.replace(`"writeKey":"${WRITE_KEY}",`, ""));
});
