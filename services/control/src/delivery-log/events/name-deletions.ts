/** Finds the deletion requests that stopped events, for the verdicts on them. */
import type { Event } from "@posthaste/core/event/event";
import { userOf } from "@posthaste/core/routing/partition-key";
import {
  type StoppedBy,
  type StoppedUser,
  type StoppingDeletions,
  userDigest,
} from "@posthaste/deletions/stopping-deletions";
import type { EventFacts } from "./event-facts.ts";
import { causeOf, type JudgedEvent } from "./event-verdict.ts";
import type { RoutedEvent } from "./routed-events.ts";

/** The most events under one message id whose requests are looked for. */
const MOST = 5;
/** How many events of a list are looked at at a time, since each may have to be read. */
const AT_ONCE = 5;

export interface NameDeletionsParts {
  readonly deletions: Pick<StoppingDeletions, "find">;
  /** The event at a place of `posthaste.events`; null where it is no longer there. Rejects while brokers are silent. */
  readonly readEvent: (place: { readonly partition: number; readonly offset: number }) => Promise<Event | null>;
}

/** The same events. The first `MOST` stopped events have the known facts of their deletion requests. */
export async function nameDeletions(
  judged: readonly JudgedEvent[],
  parts: NameDeletionsParts,
): Promise<readonly JudgedEvent[]> {
  const stopped = new Set(judged.filter(isStopped).slice(0, MOST));
  return await Promise.all(
    judged.map(async (each) => (stopped.has(each) ? { ...each, stoppedBy: await stoppedBy(each, parts) } : each)),
  );
}

/**
 * The same events of a list, in their order, as `nameDeletions` has them. A look-up that has not begun when `enough` is
 * aborted is skipped, and its event says so.
 */
export async function nameListedDeletions(
  judged: readonly JudgedEvent[],
  parts: NameDeletionsParts,
  enough: AbortSignal,
): Promise<readonly JudgedEvent[]> {
  const named = [...judged];
  const stopped = [...judged.entries()].filter(([, each]) => isStopped(each)).values();
  const work = async (): Promise<void> => {
    // Each event is taken by one of those who work.
    for (const [index, each] of stopped) {
      const by: StoppedBy = enough.aborted ? { state: "not_looked_up" } : await stoppedBy(each, parts);
      named[index] = { ...each, stoppedBy: by };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return named;
}

/** The request that hides the dead letters of which alone something is known; undefined where there are none. */
export async function hiddenBy(
  { suppressedDeadLetters }: Pick<EventFacts, "suppressedDeadLetters">,
  { deletions }: Pick<NameDeletionsParts, "deletions">,
): Promise<StoppedBy | undefined> {
  const [first] = suppressedDeadLetters;
  return first === undefined ? undefined : await deletions.find({ ...first, atMs: null });
}

function isStopped(event: JudgedEvent): boolean {
  return (
    event.cause === "suppressed" ||
    ("deliveries" in event && event.deliveries.some((delivery) => causeOf(delivery) === "suppressed"))
  );
}

async function stoppedBy(event: JudgedEvent, { deletions, readEvent }: NameDeletionsParts): Promise<StoppedBy> {
  if ("routed" in event) return await deletions.find(userOfRouted(event.routed));
  if (!("unrouted" in event)) return { state: "not_known" };
  const { sourceId, messageId, unroutedAtMs, originPartition: partition, originOffset: offset } = event.unrouted;
  try {
    // The router tells nothing of a suppressed user; the event itself does, for as long as its topic keeps it.
    const record = await readEvent({ partition, offset });
    const isIt = record !== null && record.messageId === messageId && record.sourceId === sourceId;
    return await deletions.find({ sourceId, digests: isIt ? digestsOf(record) : [], atMs: unroutedAtMs });
  } catch {
    return { state: "not_looked_up" };
  }
}

function digestsOf(event: Event): readonly string[] {
  const { sourceId, type, previousId } = event;
  const replaced = type === "alias" && previousId !== null ? [previousId] : [];
  return [userOf(event), ...replaced].map((userKey) => userDigest(sourceId, userKey));
}

function userOfRouted({ sourceId, said, users, deliveries }: RoutedEvent): StoppedUser {
  const userKey = said?.userKey ?? null;
  const digests = new Set([...users, ...(userKey === null ? [] : [userDigest(sourceId, userKey)])]);
  const dropped = [...deliveries.values()].flatMap(({ deadLetters, attempts }) => [
    ...deadLetters.filter(({ reason }) => reason === "suppressed").map(({ deadAtMs }) => deadAtMs),
    ...attempts
      .filter(({ followUps }) => followUps.some(({ reason }) => reason === "suppressed"))
      .map(({ startedAtMs }) => startedAtMs),
  ]);
  return { sourceId, digests: [...digests], atMs: dropped.length === 0 ? null : Math.max(...dropped) };
}
