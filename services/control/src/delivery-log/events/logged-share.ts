/** Which attempts delivery logs, in words, for events without a log entry. */
import type { ProcessHealth } from "@posthaste/core/health/health-record";

export type LogSettings = Pick<ProcessHealth, "logsFailures" | "loggedShare">;

/**
 * How an event without a log entry may have ended; empty where delivery logs every end. `processes`: the delivery
 * processes that run.
 */
export function unloggedEnds(processes: readonly LogSettings[]): string {
  if (processes.length === 0)
    return ", or it was delivered where delivery logs failures alone (no delivery process tells)";
  if (processes.some(({ logsFailures }) => !logsFailures))
    return ", or it was delivered, or failed: delivery logs neither";
  const share = Math.min(...processes.map(({ loggedShare }) => loggedShare));
  if (share >= 1) return " (delivery logs all that is delivered by now)";
  const logged = share === 0 ? "failures alone" : `${tenths(share * 100)} % of what is delivered`;
  return `, or it was delivered: delivery logs ${logged}`;
}

function tenths(percent: number): number {
  return Math.round(percent * 10) / 10;
}
