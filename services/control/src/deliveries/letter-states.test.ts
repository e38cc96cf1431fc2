/** LC1 and LC3 of letter-table.ts, LM1 to LM3 of letter-mark.ts, as callers see them, against a naive model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import { letterPlace } from "@posthaste/core/replay/letter-filter";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import type { JournalEntry } from "../read-model/journal-entry.ts";
import type { LetterState } from "../read-model/letter-mark.ts";
import { type JournalName, ofEach, Store } from "../read-model/store.ts";
import { DestinationLetters } from "./destination-letters.ts";
import { groupLetters } from "./letter-groups.ts";
import { VisibleLetters } from "./visible-letters.ts";

const HOUR_MS = 3_600_000;
const KEEP_MS = 10 * HOUR_MS;
const BEGIN_MS = 100 * HOUR_MS;
const MANY = 1000;
const URLS = ["https://a.example", "https://b.example"] as const;
const SETTLES: Readonly<Record<string, "any" | "each">> = { dst_any: "any", dst_each: "each" };
const digestOf = (user: string): string => user.padEnd(DIGEST_LENGTH, "\u00ff");

const folder = mkdtempSync(join(tmpdir(), "posthaste-letters-"));
afterAll(() => rmSync(folder, { recursive: true }));

const named = {
  messageId: fc.constantFrom("m-1", "m-1", "m-2"),
  destinationId: fc.constantFrom("dst_any", "dst_each", "dst_each"),
};
const hoursAgo = (min: number, max: number) =>
  fc.integer({ min: min * HOUR_MS, max: max * HOUR_MS }).map((ms) => BEGIN_MS - ms);
const letter = fc.record({
  ...named,
  what: fc.constant("letter" as const),
  /** Many are soon too old. */
  timeMs: hoursAgo(6, 10),
  kind: fc.constantFrom("window_expired", "rejected_by_receiver"),
  errors: fc.constantFrom([], ["503"]),
  urls: fc.constantFrom([], URLS.slice(1), [...URLS], [...URLS]),
  user: fc.constantFrom("ann", "ben"),
  /** Which of the letters it was sent again from. */
  from: fc.option(fc.nat(5)),
});
const attempt = fc.record({
  ...named,
  what: fc.constant("attempt" as const),
  timeMs: hoursAgo(0, 9),
  statuses: fc.constantFrom([200], [200], [503], [503, 200], [200, 200]),
  isSwapped: fc.boolean(),
});
const other = fc.oneof(
  { weight: 1, arbitrary: fc.record({ what: fc.constant("restart" as const) }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: HOUR_MS }) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("purge" as const), of: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("suppress" as const), user: fc.constantFrom(null, "ann") }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant("sent long ago" as const), of: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("read again" as const), of: fc.nat(19) }) },
);
type Letter = typeof letter extends fc.Arbitrary<infer Each> ? Each : never;
type Attempt = typeof attempt extends fc.Arbitrary<infer Each> ? Each : never;
type Other = typeof other extends fc.Arbitrary<infer Each> ? Each : never;
const log = fc.array(
  fc.oneof({ weight: 4, arbitrary: letter }, { weight: 4, arbitrary: attempt }, { weight: 1, arbitrary: other }),
  { minLength: 2, maxLength: 30, size: "max" },
);

/** Letters stand in two partitions, and no two died at once. */
const placeAt = (n: number) => ({ partition: n % 2, offset: Math.floor(n / 2), place: 0 });

function letterEntry({ timeMs, urls, errors, user, from, kind, messageId, destinationId }: Letter, n: number) {
  const replayed = from === null ? null : placeAt(from);
  const replayedFrom = replayed === null ? {} : { replayedFrom: `t/${replayed.partition}/${replayed.offset}` };
  const facts = { sourceId: "src", type: "track", event: null, reasonClass: "receiver", userIds: [user], errors };
  const detail = JSON.stringify({ ...facts, lastAttempt: urls.map((url) => ({ url })), ...replayedFrom });
  const entry = { ...placeAt(n), timeMs: timeMs + n, destinationId, kind, messageId, detail, users: digestOf(user) };
  return { name: "dead_letters" as const, entry };
}

/** Under `any` one URL is enough, under `each` every one that was called. */
function attemptEntry({ timeMs, destinationId, messageId, statuses, isSwapped }: Attempt, n: number) {
  const called = isSwapped ? URLS.toReversed() : URLS;
  const urls = statuses.map((status, index) => ({ url: called[index], status }));
  const delivers = SETTLES[destinationId] === "any" ? statuses.some(isTaken) : statuses.every(isTaken);
  const kind = delivers ? "delivered" : "retryable";
  const detail = JSON.stringify({ urls });
  const entry = { partition: 0, offset: n, place: 0, timeMs, destinationId, kind, messageId, detail, users: "" };
  return { name: "attempts" as const, entry };
}

const isTaken = (status: number): boolean => status === 200;

interface ReadRecord {
  readonly name: JournalName;
  readonly entry: JournalEntry;
}

/** What was read, and what is so besides. */
class Read {
  readonly records: ReadRecord[] = [];
  readonly purged = new Set<string>();
  readonly sent = new Set<string>();
  suppressed: string | null = null;
  nowMs = BEGIN_MS;
  readonly #bounds: { readonly letters: number; readonly attempts: number };
  readonly #path: string | null;
  store: Store;

  constructor(bounds: { readonly letters: number; readonly attempts: number }, path: string | null) {
    this.#bounds = bounds;
    this.#path = path;
    this.store = this.#open();
  }

  take(step: Letter | Attempt | Other): void {
    switch (step.what) {
      case "letter":
      case "attempt":
        this.records.push(
          step.what === "letter"
            ? letterEntry(step, this.of("dead_letters").length)
            : attemptEntry(step, this.of("attempts").length),
        );
        this.#store(this.records.length - 1);
        return;
      case "read again":
        this.#store(step.of);
        return;
      case "purge":
        this.purged.add(letterPlace(placeAt(step.of)));
        return;
      case "sent long ago":
        this.#noteSent(step.of);
        return;
      case "suppress":
        this.suppressed = step.user;
        return;
      case "pass":
        this.nowMs += step.ms;
        return;
      case "restart":
        this.store.close();
        this.store = this.#open();
    }
  }

  of(name: JournalName): readonly JournalEntry[] {
    return this.records.filter((each) => each.name === name).map(({ entry }) => entry);
  }

  /** The letters that may be seen, of those that are held. */
  shown(): readonly JournalEntry[] {
    const held = this.store.newest("dead_letters", { limit: MANY });
    return held.filter((each) => {
      return !this.purged.has(letterPlace(each)) && each.users !== digestOf(this.suppressed ?? "nobody");
    });
  }

  letters(): VisibleLetters {
    const { store, purged, suppressed } = this;
    return new VisibleLetters({
      readModel: {
        search: async (name, query) => store.search(name, query),
        at: async (name, places) => store.at(name, places),
        newest: async (name, query) => store.newest(name, query),
        counts: async (name, query) => store.counts(name, query),
        letterHours: async (query) => store.letterHours(query),
        letterTotals: async (destinationId) => store.letterTotals(destinationId),
        freshness: () => ({ asOf: null, complete: true }),
      },
      suppressed: { size: suppressed === null ? 0 : 1, hasDigest: (digest) => digest === digestOf(suppressed ?? "") },
      past: { hasPurges: purged.size > 0, purged: () => (each) => purged.has(letterPlace(each)) },
      settleOf: (id) => SETTLES[id] ?? "any",
    });
  }

  /** Of a letter that is held, as LM3 has it. */
  #noteSent(index: number): void {
    const found = this.of("dead_letters")[index];
    if (found === undefined) return;
    this.sent.add(letterPlace(found));
    this.store.noteSent([found]);
    this.#forgetDropped();
  }

  /** A letter that was dropped and is read once more has to be noted once more. */
  #forgetDropped(): void {
    const held = new Set(this.store.newest("dead_letters", { limit: MANY }).map(letterPlace));
    for (const place of this.sent) if (!held.has(place)) this.sent.delete(place);
  }

  #store(index: number): void {
    const record = this.records[index];
    if (record === undefined) return;
    const { name, entry } = record;
    const { partition, offset } = entry;
    this.store.take(name, { partition, next: offset + 1, passedTo: 0, entries: { [name]: [entry] } });
    this.#forgetDropped();
  }

  #open(): Store {
    const { letters, attempts } = this.#bounds;
    const bounds = ofEach((name) => ({
      maxEntries: name === "dead_letters" ? letters : attempts,
      keepMs: name === "dead_letters" ? KEEP_MS : Number.MAX_SAFE_INTEGER,
    }));
    const options = { path: this.#path, identity: "test", bounds, memoryBounds: bounds };
    return new Store(options, () => this.nowMs);
  }
}

/** By everything that was read, whenever. */
function stateByHand(read: Read, { timeMs, messageId, destinationId, partition, offset, detail }: JournalEntry) {
  const isOfIt = (each: JournalEntry): boolean =>
    each.messageId === messageId && each.destinationId === destinationId && each.timeMs >= timeMs;
  const attempts = read.of("attempts").filter(isOfIt);
  const taken = attempts.flatMap(({ detail: text }) => {
    const { urls } = JSON.parse(text) as { urls: { url: string; status: number }[] };
    return urls.filter(({ status }) => isTaken(status)).map(({ url }) => url);
  });
  const { lastAttempt } = JSON.parse(detail) as { lastAttempt: { url: string }[] };
  const isAnyEnough = SETTLES[destinationId] === "any" || lastAttempt.length === 0;
  const isDelivered = isAnyEnough
    ? attempts.some(({ kind }) => kind === "delivered")
    : lastAttempt.every(({ url }) => taken.includes(url));
  if (isDelivered) return "deliveredSince";
  const place = `"replayedFrom":"t/${partition}/${offset}"`;
  const isAgain = read.of("dead_letters").some((each) => isOfIt(each) && each.detail.includes(place));
  if (isAgain) return "diedAgain";
  return read.sent.has(letterPlace({ partition, offset })) ? "deliveredSince" : "open";
}

function sumsOf(states: readonly LetterState[]) {
  const count = (wanted: LetterState): number => states.filter((state) => state === wanted).length;
  return { open: count("open"), deliveredSince: count("deliveredSince") };
}

/** The states of the shown letters, by place, once every way of counting them agreed with them. */
async function statesOf(read: Read): Promise<ReadonlyMap<string, LetterState>> {
  const letters = read.letters();
  const shown = read.shown();
  const { entries } = await letters.page({ filter: {}, limit: MANY });
  const states = new Map(entries.map((each) => [letterPlace(each), letters.stateOf(each)] as const));
  expect(new Set(states.keys())).toEqual(new Set(shown.map(letterPlace)));
  const open = await letters.page({ filter: {}, isOpen: true, limit: MANY });
  expect(open.entries.map(letterPlace)).toEqual(shown.map(letterPlace).filter((place) => states.get(place) === "open"));
  const { groups } = await groupLetters(letters, { filter: {}, limit: MANY, after: undefined });
  expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(shown.length);
  for (const { destinationId, reason, error, count, open: left, deliveredSince, hours } of groups) {
    const ofIt = shown.filter((each) => {
      const [first = null] = (JSON.parse(each.detail) as { errors: string[] }).errors;
      return each.destinationId === destinationId && each.kind === reason && first === error;
    });
    const expected = sumsOf(ofIt.map((each) => states.get(letterPlace(each)) ?? "open"));
    expect({ count, open: left, deliveredSince }).toEqual({ count: ofIt.length, ...expected });
    expect([...hours.values()].reduce((sum, hour) => sum + hour.open, 0)).toBe(left);
  }
  const readModel = { letterTotals: async (id: string) => read.store.letterTotals(id) };
  const ofDestination = new DestinationLetters({ readModel, letters, nowMs: () => read.nowMs });
  for (const destinationId of Object.keys(SETTLES)) {
    const ofIt = shown.filter((each) => each.destinationId === destinationId);
    const expected = sumsOf(ofIt.map((each) => states.get(letterPlace(each)) ?? "open"));
    expect(await ofDestination.count(destinationId)).toEqual(expected);
  }
  return states;
}

let files = 0;

async function readAll(
  steps: readonly (Letter | Attempt | Other)[],
  bounds: { readonly letters: number; readonly attempts: number },
  check: (read: Read, states: ReadonlyMap<string, LetterState>) => void,
): Promise<void> {
  files += 1;
  // A file takes its time, and only a restart needs one.
  const isKept = steps.some(({ what }) => what === "restart");
  const read = new Read(bounds, isKept ? join(folder, `${files}.db`) : null);
  try {
    for (const step of steps) {
      read.take(step);
      if (step.what === "letter" || step.what === "attempt") continue;
      check(read, await statesOf(read));
    }
    check(read, await statesOf(read));
  } finally {
    read.store.close();
  }
}

it("LM1 to LM3: each letter is what attempts and letters say of it, in whatever order these are read", async () => {
  await fc.assert(
    fc.asyncProperty(log, fc.integer({ min: 2, max: 30 }), async (steps, letters) => {
      await readAll(steps, { letters, attempts: MANY }, (read, states) => {
        const byHand = new Map(read.shown().map((each) => [letterPlace(each), stateByHand(read, each)]));
        expect(states).toEqual(byHand);
      });
    }),
  );
});

it("LC3: what is no more held of attempts makes no letter delivered, and no count wrong", async () => {
  await fc.assert(
    fc.asyncProperty(log, fc.integer({ min: 1, max: 6 }), async (steps, attempts) => {
      await readAll(steps, { letters: 12, attempts }, (read, states) => {
        for (const each of read.shown()) {
          if (states.get(letterPlace(each)) !== "deliveredSince") continue;
          expect(stateByHand(read, each)).toBe("deliveredSince");
        }
      });
    }),
  );
});
