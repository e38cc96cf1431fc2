/**
 * The gauges of producers. They read a producer's state when the metrics page is read: that state changes with each
 * send, and setting gauges as often took two percent of ingest's CPU time.
 */
import { Gauge, type Registry } from "prom-client";

/** The state of a producer that the gauges show. */
export interface ProducerState {
  /** Bytes of keys and values that were given to the producer and are not acknowledged. */
  readonly pendingBytes: number;
  /** Ms since the oldest call with unacknowledged records; 0 when there is none. */
  readonly oldestPendingMs: number;
  /** Partitions that the producer could not write when it last tried. */
  readonly unwrittenPartitions: number;
}

/** Shows a producer's state in the gauges until the function that it returns is called, at the producer's close. */
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
      "posthaste_producer_oldest_pending_seconds",
      "How long the oldest record that was given to a producer has not been acknowledged; 0 when there is none.",
      ({ oldestPendingMs }) => oldestPendingMs / 1000,
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
      // A closed producer holds nothing and retries nothing.
      for (const gauge of gauges) gauge.set({ class: name }, 0);
    };
  };
}
