/**
 * LC1 and LC3 of dead-letter-table.ts, LM1 to LM3 of dead-letter-mark.ts, as callers see them, against a naive model.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import { deadLetterPlace } from "@posthaste/core/replay/dead-letter-filter";
import type { DeadLetterState } from "@posthaste/read-model/dead-letter-mark";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import { ofEach, type ProjectionName, Store } from "@posthaste/read-model/store";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { groupDeadLetters } from "./dead-letter-groups.ts";
import { DestinationDeadLetters } from "./destination-dead-letters.ts";
import { VisibleDeadLetters } from "./visible-dead-letters.ts";

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
const deadLetter = fc.record({
  ...named,
  what: fc.constant("letter" as const),
  /** Many are soon too old. */
  timeMs: hoursAgo(6, 10),
  kind: fc.constantFrom("window_expired", "rejected_by_receiver", "suppressed"),
  errors: fc.constantFrom([], ["503"]),
  urls: fc.constantFrom([], URLS.slice(1), [...URLS], [...URLS]),
  user: fc.constantFrom("ann", "ben"),
  /** Which of the dead letters it was sent again from. */
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
type DeadLetterFact = typeof deadLetter extends fc.Arbitrary<infer Each> ? Each : never;
type Attempt = typeof attempt extends fc.Arbitrary<infer Each> ? Each : never;
type Other = typeof other extends fc.Arbitrary<infer Each> ? Each : never;
const log = fc.array(
  fc.oneof({ weight: 4, arbitrary: deadLetter }, { weight: 4, arbitrary: attempt }, { weight: 1, arbitrary: other }),
  { minLength: 2, maxLength: 30, size: "max" },
);

/** Dead letters stand in two partitions, and no two died at once. */
const placeAt = (n: number) => ({ partition: n % 2, offset: Math.floor(n / 2), place: 0 });

function deadLetterEntry(
  { timeMs, urls, errors, user, from, kind, messageId, destinationId }: DeadLetterFact,
  n: number,
) {
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
  readonly name: ProjectionName;
  readonly entry: ProjectionEntry;
}

/** The records read, and the purges and replays besides. */
class Read {
  readonly records: ReadRecord[] = [];
  readonly purged = new Set<string>();
  readonly sent = new Set<string>();
  suppressed: string | null = null;
  nowMs = BEGIN_MS;
  readonly #bounds: { readonly deadLetters: number; readonly attempts: number };
  readonly #path: string | null;
  store: Store;

  constructor(bounds: { readonly deadLetters: number; readonly attempts: number }, path: string | null) {
    this.#bounds = bounds;
    this.#path = path;
    this.store = this.#open();
  }

  take(step: DeadLetterFact | Attempt | Other): void {
    switch (step.what) {
      case "letter":
      case "attempt":
        this.records.push(
          step.what === "letter"
            ? deadLetterEntry(step, this.of("dead_letters").length)
            : attemptEntry(step, this.of("attempts").length),
        );
        this.#store(this.records.length - 1);
        return;
      case "read again":
        this.#store(step.of);
        return;
      case "purge":
        this.purged.add(deadLetterPlace(placeAt(step.of)));
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

  of(name: ProjectionName): readonly ProjectionEntry[] {
    return this.records.filter((each) => each.name === name).map(({ entry }) => entry);
  }

  /** The dead letters that may be seen, of those that are held. */
  shown(): readonly ProjectionEntry[] {
    const held = this.store.newest("dead_letters", { limit: MANY });
    return held.filter((each) => {
      // One that delivery dropped for a suppression holds nothing of the user.
      const isHidden = each.kind !== "suppressed" && each.users === digestOf(this.suppressed ?? "nobody");
      return !this.purged.has(deadLetterPlace(each)) && !isHidden;
    });
  }

  deadLetters(): VisibleDeadLetters {
    const { store, purged, suppressed } = this;
    return new VisibleDeadLetters({
      readModel: {
        search: async (name, query) => store.search(name, query),
        at: async (name, places) => store.at(name, places),
        newest: async (name, query) => store.newest(name, query),
        counts: async (name, query) => store.counts(name, query),
        deadLetterHours: async (query) => store.deadLetterHours(query),
        deadLetterTotals: async (destinationId) => store.deadLetterTotals(destinationId),
        freshness: () => ({ asOfMs: null, complete: true }),
      },
      suppressed: { size: suppressed === null ? 0 : 1, hasDigest: (digest) => digest === digestOf(suppressed ?? "") },
      past: { hasPurges: purged.size > 0, purged: () => (each) => purged.has(deadLetterPlace(each)) },
      settleOf: (id) => SETTLES[id] ?? "any",
    });
  }

  /** Of a dead letter that is held, as LM3 has it. */
  #noteSent(index: number): void {
    const found = this.of("dead_letters")[index];
    if (found === undefined) return;
    this.sent.add(deadLetterPlace(found));
    this.store.noteSent([found]);
    this.#forgetDropped();
  }

  /** A dead letter that was dropped and is read once more has to be noted once more. */
  #forgetDropped(): void {
    const held = new Set(this.store.newest("dead_letters", { limit: MANY }).map(deadLetterPlace));
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
    const { deadLetters, attempts } = this.#bounds;
    const bounds = ofEach((name) => ({
      maxEntries: name === "dead_letters" ? deadLetters : attempts,
      keepMs: name === "dead_letters" ? KEEP_MS : Number.MAX_SAFE_INTEGER,
    }));
    const options = { path: this.#path, identity: "test", bounds, memoryBounds: bounds };
    return new Store(options, () => this.nowMs);
  }
}

/** By everything that was read, whenever. */
function stateByHand(read: Read, { timeMs, messageId, destinationId, partition, offset, detail }: ProjectionEntry) {
  const isOfIt = (each: ProjectionEntry): boolean =>
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
  return read.sent.has(deadLetterPlace({ partition, offset })) ? "deliveredSince" : "open";
}

function sumsOf(states: readonly DeadLetterState[]) {
  const count = (wanted: DeadLetterState): number => states.filter((state) => state === wanted).length;
  return { open: count("open"), deliveredSince: count("deliveredSince") };
}

/** The states of the shown dead letters, by place, once every way of counting them agreed with them. */
async function statesOf(read: Read): Promise<ReadonlyMap<string, DeadLetterState>> {
  const deadLetters = read.deadLetters();
  const shown = read.shown();
  const { entries } = await deadLetters.page({ filter: {}, limit: MANY });
  const states = new Map(entries.map((each) => [deadLetterPlace(each), deadLetters.stateOf(each)] as const));
  expect(new Set(states.keys())).toEqual(new Set(shown.map(deadLetterPlace)));
  const open = await deadLetters.page({ filter: {}, isOpen: true, limit: MANY });
  expect(open.entries.map(deadLetterPlace)).toEqual(
    shown.map(deadLetterPlace).filter((place) => states.get(place) === "open"),
  );
  const { groups } = await groupDeadLetters(deadLetters, { filter: {}, limit: MANY, after: undefined });
  expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(shown.length);
  for (const { destinationId, reason, error, count, open: left, deliveredSince, hours } of groups) {
    const ofIt = shown.filter((each) => {
      const [first = null] = (JSON.parse(each.detail) as { errors: string[] }).errors;
      return each.destinationId === destinationId && each.kind === reason && first === error;
    });
    const expected = sumsOf(ofIt.map((each) => states.get(deadLetterPlace(each)) ?? "open"));
    expect({ count, open: left, deliveredSince }).toEqual({ count: ofIt.length, ...expected });
    expect([...hours.values()].reduce((sum, hour) => sum + hour.open, 0)).toBe(left);
  }
  const readModel = { deadLetterTotals: async (id: string) => read.store.deadLetterTotals(id) };
  const ofDestination = new DestinationDeadLetters({ readModel, deadLetters, nowMs: () => read.nowMs });
  for (const destinationId of Object.keys(SETTLES)) {
    // Nobody sends those of suppressed users again.
    const ofIt = shown.filter((each) => each.destinationId === destinationId && each.kind !== "suppressed");
    const expected = sumsOf(ofIt.map((each) => states.get(deadLetterPlace(each)) ?? "open"));
    expect(await ofDestination.count(destinationId)).toEqual(expected);
  }
  return states;
}

let files = 0;

async function readAll(
  steps: readonly (DeadLetterFact | Attempt | Other)[],
  bounds: { readonly deadLetters: number; readonly attempts: number },
  check: (read: Read, states: ReadonlyMap<string, DeadLetterState>) => void,
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

it("LM1 to LM3: each dead letter is what attempts and dead letters say of it, in whatever order these are read", async () => {
  await fc.assert(
    fc.asyncProperty(log, fc.integer({ min: 2, max: 30 }), async (steps, deadLetters) => {
      await readAll(steps, { deadLetters, attempts: MANY }, (read, states) => {
        const byHand = new Map(read.shown().map((each) => [deadLetterPlace(each), stateByHand(read, each)]));
        expect(states).toEqual(byHand);
      });
    }),
  );
});

it("LC3: what is no more held of attempts makes no letter delivered, and no count wrong", async () => {
  await fc.assert(
    fc.asyncProperty(log, fc.integer({ min: 1, max: 6 }), async (steps, attempts) => {
      await readAll(steps, { deadLetters: 12, attempts }, (read, states) => {
        for (const each of read.shown()) {
          if (states.get(deadLetterPlace(each)) !== "deliveredSince") continue;
          expect(stateByHand(read, each)).toBe("deliveredSince");
        }
      });
    }),
  );
});
