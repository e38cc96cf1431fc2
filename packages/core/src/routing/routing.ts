/** Which destinations an event goes to. */
import { type Destination, WEBHOOKS } from "../config/destination.ts";

/** What routing needs of a destination; no secret is among it. */
export type RoutableDestination = Pick<Destination, "id" | "enabled" | "sourceIds" | "payload">;

/** Why an event became no delivery. */
export const UNROUTED_CAUSES = [
  /** No destination that is switched on is connected to the source. */
  "no_destination",
  /** The call's integrations switched the destination off. */
  "integrations",
  /** The source sent this message id before. */
  "duplicate",
  /** A deletion request stopped the user's events. */
  "suppressed",
] as const;
export type UnroutedCause = (typeof UNROUTED_CAUSES)[number];

/**
 * The integrations rule: a destination named in the map is on or off as it says; `All: false` switches off those that
 * are not named; all are on otherwise. Names are case sensitive, but for `all: false`, which a widespread Go client
 * writes when its user asks for `All: false`: it counts where `All` itself is absent.
 */
export function isEnabledByIntegrations(integrations: Readonly<Record<string, boolean>>, name: string): boolean {
  return own(integrations, name) ?? own(integrations, "All") ?? own(integrations, "all") ?? true;
}

function own(integrations: Readonly<Record<string, boolean>>, name: string): boolean | undefined {
  return Object.hasOwn(integrations, name) ? integrations[name] : undefined;
}

const NONE: readonly RoutableDestination[] = [];

/**
 * Destinations by source, as the router needs them for every event: those that are switched on, in order of id (R2).
 *
 * Owns: the newest state of every destination it was told of, and the lists made from it.
 * RT1  `destinationsOf` answers the same array until a destination of that source changes.
 * RT2  A list holds exactly the enabled destinations whose `sourceIds` name the source, ids ascending by code unit.
 */
export class RoutingTable {
  readonly #destinations = new Map<string, RoutableDestination>();
  readonly #bySource = new Map<string, readonly RoutableDestination[]>();

  /** The newest state of a destination; `undefined` when it was removed. */
  set(id: string, destination: RoutableDestination | undefined): void {
    const before = this.#destinations.get(id);
    for (const sourceId of before?.sourceIds ?? []) this.#drop(sourceId, id);
    if (destination === undefined) {
      this.#destinations.delete(id);
      return;
    }
    this.#destinations.set(id, destination);
    if (!destination.enabled) return;
    for (const sourceId of destination.sourceIds) this.#add(sourceId, destination);
  }

  /** Where the source's events go, before the integrations rule. */
  destinationsOf(sourceId: string): readonly RoutableDestination[] {
    return this.#bySource.get(sourceId) ?? NONE;
  }

  #drop(sourceId: string, id: string): void {
    const rest = this.destinationsOf(sourceId).filter((destination) => destination.id !== id);
    if (rest.length === 0) this.#bySource.delete(sourceId);
    else this.#bySource.set(sourceId, rest);
  }

  #add(sourceId: string, added: RoutableDestination): void {
    const others = this.destinationsOf(sourceId).filter((destination) => destination.id !== added.id);
    const list = [...others, added].sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#bySource.set(sourceId, list);
  }
}

/**
 * The destinations that an event of this source with these integrations goes to, in order of id, or why there is none.
 * Every destination is of the one type today, so the integrations switch on all of them or none.
 */
export function routeEvent(
  event: { readonly sourceId: string; readonly integrations: Readonly<Record<string, boolean>> },
  table: RoutingTable,
): readonly RoutableDestination[] | "no_destination" | "integrations" {
  const destinations = table.destinationsOf(event.sourceId);
  if (destinations.length === 0) return "no_destination";
  return isEnabledByIntegrations(event.integrations, WEBHOOKS) ? destinations : "integrations";
}
