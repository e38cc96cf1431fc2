import { parseJson } from "@posthaste/core/call/parse-json";
import type { RejectedCallEntry } from "@posthaste/core/call/rejected-call";
import { expect, it } from "vitest";
import { cutCallJson, packRejectedCalls, toCallJson } from "./rejected-calls.ts";

const entry = (index: number, size: number): RejectedCallEntry => ({
  rejectedAtMs: 0,
  code: "missing_user",
  message: "m",
  index,
  callJson: "x".repeat(size),
  messageId: "m".repeat(100),
  userKey: null,
  event: "e".repeat(100),
  single: false,
});

it("packs the rejects of a request into records that a broker takes, in order, none lost", () => {
  const entries = Array.from({ length: 2_500 }, (_, index) => entry(index, (index % 50) * 600));
  const records = packRejectedCalls("src", entries);
  expect(records.flatMap(({ calls }) => calls)).toEqual(entries);
  for (const { calls } of records) {
    expect(calls.length === 1 || calls.reduce((sum, { callJson }) => sum + callJson.length + 200, 0) <= 200_000).toBe(
      true,
    );
  }
});

it("makes no record of no rejects", () => {
  expect(packRejectedCalls("src", [])).toEqual([]);
});

it("keeps a call as text, cut, without its write key", () => {
  expect(toCallJson({ writeKey: "k", userId: "u" })).toBe(`{"userId":"u"}`);
  expect(cutCallJson(`{"userId":"u","writeKey":"cut within an escape\\`)).toBe(`{"userId":"u"`);
  expect(cutCallJson(`{"writeKey":"cut within an escape\\`)).toBe("{");
  expect(toCallJson("x".repeat(100_000))).toHaveLength(32_768);
  expect(toCallJson(undefined)).toBe("");
  expect(toCallJson(parseJson("[".repeat(100_000) + "]".repeat(100_000)))).toMatch(/^\[+null\]+$/);
});
