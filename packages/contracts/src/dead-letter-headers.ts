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
export function encodeDeadLetter(letter: DeadLetter): Record<string, string> {
  const { replayId } = letter;
  const answers = lastAnswers(letter);
  // The first three headers keep their order: docs/dead-letters.md promises it to those who filter by text.
  const headers: Record<string, string> = {
    reason: letter.reason,
    "reason-class": letter.reasonClass,
    "destination-id": letter.destinationId,
    "source-id": letter.sourceId,
    "message-id": letter.messageId,
    type: letter.type,
    "received-at-ms": String(letter.receivedAtMs),
    "dead-at-ms": String(Math.round(letter.deadAtMs)),
    attempts: String(letter.attempts),
    deferrals: String(letter.deferrals),
  };
  add(headers, "event", letter.event);
  add(headers, "user-key", letter.userKey);
  add(headers, "window-start-ms", letter.windowStartMs);
  add(headers, "first-attempt-at-ms", letter.firstAttemptAtMs);
  add(headers, "statuses", joined(answers.map(({ status }) => status)));
  add(headers, "errors", joined(answers.map(({ error }) => error)));
  if (letter.originTopic !== null) {
    headers["origin-topic"] = letter.originTopic;
    headers["origin-partition"] = String(letter.originPartition);
    headers["origin-offset"] = String(letter.originOffset);
  }
  if (replayId === null) return headers;
  return Object.assign(headers, encodeReplay({ id: replayId, count: letter.replays, from: letter.replayedFrom }));
}

function add(headers: Record<string, string>, name: string, value: string | number | null): void {
  if (value !== null) headers[name] = typeof value === "number" ? String(Math.round(value)) : value;
}

/** The distinct answers of the URLs, in the order of the URLs; null when there are none. */
function joined(answers: readonly (string | number | null)[]): string | null {
  const distinct = [...new Set(answers)].filter((answer) => answer !== null);
  return distinct.length === 0 ? null : distinct.join(",");
}
