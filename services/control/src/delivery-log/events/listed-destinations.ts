/**
 * The destinations that a verdict lists. Few are all listed. Of many, those that took the event are summarised and the
 * others are listed in pages, the worst first.
 */
import type { DeliveryState } from "@posthaste/core/verdict/delivery-state";
import { VERDICT_CAUSES, type VerdictCause } from "@posthaste/core/verdict/verdict";
import { refusedCursor } from "@posthaste/http-kit/list-cursor";
import type { DeliveryOfMessage } from "@posthaste/read-model/delivery-table";

/** The most destinations with facts, and the most without, that a page lists. */
export const MAX_LISTED = 100;

/** The deliveries on a page. */
export interface ListedDeliveries {
  /** The destinations whose facts are looked at; null for all. */
  readonly ids: readonly string[] | null;
  /** The deliveries to other destinations. */
  readonly unlisted: readonly DeliveryOfMessage[];
}

export interface DestinationPage {
  readonly listed: ListedDeliveries;
  /**
   * The ids of a page among destinations without a known delivery, and the cursor of the page after it. Empty where
   * this page is full of others.
   */
  rest(ids: Iterable<string>): { readonly ids: ReadonlySet<string>; readonly next: string | null };
}

/** The end of a page: the cause and the id of its last destination; null for the cause of one without a delivery. */
interface End {
  readonly cause: VerdictCause | null;
  readonly id: string;
}

export function causeOfState(state: DeliveryState): VerdictCause {
  return state === "other" ? "unknown" : state;
}

/** The page that begins after `cursor`. Throws a Problem for a text that is no cursor. */
export function destinationPage(deliveries: readonly DeliveryOfMessage[], cursor: string | undefined): DestinationPage {
  const after = cursor === undefined ? null : endFrom(cursor);
  const all = new Set(deliveries.map(({ destinationId }) => destinationId));
  const isWide = all.size > MAX_LISTED || after !== null;
  const lacking = isWide ? lackingAfter(deliveries, after) : [];
  const page = lacking.slice(0, MAX_LISTED);
  const last = page.at(-1);
  const ids = new Set(page.map(({ id }) => id));
  const listed = isWide
    ? { ids: [...ids], unlisted: deliveries.filter(({ destinationId }) => !ids.has(destinationId)) }
    : { ids: null, unlisted: [] };
  return {
    listed,
    rest: (others) => {
      if (lacking.length > page.length && last !== undefined) return { ids: new Set(), next: cursorOf(last) };
      const from = after?.cause === null ? after.id : "";
      const sorted = [...others].filter((id) => id > from).sort();
      const shown = sorted.slice(0, MAX_LISTED);
      const end = shown.at(-1);
      const hasMore = sorted.length > shown.length && end !== undefined;
      return { ids: new Set(shown), next: hasMore ? cursorOf({ cause: null, id: end }) : null };
    },
  };
}

/** The destinations behind `after` that some delivery has not reached, the worst first. */
function lackingAfter(deliveries: readonly DeliveryOfMessage[], after: End | null): readonly End[] {
  if (after?.cause === null) return [];
  const worst = new Map<string, VerdictCause>();
  for (const { destinationId, state } of deliveries) {
    if (state === "delivered") continue;
    const cause = causeOfState(state);
    const held = worst.get(destinationId);
    if (held === undefined || rankOf(cause) < rankOf(held)) worst.set(destinationId, cause);
  }
  const ends = [...worst].map(([id, cause]): End => ({ id, cause }));
  return ends.sort(inOrder).filter((end) => after === null || inOrder(after, end) < 0);
}

function inOrder(one: End, other: End): number {
  return rankOf(one.cause) - rankOf(other.cause) || (one.id < other.id ? -1 : Number(one.id > other.id));
}

function rankOf(cause: VerdictCause | null): number {
  return cause === null ? VERDICT_CAUSES.length : VERDICT_CAUSES.indexOf(cause);
}

function cursorOf({ cause, id }: End): string {
  return `${cause ?? ""}:${id}`;
}

function endFrom(cursor: string): End {
  const [, name = "", id = ""] = /^([a-z_]*):(.+)$/.exec(cursor) ?? [];
  const cause = VERDICT_CAUSES.find((each) => each === name) ?? null;
  if (id === "" || (cause === null && name !== "")) throw refusedCursor();
  return { cause, id };
}
