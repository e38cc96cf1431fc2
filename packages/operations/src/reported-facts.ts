/** The last reports on destinations as facts of the meta topic: JSON under a key of its own for each destination. */
import { NOTHING_REPORTED, REPORTED_STATES, type Reported } from "./news.ts";

const KEY_PREFIX = "operations-reported ";

export function reportedKey(destinationId: string): string {
  return KEY_PREFIX + destinationId;
}

/** The destination of a fact; null for a fact of another kind. */
export function reportedDestination(key: string): string | null {
  return key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : null;
}

export function encodeReported(reported: Reported): Buffer {
  return Buffer.from(JSON.stringify(reported));
}

/** Nothing reported, where the text is missing or cannot be read. */
export function decodeReported(text: string | undefined): Reported {
  if (text === undefined) return NOTHING_REPORTED;
  try {
    const reported: unknown = JSON.parse(text);
    return isReported(reported) ? reported : NOTHING_REPORTED;
  } catch {
    return NOTHING_REPORTED;
  }
}

function isReported(value: unknown): value is Reported {
  if (typeof value !== "object" || value === null) return false;
  const { state, failingSinceMs, ...numbers } = value as Readonly<Record<string, unknown>>;
  const isNumber = (name: string): boolean => Number.isFinite(numbers[name]);
  return (
    REPORTED_STATES.some((each) => each === state) &&
    (failingSinceMs === null || Number.isFinite(failingSinceMs)) &&
    ["count", "stateAtMs", "openDeadLetters", "deadLettersAtMs"].every(isNumber)
  );
}
