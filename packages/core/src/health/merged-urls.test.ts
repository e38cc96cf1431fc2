import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DestinationHealth, HealthOfUrl } from "./health-record.ts";
import { mergeUrls } from "./merged-urls.ts";

const URLS = ["https://a.example/", "https://b.example/"];
const moment = fc.option(fc.nat(100), { nil: null });
const anyUrl: fc.Arbitrary<HealthOfUrl> = fc.record({
  url: fc.constantFrom(...URLS, "https://old.example/"),
  breaker: fc.constantFrom("closed", "half_open", "open", "other"),
  ...{ openSinceMs: moment, nextProbeMs: moment, notBeforeMs: moment, inFlight: fc.nat(9) },
  answer: fc.option(
    fc.record({ atMs: fc.nat(1e9), outcome: fc.constant("delivered" as const) }).map((answer) => ({
      ...{ ...answer, status: 200, error: null, durationMs: 1 },
    })),
    { nil: null },
  ),
});
const anyHealth = fc
  .array(anyUrl, { maxLength: 3 })
  .map((urls) => ({ urls: urls.filter(({ url }, at) => urls.findIndex((each) => each.url === url) === at) }))
  .map((health) => health as unknown as DestinationHealth);

describe("what several processes say of a URL", () => {
  it("is the worst breaker, the earliest probe, the newest answer and all that is out", () => {
    const [a = ""] = URLS;
    const of = (over: Partial<HealthOfUrl>) =>
      ({
        urls: [{ url: a, breaker: "closed", inFlight: 1, answer: null, ...EMPTY, ...over }],
      }) as unknown as DestinationHealth;
    const EMPTY = { openSinceMs: null, nextProbeMs: null, notBeforeMs: null };
    const answer = { outcome: "retryable", status: 503, error: null, durationMs: 1 } as const;
    expect(
      mergeUrls(URLS, [
        of({ breaker: "half_open", openSinceMs: 5, nextProbeMs: 9, answer: { ...answer, atMs: 7 } }),
        of({ breaker: "open", openSinceMs: 6, nextProbeMs: 8, notBeforeMs: 50, answer: { ...answer, atMs: 6 } }),
        of({}),
      ]),
    ).toEqual([
      {
        ...{ url: a, breaker: "open", openSinceMs: 5, nextProbeMs: 8, notBeforeMs: 50, inFlight: 3 },
        answer: { ...answer, atMs: 7 },
      },
      { url: URLS[1], breaker: "closed", ...EMPTY, inFlight: 0, answer: null },
    ]);
  });

  it("does not depend on the order of the processes, and counts every request that is out once", () => {
    fc.assert(
      fc.property(fc.array(anyHealth, { maxLength: 5 }), (held) => {
        const merged = mergeUrls(URLS, held);
        expect(mergeUrls(URLS, held.toReversed())).toEqual(merged);
        expect(merged.map(({ url }) => url)).toEqual(URLS);
        const out = held.flatMap(({ urls }) => urls).filter(({ url }) => URLS.includes(url));
        expect(merged.reduce((sum, { inFlight }) => sum + inFlight, 0)).toBe(
          out.reduce((sum, { inFlight }) => sum + inFlight, 0),
        );
      }),
    );
  });
});
