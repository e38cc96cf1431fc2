/** Whatever a filter takes holds the filter's texts: a projection that passes over the others loses nothing. */
import { deadLetterCheck } from "@posthaste/core/replay/dead-letter-filter";
import { shortName } from "@posthaste/core/routing/short-name";
import { attemptEntries } from "@posthaste/read-model/attempt-entry";
import { deadLetterEntries, factsFromEntry } from "@posthaste/read-model/dead-letter-entry";
import { joinedAmong, loggedDeliveryEntries, lostDeliveryEntries } from "@posthaste/read-model/delivery-entry";
import { deadLetterTexts } from "@posthaste/read-model/entry-texts";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import { attemptAt, deadLetterAt, deferralAt } from "@posthaste/testbed/log-writer";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type AttemptFilter, attemptCheck } from "./attempt-filter.ts";
import { attemptTexts, latestTexts } from "./filter-texts.ts";
import { latestCheck } from "./latest-routes.ts";

/** Names with characters that JSON or SQL escape. */
const NAMES = ["user-7", 'say "hi"', "back\\slash", "\ud800", "ünï\u0000", "a'b", "u".repeat(400)];
const name = fc.constantFrom(...NAMES);
const status = fc.constantFrom(200, 404, 429, 503);
const error = fc.constantFrom("timeout", 'odd "code"');
const type = fc.constantFrom("page", "track" as const);
const url = fc.tuple(status, fc.option(error)).map(([answered, code]) => ({
  ...{ url: "https://a.example/", durationMs: 1, answer: null },
  ...{ status: code === null ? answered : null, error: code },
}));
const urls = fc.array(url, { minLength: 1, maxLength: 3 });
const said = fc.record({
  ...{ type, sourceId: name, event: fc.option(name.map(shortName)), userKey: name.map(shortName) },
  replayId: fc.option(name),
});
const attempt = fc.record({ urls, attempt: fc.integer({ min: 1, max: 9 }) });
const outcome = fc.constantFrom("delivered", "retryable", "permanent");
const FIELDS = ["type", "sourceId", "userId", "event", "replayId", "attempt", "error", "statusClass"] as const;
/** By one or two fields: few entries fit more. */
const filter: fc.Arbitrary<AttemptFilter> = fc
  .tuple(
    fc.record({
      ...{ type, sourceId: name, userId: name, event: name, replayId: name, attempt: fc.integer({ min: 1, max: 9 }) },
      error: fc.oneof(error, status.map(String)),
      statusClass: fc.constantFrom("2xx" as const, "4xx" as const, "5xx" as const),
    }),
    fc.subarray([...FIELDS], { minLength: 1, maxLength: 2 }),
  )
  .map(([all, fields]) => Object.fromEntries(fields.map((field) => [field, all[field]])));

const AT = { partition: 0, offset: 0 };

function expectTexts(entry: ProjectionEntry | undefined, texts: readonly string[]): void {
  for (const text of texts) expect(entry?.detail).toContain(text);
}

it("an attempt", () => {
  let taken = 0;
  fc.assert(
    fc.property(said, attempt, filter, (of, tried, asked) => {
      const [entry] = attemptEntries({ attempts: [attemptAt(1, { ...of, ...tried })] }, AT);
      if (entry === undefined || attemptCheck(asked)?.(entry) === false) return;
      taken += 1;
      expectTexts(entry, attemptTexts(asked));
    }),
    { numRuns: 2000 },
  );
  expect(taken).toBeGreaterThan(50);
});

it("a delivery as it stands", () => {
  let taken = 0;
  const facts = fc.array(fc.record({ attempt, outcome, what: fc.constantFrom("attempt", "deferral", "letter") }), {
    minLength: 1,
    maxLength: 4,
  });
  const latest = fc.record({ asked: filter, outcome: fc.option(outcome, { nil: undefined }) });
  fc.assert(
    fc.property(said, facts, latest, (of, all, { asked, outcome: wanted }) => {
      const entries = all.map(({ attempt: tried, outcome: came, what }, n) => {
        const named = { ...of, messageId: "m", originPartition: 0, originOffset: 1 };
        const at = { ...AT, offset: n };
        const last = { attempts: tried.attempt, lastAttempt: tried.urls };
        if (what === "letter") return lostDeliveryEntries(deadLetterAt(n, { ...named, ...last }), at)[0];
        const deferrals = what === "deferral" ? [deferralAt(n, { ...named, attempts: tried.attempt })] : [];
        const attempts = what === "attempt" ? [attemptAt(n, { ...named, ...tried, outcome: came })] : [];
        return loggedDeliveryEntries({ attempts, deferrals }, at)[0];
      });
      const joined = entries.flatMap((each) => (each === undefined ? [] : [each])).reduce(joinedOf);
      if (latestCheck({ ...asked, outcome: wanted })?.(joined) === false) return;
      taken += 1;
      expectTexts(joined, latestTexts({ ...asked, outcome: wanted }));
    }),
    { numRuns: 2000 },
  );
  expect(taken).toBeGreaterThan(50);
});

function joinedOf(held: ProjectionEntry, more: ProjectionEntry): ProjectionEntry {
  const both = joinedAmong([held], more);
  if (both === undefined) throw new Error("both are of one delivery");
  return both.joined;
}

it("a dead letter", () => {
  let taken = 0;
  fc.assert(
    fc.property(said, urls, fc.option(name), filter, (of, lastAttempt, key, { attempt: _, replayId: __, ...asked }) => {
      const deadLetter = deadLetterAt(1, { ...of, lastAttempt });
      const [entry] = deadLetterEntries(deadLetter, { ...AT, key: key === null ? null : Buffer.from(`dst:${key}`) });
      if (entry === undefined || !deadLetterCheck(asked)(factsFromEntry(entry))) return;
      taken += 1;
      expectTexts(entry, deadLetterTexts(asked));
    }),
    { numRuns: 2000 },
  );
  expect(taken).toBeGreaterThan(50);
});
