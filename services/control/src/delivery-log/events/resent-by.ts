/** Finds the deliveries of events that were sent again by hand. */
import { isResend } from "../../configuration/audit/resend-authors.ts";
import type { JudgedEvent } from "./event-verdict.ts";

/** The resends of all deliveries of these events. */
export function resendsOf(judged: readonly JudgedEvent[]): ReadonlySet<string> {
  const deliveries = judged.flatMap((each) => ("routed" in each ? [...each.routed.deliveries.values()] : []));
  const ids = deliveries.flatMap(({ attempts, deferrals, deadLetters, unfinished }) =>
    [...attempts, ...deferrals, ...deadLetters, ...unfinished].flatMap(({ replayId }) => replayId ?? []),
  );
  return new Set(ids.filter(isResend));
}
