/** Reads dead letters from their topic, a partition from one offset to another, to count, send or export them. */
import type { Codec } from "@posthaste/contracts/codec";
import { type DeliveryOfUser, isDeliverySuppressed, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { DeadLetterFacts } from "@posthaste/core/replay/dead-letter-filter";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import { isUnreadable } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { untilAnswered } from "@posthaste/kafka/connection/when-reachable";
import { readRange } from "@posthaste/kafka/log/read-range";
import { readRecord } from "@posthaste/kafka/log/read-record";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { factsOf } from "@posthaste/read-model/dead-letter-facts";

export interface FoundDeadLetter {
  readonly deadLetter: DeadLetter;
  readonly facts: DeadLetterFacts;
  readonly record: IncomingRecord;
}

export interface DeadLetterBatch {
  readonly deadLetters: readonly FoundDeadLetter[];
  /** Offsets of records that are no dead letters, or that no schema reads. */
  readonly unreadable: readonly number[];
  /** The offset below which every record is in this batch or in one before. */
  readonly next: number;
}

export interface DeadLetterReaderOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly codec: Codec<DeadLetter>;
  /** See `LogReaderOptions`. */
  readonly topicId?: string | null;
}

/**
 * Reads the dead letters of a range in order, up to its end. Fails when the topic was removed or made anew, and with
 * `closed` when `signal` ends the reading. Reads no further than it is asked.
 */
export async function* readDeadLetters(
  options: DeadLetterReaderOptions,
  { partition, start, end }: PlannedRange,
  signal: AbortSignal,
): AsyncGenerator<DeadLetterBatch> {
  const { connection, topic, topicId = null } = options;
  for await (const records of readRange(connection, { topic, topicId, partition, start, end }, signal)) {
    const last = records.at(-1);
    if (last !== undefined) yield await batchOf(options, records, { next: last.offset + 1, signal });
  }
}

/** Reads the dead letter of one place; null where there is none that can be read. Rejects with `deadline_exceeded`. */
export async function readDeadLetter(
  options: DeadLetterReaderOptions,
  place: { readonly partition: number; readonly offset: number },
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<FoundDeadLetter | null> {
  const record = await readRecord(options.connection, { topic: options.topic, ...place }, timeoutMs);
  if (record === null) return null;
  const { deadLetters } = await batchOf(options, [record], { next: record.offset + 1, signal });
  return deadLetters[0] ?? null;
}

async function batchOf(
  options: DeadLetterReaderOptions,
  records: readonly IncomingRecord[],
  { next, signal }: { readonly next: number; readonly signal: AbortSignal },
): Promise<DeadLetterBatch> {
  const { connection, codec } = options;
  const deadLetters: FoundDeadLetter[] = [];
  const unreadable: number[] = [];
  for (const record of records) {
    const { topic, partition, offset, value } = record;
    if (value === null) continue;
    try {
      await prefetch(options, value, signal);
      const deadLetter = codec.decode(value);
      deadLetters.push({ deadLetter, record, facts: factsOf(deadLetter, record) });
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      connection.log.warn({ event: "dead_letter_unreadable", topic, partition, offset, err: error });
      unreadable.push(offset);
    }
  }
  return { deadLetters, unreadable, next };
}

/** Fetches the schema of a record, and waits for a registry that does not answer. */
async function prefetch({ connection, topic, codec }: DeadLetterReaderOptions, value: Buffer, signal: AbortSignal) {
  const asked = codec.prefetch(value);
  if (asked === undefined) return;
  let first: Promise<void> | undefined = asked;
  await untilAnswered(
    async () => {
      const answer = first ?? codec.prefetch(value);
      first = undefined;
      await answer;
    },
    {
      ...{ log: connection.log, signal, fields: { event: "schema_not_fetched", topic } },
      message: "the registry does not answer: dead letters are read on when it does",
    },
  );
}

/** Whether the dead letter must be neither sent nor shown, since its user is suppressed. */
export function isDeadLetterSuppressed(suppressed: SuppressedUsers, { deadLetter, record }: FoundDeadLetter): boolean {
  const ofUser: DeliveryOfUser = {
    delivery: deadLetter,
    key: record.key?.toString() ?? null,
    bodyText: () => Buffer.from(deadLetter.body).toString(),
  };
  return isDeliverySuppressed(suppressed, ofUser);
}
