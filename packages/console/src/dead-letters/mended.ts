/** The reasons of dead letters that end when a destination answers again. */
import type { DeadLetterGroupPage } from "../api/api-types.ts";

type Reason = DeadLetterGroupPage["data"][number]["reason"];

/**
 * Whether a destination that answers again can take them: it failed or refused them, by its own fault or by its
 * settings (401, 404, 410). Others ended by a choice of somebody's: it was off, it was removed, the user is suppressed.
 */
export function endsWithAnswer(reason: Reason): boolean {
  return reason === "rejected_by_receiver" || reason === "window_expired";
}
