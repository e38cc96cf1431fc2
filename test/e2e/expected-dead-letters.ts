/** The expected output of the examples of docs/dead-letters.md, made of the dead letters as our own reader has them. */
import { type DeadLetter, lastAnswers } from "@posthaste/core/delivery/dead-letter";
import { expect } from "vitest";

export type Row = Readonly<Record<string, unknown>>;

/** As the example in Python prints it. */
export interface PrintedDeadLetter {
  readonly messageId: string;
  readonly destinationId: string;
  readonly reason: string;
  readonly reasonClass: string;
  readonly attempts: number;
  readonly userKey: string;
  readonly firstAttemptAtMs: number;
  readonly deadAtMs: number;
  readonly event: string;
  readonly originPartition: number;
  readonly originOffset: number;
  readonly history: readonly {
    attempt: number;
    startedAtMs: number;
    urls: readonly { url: string; status: number }[];
  }[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly event: string; readonly userId: string };
}

/** How many dead letters, or attempts of them, have the same words, as a line: `words count`. */
export function countLines(words: readonly (readonly unknown[])[]): ReadonlySet<string> {
  const counts = countsOf(words.map((each) => each.map(String).join(" ")));
  return new Set([...counts].map(([line, count]) => `${line} ${count}`));
}

export function countsOf<T>(values: readonly T[]): ReadonlyMap<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** By destination, the place of the remedy, the reason, and the first URL's last answer. */
export function toMend(deadLetters: readonly DeadLetter[]): ReadonlySet<string> {
  return countLines(
    deadLetters.map(({ destinationId, reasonClass, reason, history }) => [
      ...[destinationId, reasonClass, reason],
      history.at(-1)?.urls[0]?.status ?? null,
    ]),
  );
}

/** By destination and attempt, each URL's answer. */
export function answersOfAttempts(deadLetters: readonly DeadLetter[]): ReadonlySet<string> {
  return countLines(
    deadLetters.flatMap(({ destinationId, history }) =>
      history.flatMap(({ attempt, urls }) =>
        urls.map(({ status, error }) => [destinationId, attempt, status ?? error] as const),
      ),
    ),
  );
}

/** The cell of a column, or of a header, for its URLs' last answers; undefined where there is none. */
function lastOf(deadLetter: DeadLetter, what: "status" | "error"): string | undefined {
  const said = new Set(lastAnswers(deadLetter).flatMap((answer) => answer[what] ?? []));
  return said.size === 0 ? undefined : [...said].join(",");
}

/** The expected cell of a dead letter in each column but its place. */
export function rowOf(deadLetter: DeadLetter): Row {
  const { reason, reasonClass, destinationId, sourceId, messageId, type, event, userKey, attempts, deferrals } =
    deadLetter;
  const { originTopic, originPartition, originOffset, replayId, replays, replayedFrom } = deadLetter;
  const { lastAttempt, history } = deadLetter;
  const answers = lastAnswers(deadLetter);
  const errors = new Set(answers.map(({ error, status }) => error ?? String(status)));
  return {
    ...{ reason, reasonClass, destinationId, sourceId, messageId, type, event, userKey, attempts, deferrals },
    ...{ originTopic, originPartition, originOffset, replayId, replays, replayedFrom },
    time: deadLetter.deadAtMs,
    receivedAt: deadLetter.receivedAtMs,
    firstAttemptAt: deadLetter.firstAttemptAtMs,
    windowStart: deadLetter.windowStartMs,
    errors: [...errors].join(","),
    lastAttempt: JSON.stringify(lastAttempt),
    history: JSON.stringify(history),
    body: Buffer.from(deadLetter.body).toString(),
    rest: deadLetter.restJson,
  };
}

/** Asserts that value, headers and history of one dead letter, as Python prints them, equal the topic's content. */
export function expectWhole(deadLetter: PrintedDeadLetter | undefined, stored: DeadLetter, eventsTopic: string): void {
  const { reason, reasonClass, destinationId, sourceId, messageId, attempts, deadAtMs, firstAttemptAtMs } = stored;
  expect(deadLetter).toMatchObject({
    ...{ reason, reasonClass, destinationId, messageId, attempts, deadAtMs, firstAttemptAtMs },
    ...{ event: "Ordered", userKey: `user-of-${messageId}`, history: stored.history },
    body: { event: "Ordered", userId: stored.userKey },
  });
  expect(deadLetter?.headers).toMatchObject({
    ...{ reason, "reason-class": reasonClass, "destination-id": destinationId, "source-id": sourceId },
    ...{ "message-id": messageId, "user-key": stored.userKey, type: "track", event: "Ordered" },
    ...{ attempts: String(attempts), "dead-at-ms": String(deadAtMs), "first-attempt-at-ms": String(firstAttemptAtMs) },
    "origin-topic": eventsTopic,
    "origin-partition": String(deadLetter?.originPartition),
    "origin-offset": String(deadLetter?.originOffset),
  });
  expect([deadLetter?.headers["statuses"], deadLetter?.headers["errors"]]).toEqual([
    lastOf(stored, "status"),
    lastOf(stored, "error"),
  ]);
}

/** Asserts that a dead letter tells the truth: the receiver answered as it was told to, or did not within its time. */
export function expectMeant(
  { reason, reasonClass, attempts, history, firstAttemptAtMs }: DeadLetter,
  { url, status }: { readonly url: string; readonly status: number },
): void {
  const isRefused = history.at(-1)?.urls[0]?.status === 401;
  expect([reason, reasonClass]).toEqual(
    isRefused ? ["rejected_by_receiver", "configuration"] : ["window_expired", "receiver"],
  );
  expect(history.map(({ attempt }) => attempt)).toEqual(Array.from({ length: attempts }, (_, index) => index + 1));
  const moments = history.map(({ startedAtMs }) => startedAtMs);
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  expect(moments[0]).toBe(firstAttemptAtMs);
  for (const { urls } of history) {
    const error = urls[0]?.error ?? null;
    expect(urls).toMatchObject([{ url, status: error === null ? status : null }]);
  }
}

/** So that two lists of the same dead letters stand beside each other. */
export function inOrder<T extends { readonly messageId: string; readonly deadAtMs: number }>(some: readonly T[]) {
  return some.toSorted((a, b) =>
    a.messageId < b.messageId ? -1 : a.messageId > b.messageId ? 1 : a.deadAtMs - b.deadAtMs,
  );
}
