import type { DeadLetterState } from "@posthaste/read-model/dead-letter-mark";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import { expect, it } from "vitest";
import { type DeadLetterGroup, type GroupPlace, groupDeadLetters, remedyOf } from "./dead-letter-groups.ts";
import type { VisibleHour } from "./visible-dead-letters.ts";

const HOUR_MS = 3_600_000;
const IN_COMMON = { destinationId: "dst_1", kind: "window_expired", reasonClass: "receiver", error: "503" };

/** Dead letters of one destination in three hours, the newest first, and a lone one of another. */
const DEAD_LETTERS = [
  { ...IN_COMMON, timeMs: 7 * HOUR_MS + 900, offset: 9 },
  { ...IN_COMMON, timeMs: 7 * HOUR_MS + 100, offset: 8 },
  { ...IN_COMMON, timeMs: 5 * HOUR_MS + 500, offset: 7 },
  { ...IN_COMMON, destinationId: "dst_2", error: null, timeMs: 4 * HOUR_MS, offset: 2 },
  { ...IN_COMMON, timeMs: 3 * HOUR_MS, offset: 1 },
];

const GROUPED = [
  {
    ...{ destinationId: "dst_1", reason: "window_expired", reasonClass: "receiver", error: "503" },
    ...{ count: 4, open: 2, deliveredSince: 1, firstMs: 3 * HOUR_MS, lastMs: 7 * HOUR_MS + 900, sample: "0:9" },
    hours: new Map([
      [7 * HOUR_MS, { count: 2, open: 1 }],
      [5 * HOUR_MS, { count: 1, open: 0 }],
      [3 * HOUR_MS, { count: 1, open: 1 }],
    ]),
  },
  {
    ...{ destinationId: "dst_2", reason: "window_expired", reasonClass: "receiver", error: null },
    ...{ count: 1, open: 1, deliveredSince: 0, firstMs: 4 * HOUR_MS, lastMs: 4 * HOUR_MS, sample: "0:2" },
    hours: new Map([[4 * HOUR_MS, { count: 1, open: 1 }]]),
  },
];

/** The state of a dead letter, keyed by its offset. */
const STATES: Readonly<Record<number, DeadLetterState>> = { 8: "deliveredSince", 7: "diedAgain" };
const stateOf = (entry: object): DeadLetterState => STATES[(entry as ProjectionEntry).offset] ?? "open";

function entryOf({
  destinationId,
  kind,
  reasonClass,
  error,
  timeMs,
  offset,
}: (typeof DEAD_LETTERS)[number]): ProjectionEntry {
  const detail = JSON.stringify({ reasonClass, errors: error === null ? [] : [error, "timeout"], lastAttempt: [] });
  return { destinationId, kind, timeMs, partition: 0, offset, place: 0, messageId: "m", detail, users: "" };
}

async function* one(): AsyncGenerator<ProjectionEntry> {
  for (const each of DEAD_LETTERS) yield entryOf(each);
}

it("dead letters are in the same groups, by the hour as they were counted and one by one", async () => {
  const hours = [
    {
      ...{ ...IN_COMMON, hourMs: 3 * HOUR_MS, count: 1, open: 1, deliveredSince: 0 },
      ...{ firstMs: 3 * HOUR_MS, lastMs: 3 * HOUR_MS, sample: "0:1" },
    },
    {
      ...{ ...IN_COMMON, hourMs: 5 * HOUR_MS, count: 1, open: 0, deliveredSince: 0 },
      ...{ firstMs: 5 * HOUR_MS + 500, lastMs: 5 * HOUR_MS + 500, sample: "0:7" },
    },
    {
      ...{ ...IN_COMMON, hourMs: 7 * HOUR_MS, count: 2, open: 1, deliveredSince: 1 },
      ...{ firstMs: 7 * HOUR_MS + 100, lastMs: 7 * HOUR_MS + 900, sample: "0:9" },
    },
    {
      ...{
        ...IN_COMMON,
        destinationId: "dst_2",
        error: null,
        hourMs: 4 * HOUR_MS,
        count: 1,
        open: 1,
        deliveredSince: 0,
      },
      ...{ firstMs: 4 * HOUR_MS, lastMs: 4 * HOUR_MS, sample: "0:2" },
    },
  ] satisfies readonly VisibleHour[];
  const all = { filter: {}, limit: 2, after: undefined };
  const page = { groups: GROUPED, next: null, total: 2 };
  expect(await groupDeadLetters({ hours: async () => hours, shown: one, stateOf }, all)).toEqual(page);
  expect(await groupDeadLetters({ hours: async () => null, shown: one, stateOf }, all)).toEqual(page);
});

it("groups with the most open dead letters come first, then the largest, and each is on one page", async () => {
  const counts: [id: string, count: number, deliveredSince: number][] = [
    ["e", 1, 0],
    ["b", 2, 0],
    ["d", 1, 0],
    ["f", 10, 10],
    ["a", 1, 0],
    ["c", 3, 0],
    ["g", 9, 9],
  ];
  let hours = counts.map(([destinationId, count, deliveredSince]) => ({
    ...{ ...IN_COMMON, destinationId, count, open: count - deliveredSince, deliveredSince },
    ...{ hourMs: 0, firstMs: 1, lastMs: 1, sample: "0:1" },
  }));
  const shown: string[] = [];
  let after: GroupPlace | undefined;
  do {
    const asked = { filter: {}, limit: 2, after };
    const { groups, next, total } = await groupDeadLetters({ hours: async () => hours, shown: one, stateOf }, asked);
    expect(total).toBe(7);
    shown.push(groups.map(({ destinationId }) => destinationId).join(""));
    after = next ?? undefined;
    hours = hours.toReversed();
  } while (after !== undefined);
  expect(shown).toEqual(["cb", "ad", "ef", "g"]);
});

type Died = Pick<DeadLetterGroup, "reason" | "reasonClass" | "error">;

/** The words that each remedy alone has, and dead letters with this remedy. */
const REMEDIES: readonly [says: RegExp, of: readonly Died[]][] = [
  [/^turn the destination on, then replay$/, diedOf("destination_disabled", "configuration", [null, "503", "401"])],
  [/is no more: purge them, or export them$/, diedOf("destination_removed", "configuration", [null, "503", "403"])],
  [/^change the URL, or .* allow its network, then replay$/, diedOf("address_refused", "configuration", [null, "401"])],
  [/^nothing: a deletion asked for it$/, diedOf("suppressed", "configuration", [null, "503", "401"])],
  [
    /^check the secret and the headers of the destination, then replay$/,
    [
      ...diedOf("rejected_by_receiver", "configuration", ["401", "403"]),
      ...diedOf("rejected_by_receiver", "receiver", ["401"]),
      ...diedOf("window_expired", "receiver", ["401", "403"]),
      ...diedOf("other", "pipeline", ["401"]),
    ],
  ],
  [
    /^check the URL of the destination, then replay$/,
    [
      ...diedOf("rejected_by_receiver", "configuration", ["404", "400", null]),
      ...diedOf("window_expired", "configuration", ["tls_failed"]),
    ],
  ],
  [
    /^look at delivery's log, then replay$/,
    [...diedOf("other", "pipeline", [null, "503"]), ...diedOf("window_expired", "pipeline", [null])],
  ],
  [
    /^the receiver refuses what it is sent: mend it there, then replay$/,
    [
      ...diedOf("rejected_by_receiver", "receiver", ["422", "404", null]),
      ...diedOf("rejected_by_receiver", "other", ["422"]),
    ],
  ],
  [
    /^the receiver did not take it before its retries ended: replay when it answers again$/,
    [...diedOf("window_expired", "receiver", ["503", "timeout", null]), ...diedOf("window_expired", "other", ["503"])],
  ],
  [
    /^its reason is of a later release: look at what its URLs answered, then replay$/,
    [...diedOf("other", "receiver", ["503", null]), ...diedOf("other", "other", ["503"])],
  ],
];

function diedOf(
  reason: Died["reason"],
  reasonClass: Died["reasonClass"],
  errors: readonly Died["error"][],
): readonly Died[] {
  return errors.map((error) => ({ reason, reasonClass, error }));
}

it.each(REMEDIES)("a remedy says %s of what died of that, and of nothing else", (says, of) => {
  for (const [, died] of REMEDIES) {
    for (const each of died) expect([each, says.test(remedyOf(each))]).toEqual([each, died === of]);
  }
});
