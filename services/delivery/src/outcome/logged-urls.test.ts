import type { UrlResult } from "@posthaste/webhook/report";
import { describe, expect, it } from "vitest";
import { toLoggedUrls } from "./logged-urls.ts";

const RESULTS: readonly UrlResult[] = [
  { ...{ url: "https://a.example/", outcome: "delivered", status: 200 }, ...sent("thanks") },
  { ...{ url: "https://b.example/", outcome: "retryable", status: 503 }, ...sent("busy") },
  { ...{ url: "https://c.example/", outcome: "permanent", status: 404 }, ...sent("nobody here") },
];

function sent(answer: string): Pick<UrlResult, "error" | "durationMs" | "notBeforeMs" | "answer"> {
  return { error: null, durationMs: 1, notBeforeMs: null, answer };
}

describe("what the attempt log keeps of responses", () => {
  it.each([
    ["failures", [null, "busy", "nobody here"]],
    ["all", ["thanks", "busy", "nobody here"]],
    ["off", [null, null, null]],
  ] as const)("%s: of one that delivered, one that failed and one that refused %j", (responseLog, kept) => {
    const urls = toLoggedUrls(responseLog, RESULTS);
    expect(urls.map(({ answer }) => answer)).toEqual(kept);
    expect(urls.map(({ url, status }) => [url, status])).toEqual(RESULTS.map(({ url, status }) => [url, status]));
  });

  it("failures, off: a response that is not kept is not even read", () => {
    const unread = Object.defineProperty({ ...(RESULTS[0] as UrlResult) }, "answer", {
      get: () => expect.unreachable("the answer was read"),
    });
    expect(toLoggedUrls("failures", [unread])).toMatchObject([{ status: 200, answer: null }]);
    expect(toLoggedUrls("off", [unread])).toMatchObject([{ status: 200, answer: null }]);
  });
});
