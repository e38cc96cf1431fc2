/** The last reports on destinations as facts of the meta topic: JSON under a key of its own for each destination. */
import { NOTHING_REPORTED, REPORTED_STATES, type Reported, type ReportedTopic } from "./news.ts";

const KEY_PREFIX = "operations-reported ";
const TOPIC_PREFIX = "operations-topic ";

export function reportedKey(destinationId: string): string {
  return KEY_PREFIX + destinationId;
}

/** The destination of a fact; null for a fact of another kind. */
export function reportedDestination(key: string): string | null {
  return key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : null;
}

export function topicKey(topic: string): string {
  return TOPIC_PREFIX + topic;
}

/** The topic of a fact; null for a fact of another kind. */
export function reportedTopic(key: string): string | null {
  return key.startsWith(TOPIC_PREFIX) ? key.slice(TOPIC_PREFIX.length) : null;
}

export function encodeReported(reported: Reported | ReportedTopic): Buffer {
  return Buffer.from(JSON.stringify(reported));
}

/** Nothing reported, where the text is missing or cannot be read. */
export function decodeReported(text: string | undefined): Reported {
  const reported = parse(text);
  return isReported(reported) ? reported : NOTHING_REPORTED;
}

/** The same of a topic. */
export function decodeReportedTopic(text: string | undefined): ReportedTopic {
  const { count, atMs = null } = parse(text) as Partial<Record<keyof ReportedTopic, unknown>>;
  return { count: Number.isSafeInteger(count) ? Number(count) : 0, atMs: Number.isFinite(atMs) ? Number(atMs) : null };
}

/** The object in the text; an empty one where there is none. */
function parse(text: string | undefined): object {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function isReported(value: object): value is Reported {
  const { state, failingSinceMs, ...numbers } = value as Readonly<Record<string, unknown>>;
  const isNumber = (name: string): boolean => Number.isFinite(numbers[name]);
  return (
    REPORTED_STATES.some((each) => each === state) &&
    (failingSinceMs === null || Number.isFinite(failingSinceMs)) &&
    ["count", "stateAtMs", "openDeadLetters", "deadLettersAtMs"].every(isNumber)
  );
}
