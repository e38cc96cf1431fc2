import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judge, MAX_RETRY_AFTER_MS, MAX_RETRY_DELAY_MS, parseRetryAfterMs, retryDelayMs } from "./retry.ts";

const NOW_MS = Date.parse("2026-11-21T03:04:05.678Z");
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("retryDelayMs", () => {
  it("stays between half of the doubled delay and the whole, and under 30 s", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), chance, (failures, random) => {
        const fullMs = Math.min(MAX_RETRY_DELAY_MS, 100 * 2 ** (failures - 1));
        const delayMs = retryDelayMs(failures, random);
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(fullMs / 2);
        expect(delayMs).toBeLessThanOrEqual(fullMs);
      }),
    );
  });

  it("spreads ten attempts over 25 to 52 s", () => {
    const total = (random: number) =>
      Array.from({ length: 9 }, (_, index) => retryDelayMs(index + 1, random)).reduce((sum, delayMs) => sum + delayMs);
    expect(total(0)).toBe(25_550);
    expect(total(0.999_999)).toBeLessThanOrEqual(51_100);
  });
});

describe("parseRetryAfterMs", () => {
  it.each([
    ["3", 3000],
    [" 3 ", 3000],
    ["Sat, 21 Nov 2026 03:04:10 GMT", 4322],
    ["Sat, 21 Nov 2026 03:04:00 GMT", 0],
    ["-1", 0],
    ["1.5", 0],
    ["", 0],
    ["soon", 0],
  ])("reads %j as %d ms", (value, expected) => {
    expect(parseRetryAfterMs(value, NOW_MS)).toBe(expected);
  });
});

describe("judge", () => {
  const answer = (status: number) => ({ answer: { status, retryAfter: "10", body: "" } });

  it("delivers every 2xx, retries 408, 425, 429 and 5xx, and gives up on the rest", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), (status) => {
        const { kind } = judge(answer(status), { attempts: 1, maxAttempts: 10 }, NOW_MS, 0.5);
        const isRetryable = status >= 500 || [408, 425, 429].includes(status);
        expect(kind).toBe(status < 300 ? "delivered" : isRetryable ? "retry" : "failed");
      }),
    );
  });

  it("never asks for more requests than maxAttempts, nor waits longer than Retry-After's limit", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        chance,
        (attempts, maxAttempts, random) => {
          const verdict = judge(answer(503), { attempts, maxAttempts }, NOW_MS, random);
          expect(verdict.kind).toBe(attempts < maxAttempts ? "retry" : "failed");
          if (verdict.kind === "retry") expect(verdict.delayMs).toBeLessThanOrEqual(MAX_RETRY_AFTER_MS);
        },
      ),
    );
  });

  it("keeps the reason of a request without an answer as the cause", () => {
    const failure = new Error("connection refused");
    const verdict = judge({ failure }, { attempts: 1, maxAttempts: 1 }, NOW_MS, 0.5);
    expect(verdict).toMatchObject({ kind: "failed", error: { code: "unavailable", cause: failure } });
  });

  it("calls a browser's hidden redirect a redirect", () => {
    const verdict = judge(answer(0), { attempts: 1, maxAttempts: 10 }, NOW_MS, 0.5);
    const message = "the server answered a redirect: redirects are not followed: set endpoint to the final URL";
    expect(verdict).toMatchObject({ kind: "failed", error: { code: "refused", message } });
  });

  it.each(["null", "[]", '{"rejected":7}', '{"rejected":[null,{"index":"0"}]}', "{"])(
    "finds no rejected calls in the body %s",
    (body) => {
      const verdict = judge({ answer: { status: 200, retryAfter: null, body } }, { attempts: 1, maxAttempts: 1 }, 0, 0);
      expect(verdict).toEqual({ kind: "delivered", rejected: [] });
    },
  );
});
