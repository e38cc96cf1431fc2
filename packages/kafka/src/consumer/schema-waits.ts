/** The records that wait for their schemas. */
import { AwaitedSchemas } from "../codec/awaited-schemas.ts";
import type { KafkaConnection } from "../connection/connect.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { resolveTiming } from "./consumer-settings.ts";
import type { WindowedConsumerOptions } from "./windowed-consumer.ts";

/** How long the records of each topic have waited, for a metric. */
export class SchemaWaits {
  readonly #monotonicMs: () => number;
  readonly #waits = new Set<{ readonly topic: string; readonly sinceMs: number }>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Notes a wait of a topic's record until it is over; passes it on. */
  note(topic: string, wait: Promise<void> | undefined): Promise<void> | undefined {
    if (wait === undefined) return undefined;
    const noted = { topic, sinceMs: this.#monotonicMs() };
    this.#waits.add(noted);
    const over = () => this.#waits.delete(noted);
    wait.then(over, over);
    return wait;
  }

  /** Ms since the topic's oldest wait began; 0 when no record of it waits. */
  oldestMs(topic: string): number {
    const since = [...this.#waits].filter((each) => each.topic === topic).map(({ sinceMs }) => sinceMs);
    return since.length === 0 ? 0 : this.#monotonicMs() - Math.min(...since);
  }
}

/** Makes a missing schema hold up, for a time, the partitions that need it, instead of ending the consumer. */
export function withSchemaWait<T, F>(
  connection: KafkaConnection,
  options: WindowedConsumerOptions<T, F>,
  { schemaWaits, signal }: { readonly schemaWaits: SchemaWaits; readonly signal: AbortSignal },
): WindowedConsumerOptions<T, F> {
  const { schemaOf, groupId } = options;
  if (schemaOf === undefined) return options;
  const fields = { event: "consumer_waits_for_schema", group: groupId };
  const message = "the schema of a record cannot be fetched: trying on";
  const schemas = new AwaitedSchemas({
    prefetch: schemaOf,
    patienceMs: resolveTiming(options).unknownSchemaMs,
    waiting: { log: connection.log, fields, message, signal, clock: options.clock ?? SYSTEM_CLOCK },
  });
  return {
    ...options,
    prefetch: ({ value, topic }) => (value === null ? undefined : schemaWaits.note(topic, schemas.prefetch(value))),
    prefetchAhead: (value) => schemas.ahead(value),
  };
}
