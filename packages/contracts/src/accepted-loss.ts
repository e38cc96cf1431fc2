/**
 * An accepted loss: records of a partition that were deleted before their group had finished them, and that an operator
 * said to go on without. It stands in the meta topic, as JSON under a key of its own.
 */

export interface AcceptedLoss {
  readonly topic: string;
  readonly partition: number;
  /** Kafka's id of the topic; null where the cluster gives topics no ids. */
  readonly topicId: string | null;
  /** The first offset that was lost. */
  readonly from: number;
  /** The offset behind the last one: the start of the log when the loss was accepted. */
  readonly to: number;
  /** How many offsets between them were not finished. */
  readonly records: number;
  /** When the first record that is left was written, in ms since the epoch; where none was, when it was accepted. */
  readonly beforeMs: number;
  /** When it was accepted, in ms since the epoch. */
  readonly atMs: number;
}

const KEY_PREFIX = "accepted-loss ";

export function acceptedLossKey({ topic, partition, from }: AcceptedLoss): string {
  return `${KEY_PREFIX}${topic} ${partition} ${from}`;
}

export function encodeAcceptedLoss(loss: AcceptedLoss): Buffer {
  return Buffer.from(JSON.stringify(loss));
}

/** Null for a record of the meta topic that is another fact, or that cannot be read. */
export function decodeAcceptedLoss(key: string, text: string): AcceptedLoss | null {
  if (!key.startsWith(KEY_PREFIX)) return null;
  try {
    const loss: unknown = JSON.parse(text);
    return isAcceptedLoss(loss) ? loss : null;
  } catch {
    return null;
  }
}

function isAcceptedLoss(value: unknown): value is AcceptedLoss {
  if (typeof value !== "object" || value === null) return false;
  const { topic, topicId, ...numbers } = value as Readonly<Record<string, unknown>>;
  const isWhole = (name: string): boolean => Number.isSafeInteger(numbers[name]);
  const hasId = topicId === null || typeof topicId === "string";
  return (
    typeof topic === "string" && hasId && ["partition", "from", "to", "records", "beforeMs", "atMs"].every(isWhole)
  );
}

/** The first offset at or above `offset` that no accepted loss covers. */
export function behindAcceptedLosses(
  losses: readonly AcceptedLoss[],
  { topic, partition, topicId }: Pick<AcceptedLoss, "topic" | "partition" | "topicId">,
  offset: number,
): number {
  const ofLog = losses
    .filter((loss) => loss.topic === topic && loss.partition === partition)
    .filter((loss) => loss.topicId === null || topicId === null || loss.topicId === topicId)
    .sort((a, b) => a.from - b.from);
  return ofLog.reduce((at, { from, to }) => (from <= at && to > at ? to : at), offset);
}
