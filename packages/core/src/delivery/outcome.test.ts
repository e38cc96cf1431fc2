import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ATTEMPT_OUTCOMES,
  classifyError,
  classifyStatus,
  obeysRetryAfter,
  REQUEST_ERRORS,
  settle,
  type UrlOutcome,
} from "./outcome.ts";

function result(url: string, fields: Partial<UrlOutcome>): UrlOutcome {
  return { url, outcome: "retryable", error: null, notBeforeMs: null, ...fields };
}

const anyResult: fc.Arbitrary<UrlOutcome> = fc
  .record({
    status: fc.constantFrom(200, 204, 301, 400, 404, 408, 410, 425, 429, 500, 503, 599),
    error: fc.option(fc.constantFrom(...REQUEST_ERRORS), { freq: 2 }),
    notBeforeMs: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 2 }),
  })
  .map(({ status, error, notBeforeMs }) => ({
    url: "",
    outcome: error === null ? classifyStatus(status) : classifyError(error),
    error,
    notBeforeMs: error === null && obeysRetryAfter(status) ? notBeforeMs : null,
  }));
const anyResults = fc
  .array(anyResult, { minLength: 1, maxLength: 5 })
  .map((results) => results.map((one, index) => ({ ...one, url: `https://receiver/${index}` })));

describe("classifyStatus", () => {
  it.each([
    [200, "delivered"],
    [201, "delivered"],
    [204, "delivered"],
    [299, "delivered"],
    [300, "permanent"],
    [301, "permanent"],
    [302, "permanent"],
    [304, "permanent"],
    [307, "permanent"],
    [400, "permanent"],
    [401, "permanent"],
    [404, "permanent"],
    [407, "permanent"],
    [408, "retryable"],
    [409, "permanent"],
    [410, "permanent"],
    [425, "retryable"],
    [429, "retryable"],
    [499, "permanent"],
    [500, "retryable"],
    [501, "retryable"],
    [503, "retryable"],
    [599, "retryable"],
  ] as const)("judges %i as %s", (status, outcome) => {
    expect(classifyStatus(status)).toBe(outcome);
  });

  it("gives every status of the protocol one of the three outcomes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 999 }), (status) => {
        expect(ATTEMPT_OUTCOMES).toContain(classifyStatus(status));
      }),
    );
  });
});

describe("classifyError", () => {
  it("calls only those permanent that no later attempt could mend", () => {
    const permanent = REQUEST_ERRORS.filter((error) => classifyError(error) === "permanent");
    expect(permanent).toEqual(["address_refused", "invalid_request"]);
  });
});

describe("obeysRetryAfter", () => {
  it("holds for 429 and 503 alone", () => {
    const obeyed = Array.from({ length: 400 }, (_, index) => index + 200).filter(obeysRetryAfter);
    expect(obeyed).toEqual([429, 503]);
  });
});

describe("settle, any", () => {
  it("is delivered as soon as one URL is, whatever the others came to", () => {
    fc.assert(
      fc.property(anyResults, (results) => {
        const hasDelivery = results.some(({ outcome }) => outcome === "delivered");
        const { outcome, retries, dead } = settle("any", results);
        expect(outcome === "delivered").toBe(hasDelivery);
        if (hasDelivery) expect([...retries, ...dead]).toEqual([]);
      }),
    );
  });

  it("retries all URLs together when any failure is retryable", () => {
    const results = [
      result("a", { outcome: "permanent" }),
      result("b", { outcome: "retryable", error: "timeout" }),
      result("c", { outcome: "permanent", error: "address_refused" }),
    ];
    expect(settle("any", results)).toEqual({
      outcome: "retryable",
      retries: [{ urls: null, notBeforeMs: null }],
      dead: [],
    });
  });

  it("I5, W5: waits for the URL that may be called first, and for none beside one that asked for nothing", () => {
    const asked = [result("a", { notBeforeMs: 10 }), result("c", { notBeforeMs: 30 })];
    expect(settle("any", asked).retries).toEqual([{ urls: null, notBeforeMs: 10 }]);
    const refused = result("d", { outcome: "permanent" });
    expect(settle("any", [...asked, refused]).retries).toEqual([{ urls: null, notBeforeMs: 10 }]);
    expect(settle("any", [...asked, result("b", {})]).retries).toEqual([{ urls: null, notBeforeMs: null }]);
  });

  it("is dead as refused by the receiver when at least one URL answered", () => {
    const results = [
      result("a", { outcome: "permanent" }),
      result("b", { outcome: "permanent", error: "address_refused" }),
    ];
    expect(settle("any", results)).toEqual({
      outcome: "permanent",
      retries: [],
      dead: [{ urls: null, reason: "rejected_by_receiver" }],
    });
  });

  it("is dead as refused by address when every URL was", () => {
    const results = ["a", "b"].map((url) => result(url, { outcome: "permanent", error: "address_refused" }));
    expect(settle("any", results).dead).toEqual([{ urls: null, reason: "address_refused" }]);
  });
});

describe("settle, each", () => {
  it("puts every URL that was not delivered into exactly one part, and no other", () => {
    fc.assert(
      fc.property(anyResults, (results) => {
        const { retries, dead } = settle("each", results);
        const placed = [...retries, ...dead].flatMap(({ urls }) => urls ?? ["all"]);
        const failed = results.filter(({ outcome }) => outcome !== "delivered").map(({ url }) => url);
        expect(placed.toSorted()).toEqual(failed.toSorted());
      }),
    );
  });

  it("is delivered only when every URL is, and permanent only when nothing is left to try", () => {
    fc.assert(
      fc.property(anyResults, (results) => {
        const outcomes = new Set(results.map(({ outcome }) => outcome));
        const expected = outcomes.has("retryable")
          ? "retryable"
          : outcomes.has("permanent")
            ? "permanent"
            : "delivered";
        expect(settle("each", results).outcome).toBe(expected);
      }),
    );
  });

  it("keeps URLs together that wait for the same moment, and gives each Retry-After its own", () => {
    const results = [
      result("a", {}),
      result("b", { notBeforeMs: 30 }),
      result("c", {}),
      result("d", { notBeforeMs: 10 }),
    ];
    expect(settle("each", results).retries).toEqual([
      { urls: ["a", "c"], notBeforeMs: null },
      { urls: ["b"], notBeforeMs: 30 },
      { urls: ["d"], notBeforeMs: 10 },
    ]);
  });

  it("gives each dead URL its own reason", () => {
    const results = [
      result("a", { outcome: "permanent" }),
      result("b", { outcome: "permanent", error: "address_refused" }),
      result("c", { outcome: "delivered" }),
    ];
    expect(settle("each", results)).toEqual({
      outcome: "permanent",
      retries: [],
      dead: [
        { urls: ["a"], reason: "rejected_by_receiver" },
        { urls: ["b"], reason: "address_refused" },
      ],
    });
  });
});

describe("settle", () => {
  it("refuses an attempt without URLs", () => {
    expect(() => settle("any", [])).toThrow(RangeError);
    expect(() => settle("each", [])).toThrow(RangeError);
  });
});
