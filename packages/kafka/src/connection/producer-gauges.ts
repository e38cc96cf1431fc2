/**
 * The gauges of producers. They are read when the metrics page is: what they say changes with each call of a producer,
 * and setting them as often cost ingest a fiftieth of its time.
 */
import { Gauge, type Registry } from "prom-client";

/** What a producer says of itself on the metrics page. */
export interface ProducerState {
  /** Bytes that were given to it and are not acknowledged. */
  readonly pendingBytes: number;
  /** Partitions that could not be written when it last tried. */
  readonly unwrittenPartitions: number;
}

/** Has the gauges tell what a producer says of itself from now on; answers what is to be called when it is closed. */
export type WatchProducer = (name: string, stateOf: () => ProducerState) => () => void;

/** Registers the gauges. */
export function createProducerGauges(registers: Registry[]): WatchProducer {
  const watched = new Map<string, () => ProducerState>();
  const gaugeOf = (name: string, help: string, readState: (state: ProducerState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["class"],
      registers,
      collect() {
        for (const [producer, stateOf] of watched) this.set({ class: producer }, readState(stateOf()));
      },
    });
  const gauges = [
    gaugeOf(
      "posthaste_producer_pending_bytes",
      "Bytes of keys and values that were given to a producer and are not acknowledged yet.",
      ({ pendingBytes }) => pendingBytes,
    ),
    gaugeOf(
      "posthaste_producer_unwritten_partitions",
      "Partitions that could not be written when a producer last tried, and are tried again.",
      ({ unwrittenPartitions }) => unwrittenPartitions,
    ),
  ];
  return (name, stateOf) => {
    watched.set(name, stateOf);
    return () => {
      if (watched.get(name) !== stateOf) return;
      watched.delete(name);
      // Nothing waits in a producer that is closed, and nobody tries again for it.
      for (const gauge of gauges) gauge.set({ class: name }, 0);
    };
  };
}
