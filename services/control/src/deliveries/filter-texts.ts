/**
 * What stands in the detail of every entry that a filter takes, so that the journal passes over the others without
 * reading them. An entry that holds the texts need not fit: it is looked at.
 */
import { shortName } from "@posthaste/core/routing/short-name";
import { fields } from "../read-model/entry-texts.ts";
import type { AttemptFilter } from "./attempt-filter.ts";

/** Of attempts. */
export function attemptTexts(filter: AttemptFilter): readonly string[] {
  const { attempt, statusClass } = filter;
  const status = statusClass === undefined ? [] : [`"status":${statusClass[0]}`];
  return [...deliveryTexts(filter), ...fields({ attempt }), ...status];
}

/** Of deliveries as they stand. */
export function latestTexts({ outcome, ...filter }: AttemptFilter & { readonly outcome?: string | undefined }) {
  // It follows its URL there. Of how many attempts there were, one of several facts tells.
  const status = filter.statusClass === undefined ? [] : [`",${filter.statusClass[0]}`];
  return [...deliveryTexts(filter), ...fields({ outcome }), ...status];
}

/** Of both. */
function deliveryTexts({ type, sourceId, userId, event, replayId, error }: AttemptFilter): readonly string[] {
  return [
    ...fields({ type, sourceId, replayId, userKey: shortened(userId), event: shortened(event) }),
    // A code stands there as a text, a status as a number.
    ...(error === undefined ? [] : [JSON.stringify(error).slice(1, -1)]),
  ];
}

/** The log has long names shortened. */
function shortened(name: string | undefined): string | undefined {
  return name === undefined ? undefined : shortName(name);
}
