/** The follow-ups of an attempt as the attempt log has them. */
import type { LoggedFollowUp } from "@posthaste/core/delivery/attempt-record";
import type { DeadUrl } from "@posthaste/core/delivery/dead-letter";
import type { FollowUp } from "./follow-ups.ts";

/** `isInParts`: each follow-up is for the URLs that it names alone (`settle: each`). */
export function toLoggedFollowUps(
  followUps: readonly FollowUp[],
  { isInParts, nowMs }: { readonly isInParts: boolean; readonly nowMs: number },
): readonly LoggedFollowUp[] {
  return followUps.map((followUp) => {
    if (followUp.kind === "retry") {
      const { delayMs, progress } = followUp;
      const { urls, deadlineMs } = progress;
      return { kind: "retry", urls, delayMs, dueAtMs: Math.round(nowMs + delayMs), deadlineMs, reason: null };
    }
    const urls = isInParts ? urlsOf(followUp.lastAttempt) : null;
    return { kind: "dead_letter", urls, delayMs: null, dueAtMs: null, deadlineMs: null, reason: followUp.reason };
  });
}

function urlsOf(lastAttempt: readonly DeadUrl[]): readonly string[] {
  return lastAttempt.map(({ url }) => url);
}
