import { hash } from "node:crypto";
import { shortName } from "@posthaste/core/routing/short-name";
import { describe, expect, it } from "vitest";
import { findMessageIds, toRefusedRequest } from "./refused-request.ts";

const REFUSAL = { status: 413, code: "request_too_large" } as const;
const NOTHING = { content: null, sentBytes: null, unknownKey: null } as const;
const idsIn = (text: string) => findMessageIds(Buffer.from(text));

describe("what is told of a refused request", () => {
  it("is its answer, path, size, program and message ids", () => {
    const request = { url: "/v1/batch?writeKey=secret", headers: { "user-agent": "analytics-node/1" } };
    const content = Buffer.from(`{"batch":[{"messageId":"a"},{"messageId" : "b"}]}`);
    expect(toRefusedRequest(REFUSAL, { request, content, sentBytes: 20, unknownKey: null }, 7)).toEqual({
      ...{ atMs: 7, status: 413, code: "request_too_large", path: "/v1/batch", bytes: 20 },
      ...{ userAgent: "analytics-node/1", messageIds: ["a", "b"], unknownKey: null },
    });
  });

  it("has the size that was announced where the body was not read, and none where that is no size", () => {
    const bytesOf = (length?: string) =>
      toRefusedRequest(REFUSAL, { ...NOTHING, request: { url: "/", headers: { "content-length": length } } }, 0).bytes;
    expect([bytesOf("17"), bytesOf(), bytesOf("-1"), bytesOf("1e999"), bytesOf("many")]).toEqual([
      17,
      null,
      null,
      null,
      null,
    ]);
  });

  it("has of an unknown key four characters and a hash", () => {
    const request = { url: "/", headers: {} };
    const { unknownKey } = toRefusedRequest(REFUSAL, { ...NOTHING, request, unknownKey: "4k2v-a-whole-secret" }, 0);
    expect(unknownKey).toBe(`4k2v… sha256:${hash("sha256", "4k2v-a-whole-secret").slice(0, 16)}`);
  });

  it("is short, whatever was sent", () => {
    const long = "x".repeat(100_000);
    const reported = toRefusedRequest(
      REFUSAL,
      {
        request: { url: `/${long}`, headers: { "user-agent": long } },
        content: Buffer.from(`"messageId":"${"y".repeat(4_000)}",`.repeat(10_000)),
        sentBytes: 1,
        unknownKey: long,
      },
      0,
    );
    expect(reported.path).toHaveLength(128);
    expect(reported.userAgent).toHaveLength(256);
    expect(reported.messageIds).toEqual(Array.from({ length: 20 }, () => shortName("y".repeat(4_000))));
    expect(JSON.stringify(reported).length).toBeLessThan(6_500);
  });
});

describe("the message ids of a body", () => {
  it("are found in what is no JSON, and are read as they are written", () => {
    expect(idsIn(`{"batch":[{"messageId":"a\\u0062"},{"messageId":"c"`)).toEqual(["ab", "c"]);
  });

  it("are texts that are not empty", () => {
    expect(idsIn(`{"messageId":7,"x":{"messageId":""},"y":{"messageId":null}}`)).toEqual([]);
  });
});
