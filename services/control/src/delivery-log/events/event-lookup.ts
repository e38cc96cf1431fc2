/**
 * Looks up the events under a message id: in the projections and, where those leave an end open, among the records that
 * wait in the topics.
 */
import type { AuditLog, HeldEntry } from "@posthaste/configuration/audit-log";
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Destination } from "@posthaste/core/config/destination";
import { OPERATIONS_SOURCE, type Source } from "@posthaste/core/config/source";
import { deliveryKey, eventKey } from "@posthaste/core/routing/partition-key";
import { MAX_NAME_LENGTH } from "@posthaste/core/routing/short-name";
import type { PipelineAnswer, PipelineQuestion, PipelineSearch } from "@posthaste/pipeline/pipeline-search";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { VisibleDeadLetters } from "../deliveries/visible-dead-letters.ts";
import { DestinationHistory } from "./destination-history.ts";
import { type EventFacts, findEventFacts } from "./event-facts.ts";
import {
  type JudgedDelivery,
  type JudgedEvent,
  type JudgeTerms,
  judgeEvents,
  originOf,
  sourceIdOf,
} from "./event-verdict.ts";
import { type DestinationPage, destinationPage } from "./listed-destinations.ts";
import { type NameDeletionsParts, nameDeletions } from "./name-deletions.ts";

/** The most ms between a change and its audit entry, which control sends together: as long as a change may take. */
const APART_MS = 10_000;

/** How long, in ms, the audit may take to answer; after that the verdict goes without it. */
const PATIENCE_MS = 1000;

export interface LookupParts {
  readonly sources: ConfigStore<Source>;
  readonly destinations: ConfigStore<Destination>;
  readonly readModel: ReadModel;
  readonly deadLetters: VisibleDeadLetters;
  readonly pipeline: Pick<PipelineSearch, "find">;
  readonly audit: Pick<AuditLog, "page">;
  readonly naming: NameDeletionsParts;
}

/** The parts for a question to the projections alone. */
export type WrittenParts = Omit<LookupParts, "pipeline" | "audit" | "naming">;

export interface EventQuestion {
  readonly messageId: string;
  readonly sourceId?: string | undefined;
  /** The event's user. With it, only the partitions are read that hold the user's events and deliveries. */
  readonly userId?: string | undefined;
  /** The end of the page before, where the destinations are listed from there on. */
  readonly cursor?: string | undefined;
  /** Only the event at this place of `posthaste.events`, as `partition:offset`. */
  readonly origin?: string | undefined;
}

export interface EventLookup {
  readonly judged: readonly JudgedEvent[];
  readonly facts: EventFacts;
  /** Null where no end was open, so that no search ran. */
  readonly search: PipelineAnswer | null;
  /** The cursor of the next page of destinations; null where this one is the last. */
  readonly next: string | null;
}

type LookupTerms = Omit<JudgeTerms, "destinations" | "history" | "rest">;

/** Judges the events by the projections alone. Rejects with a Problem while the read model cannot be asked. */
export async function judgeWritten(
  asked: EventQuestion,
  parts: WrittenParts,
  terms: LookupTerms,
): Promise<Omit<EventLookup, "search">> {
  const page = await pageOf(asked, parts);
  const facts = await findEventFacts(asked.messageId, parts, page);
  return { facts, ...(await judgeFacts(facts, asked, { parts, terms, page })) };
}

async function pageOf({ messageId, cursor }: EventQuestion, { readModel }: WrittenParts): Promise<DestinationPage> {
  return destinationPage(await readModel.deliveriesOf(messageId), cursor);
}

async function judgeFacts(
  facts: EventFacts,
  { sourceId, origin }: EventQuestion,
  { parts, terms, page }: JudgeParts,
): Promise<Pick<EventLookup, "judged" | "next">> {
  const destinations = [...parts.destinations.values()];
  const { ids: rest, next } = page.rest(pastOf(facts, destinations));
  const history = await DestinationHistory.read(parts.readModel, rest);
  const judged = judgeEvents(facts, { ...terms, destinations, history, rest })
    .filter((each) => sourceId === undefined || sourceIdOf(each) === sourceId)
    .filter((each) => origin === undefined || originOf(each) === origin);
  return { judged, next };
}

interface JudgeParts {
  readonly parts: Pick<LookupParts, "destinations" | "readModel">;
  readonly terms: LookupTerms;
  readonly page: DestinationPage;
}

/**
 * Rejects with a Problem while the read model cannot be asked. `signal` is aborted when nobody waits for the answer any
 * longer.
 */
export async function lookUpEvent(
  asked: EventQuestion,
  parts: LookupParts,
  { signal, ...terms }: LookupTerms & { readonly signal: AbortSignal },
): Promise<EventLookup> {
  const { facts, judged, next } = await judgeWritten(asked, parts, terms);
  const question = openQuestion(asked, { facts, judged }, parts);
  if (question === null) return { judged: await named(judged, parts), facts, search: null, next };
  const search = await parts.pipeline.find(question, signal);
  // The projections are asked once more: a delivery under way during the search may have ended since.
  const page = await pageOf(asked, parts);
  const since = await findEventFacts(asked.messageId, parts, { ...page, unfinished: search });
  const then = await judgeFacts(since, asked, { parts, terms, page });
  return { judged: await named(then.judged, parts), facts: since, search, next: then.next };
}

/** Adds the authors who switched the events' destinations off, and the deletion requests that stopped the events. */
async function named(judged: readonly JudgedEvent[], { audit, naming }: LookupParts): Promise<readonly JudgedEvent[]> {
  return await nameDeletions(await nameWhoSwitchedOff(judged, audit), naming);
}

/** Destinations that were off, and those that the event did not go to: their history may explain the verdict. */
function pastOf({ unrouted, routed }: EventFacts, configured: readonly Destination[]): ReadonlySet<string> {
  const off = unrouted
    .filter(({ cause }) => cause === "destination_off")
    .flatMap(({ destinationIds }) => destinationIds);
  const others = routed.flatMap(({ sourceId, said, deliveries, unlisted }) =>
    configured
      .filter(({ id }) => !deliveries.has(id) && !unlisted.has(id))
      // A destination that was not changed since then has the sources that it had then.
      .filter((each) => each.sourceIds.includes(sourceId) || each.updatedAtMs > (said?.receivedAtMs ?? 0))
      .map(({ id }) => id),
  );
  return new Set([...off, ...others]);
}

/** The question to search for; null where nothing is open, since the end of each event and delivery is known. */
function openQuestion(
  asked: EventQuestion,
  { facts, judged }: Pick<EventLookup, "facts" | "judged">,
  parts: LookupParts,
): PipelineQuestion | null {
  const { messageId } = asked;
  if (judged.length === 0) {
    if (facts.suppressedDeadLetters.length > 0) return null;
    return { messageId, ...keysOfUser(asked, parts) };
  }
  const open = judged.flatMap((each) => ("routed" in each ? openDeliveries(each) : []));
  if (open.length === 0) return null;
  // The router writes all deliveries of an event at once.
  const keys = open.map(({ destinationId, userKey }) => (userKey === null ? null : keyOf(destinationId, userKey)));
  return { messageId, eventKeys: [], deliveryKeys: keys.includes(null) ? null : keys.filter((key) => key !== null) };
}

interface OpenDelivery {
  readonly destinationId: string;
  /** Null where the whole key is not known. */
  readonly userKey: string | null;
}

function openDeliveries({
  routed: { said },
  deliveries,
}: Extract<JudgedEvent, { readonly routed: unknown }>): readonly OpenDelivery[] {
  const userKey = said?.userKey ?? null;
  // The log may have shortened a key of that length.
  const whole = userKey !== null && userKey.length < MAX_NAME_LENGTH - 1 ? userKey : null;
  return deliveries
    .filter(({ verdict }) => verdict === null)
    .map(({ destinationId }) => ({ destinationId, userKey: whole }));
}

function keysOfUser(
  { sourceId, userId }: EventQuestion,
  { sources, destinations }: LookupParts,
): Pick<PipelineQuestion, "eventKeys" | "deliveryKeys"> {
  if (userId === undefined) return { eventKeys: null, deliveryKeys: null };
  // The user of an operational event is a destination.
  const operations = destinations.get(userId) === undefined ? [] : [OPERATIONS_SOURCE];
  const sourceIds = sourceId === undefined ? [...sources.values(), ...operations].map(({ id }) => id) : [sourceId];
  const connected = [...destinations.values()].filter((each) => each.sourceIds.some((id) => sourceIds.includes(id)));
  const subject = subjectOf(userId);
  return {
    eventKeys: sourceIds.map((id) => eventKey(id, subject)),
    deliveryKeys: connected.map(({ id }) => deliveryKey(id, subject)),
  };
}

function keyOf(destinationId: string, userKey: string): string {
  return deliveryKey(destinationId, subjectOf(userKey));
}

function subjectOf(userId: string) {
  return { userId, anonymousId: null, messageId: "" };
}

/** The same events, with the names of those who switched their destinations off. */
async function nameWhoSwitchedOff(
  judged: readonly JudgedEvent[],
  audit: Pick<AuditLog, "page">,
): Promise<readonly JudgedEvent[]> {
  const wanted = judged.flatMap(deliveriesOf).filter((each) => switchedOffAt(each) !== null);
  if (wanted.length === 0) return judged;
  const isWanted = (entry: HeldEntry) => wanted.some((each) => isOf(entry, each));
  const page = await audit.page({ limit: wanted.length, fits: isWanted }, PATIENCE_MS).catch(() => null);
  const named = (delivery: JudgedDelivery): JudgedDelivery => {
    const entry = page?.entries.find((each) => isOf(each, delivery));
    if (entry === undefined || delivery.verdict?.cause !== "destination_off") return delivery;
    return { ...delivery, verdict: { ...delivery.verdict, by: entry.actor } };
  };
  return judged.map((each) => ("deliveries" in each ? { ...each, deliveries: each.deliveries.map(named) } : each));
}

function deliveriesOf(each: JudgedEvent): readonly JudgedDelivery[] {
  return "deliveries" in each ? each.deliveries : [];
}

function isOf({ target, atMs, changes }: HeldEntry, { destinationId, verdict }: JudgedDelivery): boolean {
  const sinceMs = switchedOffAt({ verdict });
  if (sinceMs === null || target !== destinationId || Math.abs(atMs - sinceMs) > APART_MS) return false;
  return changes.some(({ field, to }) => field === "enabled" && to === "false");
}

function switchedOffAt({ verdict }: Pick<JudgedDelivery, "verdict">): number | null {
  return verdict?.cause === "destination_off" ? verdict.sinceMs : null;
}
