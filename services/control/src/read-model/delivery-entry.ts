/**
 * Deliveries as entries of their journal, and back: what is known of one delivery of an event to a destination, of the
 * first sending or of one replay. An attempt, a first deferral and a dead letter each become the entry of a delivery of
 * which nothing else is known; `DeliveryTable` joins them.
 */
import type {
  AttemptBatch,
  AttemptRecord,
  DeferralRecord,
  LoggedDelivery,
  UrlAttempt,
} from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { isOriginKnown } from "@posthaste/core/delivery/replay";
import type { DeliveryFacts, LetterFact } from "@posthaste/core/verdict/delivery-facts";
import { type DeliveryState, stateOf } from "@posthaste/core/verdict/delivery-state";
import { addFacts, lastFact } from "@posthaste/core/verdict/newest-facts";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { type JournalCursor, newestFirst } from "./journal-cursor.ts";
import type { JournalEntry } from "./journal-entry.ts";

/** What a dead letter says of its delivery. */
export interface KnownLetter extends LetterFact, Pick<LoggedDelivery, "type" | "event" | "userKey" | "receivedAtMs"> {}

type KnownFacts = DeliveryFacts<KnownLetter>;

export interface KnownDelivery extends Pick<LoggedDelivery, "sourceId" | "replayId"> {
  readonly messageId: string;
  readonly destinationId: string;
  /** The event's place in `posthaste.events`; null where it is not known. */
  readonly origin: { readonly partition: number; readonly offset: number } | null;
  readonly facts: KnownFacts;
  /** The delay of the retry topic that it waits in after an attempt; null where it does not, or was deferred. */
  readonly delayMs: number | null;
  readonly state: DeliveryState;
  /** Of the newest that is known of it. */
  readonly timeMs: number;
}

/** What the journal's own columns do not hold. A million of them are held, so each fact is kept short. */
interface DeliveryDetail extends Pick<KnownDelivery, "sourceId" | "replayId" | "origin" | "delayMs"> {
  /** Of one that waits after an attempt, as `delayMs`: for the index by it. */
  readonly dueAtMs?: number | undefined;
  /** And when it is given up, for the index by that. */
  readonly deadlineMs?: number | null | undefined;
  readonly attempts: readonly KeptAttempt[];
  readonly deferrals: readonly KeptDeferral[];
  readonly letters: readonly KeptLetter[];
}

/** What a record of the log says beside how its delivery stands: the other journals keep it. */
const NOT_KEPT = {
  ...{ configOffset: null, recordDelayMs: null, recordPartition: null, recordOffset: null, recordTimestampMs: null },
  deferrals: 0,
};
type Left = keyof typeof NOT_KEPT | "messageId" | "destinationId" | "sourceId" | "replayId" | Origin;
type Origin = "originPartition" | "originOffset";
type KeptUrl = readonly [url: string, status: number | null, error: string | null, durationMs: number];
type KeptAttempt = Omit<AttemptRecord, Left | "urls"> & { readonly urls: readonly KeptUrl[] };
type KeptDeferral = Omit<DeferralRecord, Left>;
type KeptAnswer = readonly [url: string, status: number | null, error: string | null];
type KeptLetter = Omit<KnownLetter, "lastAttempt"> & { readonly lastAttempt: readonly KeptAnswer[] };

type Place = Pick<JournalCursor, "partition" | "offset">;
type Named = Pick<KnownDelivery, "messageId" | "destinationId" | "sourceId" | "replayId" | "origin">;

/** Places of one record's attempts, deferrals and of a letter differ, so that an entry's name stays its own. */
const [OF_ATTEMPT, OF_DEFERRAL, OF_LETTER, KINDS] = [0, 1, 2, 3];

/** What the attempts and the first deferrals of a record say of their deliveries. */
export function loggedDeliveryEntries({ attempts, deferrals }: AttemptBatch, at: Place): readonly JournalEntry[] {
  return [
    ...attempts.map((attempt, index) => {
      const facts = { ...NOTHING, attempts: [attempt] };
      return entryOf({ ...namedBy(attempt), facts }, { ...at, place: index * KINDS + OF_ATTEMPT });
    }),
    ...deferrals.map((deferral, index) => {
      const facts = { ...NOTHING, deferrals: [deferral] };
      return entryOf({ ...namedBy(deferral), facts }, { ...at, place: index * KINDS + OF_DEFERRAL });
    }),
  ];
}

/** What a dead letter says of its delivery. */
export function lostDeliveryEntries(
  letter: DeadLetter,
  { partition, offset }: Pick<IncomingRecord, "partition" | "offset">,
): readonly JournalEntry[] {
  const { messageId, destinationId, sourceId, replayId, originTopic, originPartition, originOffset } = letter;
  const { deadAtMs, reason, reasonClass, attempts, type, event, userKey, receivedAtMs } = letter;
  // A letter from before `originTopic` says by its incarnation whether it knows where it came from.
  const hasOrigin = originTopic !== null || isOriginKnown(letter, null);
  const lastAttempt = letter.lastAttempt.map(({ url, status, error }) => ({ url, status, error }));
  const known: KnownLetter = {
    ...{ deadAtMs, reason, reasonClass, attempts, replayId, lastAttempt, place: `${partition}:${offset}` },
    ...{ type, event, userKey, receivedAtMs },
  };
  const origin = hasOrigin ? { partition: originPartition, offset: originOffset } : null;
  const named = { messageId, destinationId, sourceId, replayId, origin };
  return [entryOf({ ...named, facts: { ...NOTHING, letters: [known] } }, { partition, offset, place: OF_LETTER })];
}

const NOTHING: KnownFacts = { attempts: [], deferrals: [], letters: [] };

/** Reads back what the others made. */
export function deliveryFromEntry({ timeMs, messageId, destinationId, kind, detail }: JournalEntry): KnownDelivery {
  // The journal holds what was put into it.
  const { attempts, deferrals, letters, dueAtMs: _, deadlineMs: __, ...rest } = JSON.parse(detail) as DeliveryDetail;
  const { sourceId, replayId, origin } = rest;
  const [originPartition, originOffset] = [origin?.partition ?? null, origin?.offset ?? null];
  const left = { ...NOT_KEPT, messageId, destinationId, sourceId, replayId, originPartition, originOffset };
  const facts: KnownFacts = {
    attempts: attempts.map((attempt) => ({ ...left, ...attempt, urls: attempt.urls.map(urlFrom) })),
    deferrals: deferrals.map((deferral) => ({ ...left, ...deferral })),
    letters: letters.map((letter) => ({ ...letter, lastAttempt: letter.lastAttempt.map(answerFrom) })),
  };
  return { ...rest, facts, messageId, destinationId, timeMs, state: kind as DeliveryState };
}

/** Whether both are of one event's same sending; they are of one message id and one destination. */
export function isSameDelivery(one: Named, other: Named): boolean {
  if (one.sourceId !== other.sourceId || one.replayId !== other.replayId) return false;
  return one.origin?.partition === other.origin?.partition && one.origin?.offset === other.origin?.offset;
}

/** The entry of a delivery of which both are known. The same whichever is held and whichever comes. */
export function joinedEntry(held: JournalEntry, more: JournalEntry): JournalEntry {
  const [known, added] = [deliveryFromEntry(held), deliveryFromEntry(more)];
  const newer = newestFirst(held, more) > 0 ? more : held;
  return entryOf({ ...known, facts: addFacts(known.facts, added.facts) }, newer);
}

function entryOf(
  { messageId, destinationId, sourceId, replayId, origin, facts }: Named & Pick<KnownDelivery, "facts">,
  { partition, offset, place }: Omit<JournalCursor, "timeMs">,
): JournalEntry {
  const { state, verdict } = stateOf(facts, 0);
  const { delayMs, dueAtMs, deadlineMs } = verdict?.cause === "waiting_retry" ? verdict : { delayMs: null };
  const kept = { attempts: facts.attempts.map(keptAttempt), deferrals: facts.deferrals.map(keptDeferral) };
  const letters = facts.letters.map(keptLetter);
  const detail: DeliveryDetail = { sourceId, replayId, origin, delayMs, dueAtMs, deadlineMs, ...kept, letters };
  const timeMs = lastFact(facts)?.atMs ?? 0;
  const named = { timeMs, partition, offset, place, destinationId, messageId };
  return { ...named, kind: state, detail: JSON.stringify(detail), users: "" };
}

function keptAttempt(attempt: AttemptRecord): KeptAttempt {
  const { type, event, userKey, receivedAtMs, attempt: number, startedAtMs, outcome, urls, followUps } = attempt;
  return {
    ...{ type, event, userKey, receivedAtMs, attempt: number, startedAtMs, outcome, followUps },
    urls: urls.map(({ url, status, error, durationMs }) => [url, status, error, durationMs]),
  };
}

function keptDeferral(deferral: DeferralRecord): KeptDeferral {
  const { type, event, userKey, receivedAtMs, attempts, deferredAtMs, cause, urls, delayMs, dueAtMs } = deferral;
  const { deadlineMs } = deferral;
  return { type, event, userKey, receivedAtMs, attempts, deferredAtMs, cause, urls, delayMs, dueAtMs, deadlineMs };
}

function keptLetter({ lastAttempt, ...letter }: KnownLetter): KeptLetter {
  return { ...letter, lastAttempt: lastAttempt.map(({ url, status, error }) => [url, status, error]) };
}

function answerFrom([url, status, error]: KeptAnswer): KnownLetter["lastAttempt"][number] {
  return { url, status, error };
}

function urlFrom([url, status, error, durationMs]: KeptUrl): UrlAttempt {
  return { url, status, error, durationMs, answer: null };
}

function namedBy({
  messageId,
  destinationId,
  sourceId,
  replayId,
  originPartition,
  originOffset,
}: LoggedDelivery): Named {
  const hasOrigin = originPartition !== null && originOffset !== null;
  const origin = hasOrigin ? { partition: originPartition, offset: originOffset } : null;
  return { messageId, destinationId, sourceId, replayId, origin };
}
