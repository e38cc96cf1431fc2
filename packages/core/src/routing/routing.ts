/** Which destinations an event goes to. */
import { type Destination, WEBHOOKS } from "../config/destination.ts";

/** The fields of a destination that routing needs; no secret is among them. */
export type RoutableDestination = Pick<Destination, "id" | "enabled" | "sourceIds" | "payload">;

/** Why an event became no delivery. */
export const UNROUTED_CAUSES = [
  /** No destination is connected to the source. */
  "no_destination",
  /** Every destination that is connected to the source is switched off. */
  "destination_off",
  /** The call's integrations switched the destination off. */
  "integrations",
  /** The source sent this message id before. */
  "duplicate",
  /** A deletion request stopped the user's events. */
  "suppressed",
] as const;
export type UnroutedCause = (typeof UNROUTED_CAUSES)[number];
/** The causes that follow from the configuration and the event itself. */
export type NotRouted = Exclude<UnroutedCause, "duplicate" | "suppressed">;

/**
 * The integrations rule: a destination that the map names is on or off as its entry says; `All: false` switches off
 * those that it does not name; all others are on. Names are case sensitive, but for `all: false`, which a widespread Go
 * client writes when its user asks for `All: false`: it counts where `All` is absent.
 */
export function isEnabledByIntegrations(integrations: Readonly<Record<string, boolean>>, name: string): boolean {
  const entry = integrationOf(integrations, name);
  return entry === null || (integrations[entry] ?? true);
}

/** The name of the entry that decides for a destination of this name; null where none does. */
export function integrationOf(integrations: Readonly<Record<string, boolean>>, name: string): string | null {
  for (const entry of [name, "All", "all"]) if (Object.hasOwn(integrations, entry)) return entry;
  return null;
}

const NONE: readonly RoutableDestination[] = [];
const NO_IDS: readonly string[] = [];

/**
 * The destinations of each source: those that are switched on, in order of id (R2), and the ids of those that are off.
 *
 * Owns: the newest state of every destination that it was told of, and the lists that it makes of them.
 * RT1  `destinationsOf` answers the same array until a destination of that source changes.
 * RT2  That list has exactly the enabled destinations whose `sourceIds` name the source, ids ascending by code unit;
 *      `switchedOff` has the ids of those that are not enabled, in the same order.
 */
export class RoutingTable {
  readonly #destinations = new Map<string, RoutableDestination>();
  readonly #bySource = new Map<string, readonly RoutableDestination[]>();
  readonly #offBySource = new Map<string, readonly string[]>();

  /** Notes the newest state of a destination; `undefined` when it was removed. */
  set(id: string, destination: RoutableDestination | undefined): void {
    const before = this.#destinations.get(id);
    for (const sourceId of before?.sourceIds ?? []) this.#drop(sourceId, id);
    if (destination === undefined) {
      this.#destinations.delete(id);
      return;
    }
    this.#destinations.set(id, destination);
    for (const sourceId of destination.sourceIds) this.#add(sourceId, destination);
  }

  /** Where the source's events go, before the integrations rule. */
  destinationsOf(sourceId: string): readonly RoutableDestination[] {
    return this.#bySource.get(sourceId) ?? NONE;
  }

  /** The ids of the source's destinations that are switched off. */
  switchedOff(sourceId: string): readonly string[] {
    return this.#offBySource.get(sourceId) ?? NO_IDS;
  }

  #drop(sourceId: string, id: string): void {
    put(
      this.#bySource,
      sourceId,
      this.destinationsOf(sourceId).filter((destination) => destination.id !== id),
    );
    put(
      this.#offBySource,
      sourceId,
      this.switchedOff(sourceId).filter((each) => each !== id),
    );
  }

  #add(sourceId: string, added: RoutableDestination): void {
    // The destination may name the source twice.
    this.#drop(sourceId, added.id);
    if (added.enabled) {
      const list = [...this.destinationsOf(sourceId), added];
      this.#bySource.set(
        sourceId,
        list.sort((a, b) => (a.id < b.id ? -1 : 1)),
      );
    } else this.#offBySource.set(sourceId, [...this.switchedOff(sourceId), added.id].sort());
  }
}

function put<T>(lists: Map<string, readonly T[]>, sourceId: string, list: readonly T[]): void {
  if (list.length === 0) lists.delete(sourceId);
  else lists.set(sourceId, list);
}

/**
 * The destinations that an event goes to, in order of id, or why there is none. All destinations have the one type, so
 * that the integrations switch on all of them or none.
 */
export function routeEvent(
  event: { readonly sourceId: string; readonly integrations: Readonly<Record<string, boolean>> },
  table: RoutingTable,
): readonly RoutableDestination[] | NotRouted {
  const destinations = table.destinationsOf(event.sourceId);
  if (destinations.length === 0)
    return table.switchedOff(event.sourceId).length > 0 ? "destination_off" : "no_destination";
  return isEnabledByIntegrations(event.integrations, WEBHOOKS) ? destinations : "integrations";
}
