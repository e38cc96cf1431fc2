/**
 * Deliveries as entries of their projection, and back. An entry holds the facts about one delivery of an event to a
 * destination, of the first sending or of one replay. An attempt, a first deferral and a dead letter each become an
 * entry with that one fact; `DeliveryTable` joins the entries of one delivery.
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
import type { DeadLetterFact, DeliveryFacts } from "@posthaste/core/verdict/delivery-facts";
import { type DeliveryState, stateOf } from "@posthaste/core/verdict/delivery-state";
import { addFacts, lastFact } from "@posthaste/core/verdict/newest-facts";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { attemptEntries, attemptFromEntry, deferralEntries, deferralFromEntry } from "./attempt-entry.ts";
import { joinedAnswers, type PastAnswer } from "./past-answers.ts";
import type { ProjectionEntry } from "./projection-entry.ts";
import { newestFirst, type ProjectionCursor } from "./projection-entry.ts";

/** The facts that a dead letter holds about its delivery. */
export interface KnownDeadLetter
  extends DeadLetterFact,
    Pick<LoggedDelivery, "type" | "event" | "userKey" | "receivedAtMs"> {}

type KnownFacts = DeliveryFacts<KnownDeadLetter>;

export interface KnownDelivery extends Pick<LoggedDelivery, "sourceId" | "replayId"> {
  readonly messageId: string;
  readonly destinationId: string;
  /** The event's place in `posthaste.events`; null where it is not known. */
  readonly origin: { readonly partition: number; readonly offset: number } | null;
  readonly facts: KnownFacts;
  /** The answers to the newest attempts whose facts are no longer needed. */
  readonly pastAnswers: readonly PastAnswer[];
  /**
   * The delay of the retry topic in which the delivery waits after an attempt; null where it does not wait, or was
   * deferred.
   */
  readonly delayMs: number | null;
  readonly state: DeliveryState;
  /** The time of its newest fact. */
  readonly timeMs: number;
}

/**
 * The fields that the projection has no columns for. A projection holds a million of them, so each fact is kept short.
 */
interface DeliveryDetail extends Pick<KnownDelivery, "sourceId" | "replayId" | "origin" | "delayMs"> {
  /** When a delivery that waits after an attempt, as `delayMs`, is due; for the index by it. */
  readonly dueAtMs?: number | undefined;
  /** When delivery gives that delivery up; for the index by it. */
  readonly deadlineMs?: number | null | undefined;
  /** Absent where there are none, and in an entry of an earlier release. */
  readonly pastAnswers?: readonly PastAnswer[] | undefined;
  readonly attempts: readonly KeptAttempt[];
  readonly deferrals: readonly KeptDeferral[];
  /** Named so in the tables of earlier releases. */
  readonly letters: readonly KeptDeadLetter[];
}

/** The fields of a log record that tell nothing of its delivery's state: the other projections keep them. */
const NOT_KEPT = {
  ...{ configOffset: null, recordDelayMs: null, recordPartition: null, recordOffset: null, recordTimestampMs: null },
  ...{ deferrals: 0, bodyBytes: null },
};
type Left = keyof typeof NOT_KEPT | "messageId" | "destinationId" | "sourceId" | "replayId" | Origin;
type Origin = "originPartition" | "originOffset";
type KeptUrl = readonly [url: string, status: number | null, error: string | null, durationMs: number];
type KeptAttempt = Omit<AttemptRecord, Left | "urls"> & { readonly urls: readonly KeptUrl[] };
type KeptDeferral = Omit<DeferralRecord, Left>;
type KeptAnswer = readonly [url: string, status: number | null, error: string | null];
type KeptDeadLetter = Omit<KnownDeadLetter, "lastAttempt"> & { readonly lastAttempt: readonly KeptAnswer[] };

type Place = Pick<ProjectionCursor, "partition" | "offset">;
type Numbered = Omit<ProjectionCursor, "timeMs">;
type Named = Pick<KnownDelivery, "messageId" | "destinationId" | "sourceId" | "replayId" | "origin">;
type Held = Named & Pick<KnownDelivery, "facts"> & Partial<Pick<KnownDelivery, "pastAnswers">>;

/** Keeps apart the places of a record's attempts, deferrals and dead letter, so that each entry's name is its own. */
const [OF_ATTEMPT, OF_DEFERRAL, OF_DEAD_LETTER, KINDS] = [0, 1, 2, 3];

/** The entries of the deliveries that a record's attempts and first deferrals are about. */
export function loggedDeliveryEntries(batch: AttemptBatch, at: Place): readonly ProjectionEntry[] {
  return deliveriesOf({ attempts: attemptEntries(batch, at), deferrals: deferralEntries(batch, at) });
}

interface LoggedEntries {
  readonly attempts?: readonly ProjectionEntry[];
  readonly deferrals?: readonly ProjectionEntry[];
}

/** The same, from the entries of those attempts and first deferrals, of any records. */
export function deliveriesOf({ attempts = [], deferrals = [] }: LoggedEntries): readonly ProjectionEntry[] {
  return [
    ...attempts.map((entry) => entryOfAttempt(attemptFromEntry(entry), entry)),
    ...deferrals.map((entry) => entryOfDeferral(deferralFromEntry(entry), entry)),
  ];
}

function entryOfAttempt(attempt: AttemptRecord, { partition, offset, place }: Numbered): ProjectionEntry {
  const facts = { ...NOTHING, attempts: [attempt] };
  return entryOf({ ...namedBy(attempt), facts }, { partition, offset, place: place * KINDS + OF_ATTEMPT });
}

function entryOfDeferral(deferral: DeferralRecord, { partition, offset, place }: Numbered): ProjectionEntry {
  const facts = { ...NOTHING, deferrals: [deferral] };
  return entryOf({ ...namedBy(deferral), facts }, { partition, offset, place: place * KINDS + OF_DEFERRAL });
}

/** The entry of a dead letter's delivery. */
export function lostDeliveryEntries(
  deadLetter: DeadLetter,
  { partition, offset }: Pick<IncomingRecord, "partition" | "offset">,
): readonly ProjectionEntry[] {
  const { messageId, destinationId, sourceId, replayId, originTopic, originPartition, originOffset } = deadLetter;
  const { deadAtMs, reason, reasonClass, attempts, type, event, userKey, receivedAtMs } = deadLetter;
  // A dead letter from before `originTopic` says by its topic generation whether it knows where it came from.
  const hasOrigin = originTopic !== null || isOriginKnown(deadLetter, null);
  const lastAttempt = deadLetter.lastAttempt.map(({ url, status, error }) => ({ url, status, error }));
  const known: KnownDeadLetter = {
    ...{ deadAtMs, reason, reasonClass, attempts, replayId, lastAttempt, place: `${partition}:${offset}` },
    ...{ type, event, userKey, receivedAtMs },
  };
  const origin = hasOrigin ? { partition: originPartition, offset: originOffset } : null;
  const named = { messageId, destinationId, sourceId, replayId, origin };
  return [
    entryOf({ ...named, facts: { ...NOTHING, deadLetters: [known] } }, { partition, offset, place: OF_DEAD_LETTER }),
  ];
}

const NOTHING: KnownFacts = { attempts: [], deferrals: [], deadLetters: [] };

/** Reads back an entry of this file. */
export function deliveryFromEntry({ timeMs, messageId, destinationId, kind, detail }: ProjectionEntry): KnownDelivery {
  // The projection holds the detail that this file wrote.
  const { attempts, deferrals, letters, ...others } = JSON.parse(detail) as DeliveryDetail;
  const { dueAtMs: _, deadlineMs: __, pastAnswers = [], ...rest } = others;
  const { sourceId, replayId, origin } = rest;
  const [originPartition, originOffset] = [origin?.partition ?? null, origin?.offset ?? null];
  const left = { ...NOT_KEPT, messageId, destinationId, sourceId, replayId, originPartition, originOffset };
  const facts: KnownFacts = {
    attempts: attempts.map((attempt) => ({ ...left, ...attempt, urls: attempt.urls.map(urlFrom) })),
    deferrals: deferrals.map((deferral) => ({ ...left, ...deferral })),
    deadLetters: letters.map((deadLetter) => ({
      ...deadLetter,
      lastAttempt: deadLetter.lastAttempt.map(answerFrom),
    })),
  };
  return { ...rest, facts, pastAnswers, messageId, destinationId, timeMs, state: kind as DeliveryState };
}

/** An entry that is held of a delivery, and the entry that takes its place. */
export interface JoinedEntry {
  readonly held: ProjectionEntry;
  readonly joined: ProjectionEntry;
}

/**
 * The entry among these that is of the same delivery, joined with further facts, the same whichever of the two is held
 * already; undefined where there is none. The caller has compared the message id and the destination.
 */
export function joinedAmong(others: readonly ProjectionEntry[], more: ProjectionEntry): JoinedEntry | undefined {
  const added = deliveryFromEntry(more);
  for (const held of others) {
    const known = deliveryFromEntry(held);
    if (!isSameDelivery(known, added)) continue;
    const newer = newestFirst(held, more) > 0 ? more : held;
    const facts = addFacts(known.facts, added.facts);
    const attempts = [...known.facts.attempts, ...added.facts.attempts];
    const pastAnswers = joinedAnswers([known.pastAnswers, added.pastAnswers], attempts, facts.attempts);
    return { held, joined: entryOf({ ...known, facts, pastAnswers }, newer) };
  }
  return undefined;
}

/** True where both are of the same sending of the same event. */
function isSameDelivery(one: Named, other: Named): boolean {
  if (one.sourceId !== other.sourceId || one.replayId !== other.replayId) return false;
  return one.origin?.partition === other.origin?.partition && one.origin?.offset === other.origin?.offset;
}

function entryOf(
  { messageId, destinationId, sourceId, replayId, origin, facts, pastAnswers = [] }: Held,
  { partition, offset, place }: Numbered,
): ProjectionEntry {
  const { state, verdict } = stateOf(facts, 0);
  const { delayMs, dueAtMs, deadlineMs } = verdict?.cause === "waiting_retry" ? verdict : { delayMs: null };
  const kept = { attempts: facts.attempts.map(keptAttempt), deferrals: facts.deferrals.map(keptDeferral) };
  const letters = facts.deadLetters.map(keptDeadLetter);
  const past = pastAnswers.length === 0 ? undefined : pastAnswers;
  const times = { delayMs, dueAtMs, deadlineMs };
  const detail: DeliveryDetail = { sourceId, replayId, origin, ...times, pastAnswers: past, ...kept, letters };
  const timeMs = lastFact(facts)?.atMs ?? 0;
  const named = { timeMs, partition, offset, place, destinationId, messageId };
  const receivedAtMs = receiptOf(facts);
  const entry = { ...named, kind: state, detail: JSON.stringify(detail), users: "" };
  return receivedAtMs === null ? entry : { ...entry, receivedAtMs };
}

/** Any fact has it, but those of earlier releases. */
function receiptOf({ attempts, deferrals, deadLetters }: KnownFacts): number | null {
  for (const { receivedAtMs } of [...attempts, ...deferrals, ...deadLetters])
    if (receivedAtMs !== null) return receivedAtMs;
  return null;
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

function keptDeadLetter({ lastAttempt, ...deadLetter }: KnownDeadLetter): KeptDeadLetter {
  return { ...deadLetter, lastAttempt: lastAttempt.map(({ url, status, error }) => [url, status, error]) };
}

function answerFrom([url, status, error]: KeptAnswer): KnownDeadLetter["lastAttempt"][number] {
  return { url, status, error };
}

function urlFrom([url, status, error, durationMs]: KeptUrl): UrlAttempt {
  return { url, status, error, durationMs, answer: null };
}

function namedBy(logged: LoggedDelivery): Named {
  const { messageId, destinationId, sourceId, replayId, originPartition, originOffset } = logged;
  const hasOrigin = originPartition !== null && originOffset !== null;
  const origin = hasOrigin ? { partition: originPartition, offset: originOffset } : null;
  return { messageId, destinationId, sourceId, replayId, origin };
}
