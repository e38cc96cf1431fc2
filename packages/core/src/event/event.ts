/** An event: a source's call after ingest has checked and completed it. */

/** The seven types of events. Six are calls; control makes a `delete` from a deletion request. */
export const EVENT_TYPES = ["page", "screen", "identify", "track", "alias", "group", "delete"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * The default of the enums in the schemas of deliveries, dead letters and attempts: a reader gets it in place of a word
 * of a later release, which so stops no earlier reader. No writer chooses it.
 */
export const OTHER = "other";
export type Other = typeof OTHER;

/**
 * One event as it stands in `posthaste.events`; `schemas/event.avsc` defines its fields.
 *
 * The caller's JSON travels serialised (`*Json`: the output of `JSON.stringify`, a fixed point of parse and
 * stringify), so that neither the router nor delivery parses it again.
 */
export interface Event {
  /** The source's id for the call, or one that ingest made; the receiver's idempotency key. */
  readonly messageId: string;
  readonly sourceId: string;
  readonly type: EventType;
  readonly userId: string | null;
  readonly anonymousId: string | null;
  /** The caller's time corrected for its clock, in ms since the epoch. */
  readonly timestampMs: number;
  /** When ingest accepted the call, in ms since the epoch. */
  readonly receivedAtMs: number;
  /** Which destinations are enabled, by name; an options object in the call counts as true. */
  readonly integrations: Readonly<Record<string, boolean>>;
  /** track: the event's name. */
  readonly event: string | null;
  /** page, screen: the name. */
  readonly name: string | null;
  readonly groupId: string | null;
  /** alias: the id that the user had before. */
  readonly previousId: string | null;
  /** A JSON object, or null where the type has none. */
  readonly propertiesJson: string | null;
  readonly traitsJson: string | null;
  /** A JSON object; `{}` where the call had none. */
  readonly contextJson: string;
  /** A JSON object with the call's other top-level fields (category, channel, originalTimestamp, …), or null. */
  readonly restJson: string | null;
}
