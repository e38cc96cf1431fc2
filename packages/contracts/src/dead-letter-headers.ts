/**
 * The headers of a dead letter, with which a filter need not decode the value. docs/dead-letters.md lists them for
 * readers. A field that is null in the value has no header.
 */
import { type DeadLetter, lastAnswers } from "@posthaste/core/delivery/dead-letter";
import { encodeReplay } from "./headers.ts";

/**
 * Every header is UTF-8 text: numbers in decimal, times in ms since the epoch. Body, history and `restJson` are in the
 * value only.
 */
export function encodeDeadLetter(deadLetter: DeadLetter): Record<string, string> {
  const { replayId } = deadLetter;
  const answers = lastAnswers(deadLetter);
  // The first three headers keep their order: docs/dead-letters.md promises it to those who filter by text.
  const headers: Record<string, string> = {
    reason: deadLetter.reason,
    "reason-class": deadLetter.reasonClass,
    "destination-id": deadLetter.destinationId,
    "source-id": deadLetter.sourceId,
    "message-id": deadLetter.messageId,
    type: deadLetter.type,
    "received-at-ms": String(deadLetter.receivedAtMs),
    "dead-at-ms": String(Math.round(deadLetter.deadAtMs)),
    attempts: String(deadLetter.attempts),
    deferrals: String(deadLetter.deferrals),
  };
  add(headers, "event", deadLetter.event);
  add(headers, "user-key", deadLetter.userKey);
  add(headers, "window-start-ms", deadLetter.windowStartMs);
  add(headers, "first-attempt-at-ms", deadLetter.firstAttemptAtMs);
  add(headers, "statuses", joined(answers.map(({ status }) => status)));
  add(headers, "errors", joined(answers.map(({ error }) => error)));
  if (deadLetter.originTopic !== null) {
    headers["origin-topic"] = deadLetter.originTopic;
    headers["origin-partition"] = String(deadLetter.originPartition);
    headers["origin-offset"] = String(deadLetter.originOffset);
  }
  if (replayId === null) return headers;
  return Object.assign(
    headers,
    encodeReplay({ id: replayId, count: deadLetter.replays, from: deadLetter.replayedFrom }),
  );
}

function add(headers: Record<string, string>, name: string, value: string | number | null): void {
  if (value !== null) headers[name] = typeof value === "number" ? String(Math.round(value)) : value;
}

/** The distinct answers of the URLs, in the order of the URLs; null when there are none. */
function joined(answers: readonly (string | number | null)[]): string | null {
  const distinct = [...new Set(answers)].filter((answer) => answer !== null);
  return distinct.length === 0 ? null : distinct.join(",");
}
