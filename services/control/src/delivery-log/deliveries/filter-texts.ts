/**
 * The texts that the detail of every entry that fits a filter holds, so that the projection passes over the other
 * entries without parsing them. An entry that holds the texts may still not fit: the filter decides.
 */
import { shortName } from "@posthaste/core/routing/short-name";
import { fields } from "@posthaste/read-model/entry-texts";
import type { AttemptFilter } from "./attempt-filter.ts";

/** The texts for attempts. */
export function attemptTexts(filter: AttemptFilter): readonly string[] {
  const { attempt, statusClass } = filter;
  const status = statusClass === undefined ? [] : [`"status":${statusClass[0]}`];
  return [...deliveryTexts(filter), ...fields({ attempt }), ...status];
}

/** The texts for deliveries and their states. */
export function latestTexts({ outcome, ...filter }: AttemptFilter & { readonly outcome?: string | undefined }) {
  // In a delivery's entry the status follows its URL. No text stands for the number of attempts: several facts may tell
  // it.
  const status = filter.statusClass === undefined ? [] : [`",${filter.statusClass[0]}`];
  return [...deliveryTexts(filter), ...fields({ outcome }), ...status];
}

/** The texts for attempts and deliveries alike. */
function deliveryTexts({ type, sourceId, userId, event, replayId, error }: AttemptFilter): readonly string[] {
  return [
    ...fields({ type, sourceId, replayId, userKey: shortened(userId), event: shortened(event) }),
    // An entry holds a code as a text and a status as a number.
    ...(error === undefined ? [] : [JSON.stringify(error).slice(1, -1)]),
  ];
}

/** The log holds long names shortened. */
function shortened(name: string | undefined): string | undefined {
  return name === undefined ? undefined : shortName(name);
}
