import { describe, expect, it } from "vitest";
import { type AnalyticsOptions, resolveOptions } from "./options.ts";

describe("resolveOptions", () => {
  it("fills in what the README says", () => {
    expect(resolveOptions({ writeKey: "KEY" })).toEqual({
      writeKey: "KEY",
      endpoint: "http://127.0.0.1:8080",
      flushAt: 20,
      flushAfterMs: 5000,
      maxQueueBytes: 16_777_216,
      maxInFlight: 8,
      maxAttempts: 10,
      requestTimeoutMs: 10_000,
      closeTimeoutMs: 30_000,
      gzip: false,
      onError: undefined,
      onSuccess: undefined,
    });
  });

  it.each([
    [{ size: 5 }, 5],
    [{ flushAt: 5 }, 5],
    [{ size: 5, flushAt: 100 }, 5],
    [{ size: 100, flushAt: 5 }, 5],
  ])("%j flushes at %d", (options, flushAt) => {
    expect(resolveOptions({ writeKey: "KEY", ...options }).flushAt).toBe(flushAt);
  });

  it.each<[Partial<AnalyticsOptions>, string]>([
    [{ writeKey: "" }, "writeKey must be a non-empty string"],
    [{ writeKey: 7 as never }, "writeKey must be a non-empty string"],
    [{ endpoint: "localhost:8080" }, "endpoint must be an http or https URL"],
    [{ endpoint: "nowhere" }, "endpoint must be an http or https URL"],
    [{ endpoint: "https://user:word@x.test" }, "endpoint must be an http or https URL without user"],
    [{ endpoint: "https://x.test/?a=1" }, "endpoint must be an http or https URL without user, query or fragment"],
    [{ flushAt: 0 }, "flushAt must be a whole number from 1"],
    [{ flushAt: 1.5 }, "flushAt must be a whole number from 1"],
    [{ flushAfter: 2 ** 31 }, "flushAfter must be a whole number from 1 to 2147483647"],
    [{ maxInFlight: Number.NaN }, "maxInFlight must be a whole number"],
    [{ maxQueueBytes: "1" as never }, "maxQueueBytes must be a whole number"],
  ])("refuses %j and says what was expected", (options, message) => {
    expect(() => resolveOptions({ writeKey: "KEY", ...options })).toThrow(message);
  });

  it("refuses to be given nothing", () => {
    expect(() => resolveOptions(undefined as never)).toThrow("writeKey must be a non-empty string");
  });
});
