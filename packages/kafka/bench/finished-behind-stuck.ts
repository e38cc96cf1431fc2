/**
 * Measures the heap that finished records take while the committable offset stands at a stuck record:
 * `node scripts/run.mjs packages/kafka/bench/finished-behind-stuck.ts`.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  condenseOrigins,
  decodeOriginCheckpoint,
  OriginCheckpoint,
  type OriginOfDelivery,
} from "@posthaste/core/delivery/origin";
import { MAX_SPAN, OwnedPartitionWindow } from "../src/consumer/partition-window.ts";
import { WorkingSetShare } from "../src/consumer/window-fill.ts";
import type { Task } from "../src/consumer/windowed-consumer.ts";
import type { IncomingRecord } from "../src/wire/incoming-record.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const EVENTS_PARTITIONS = 6;
/** An offset and a topic generation like those of a running system, which fit no small integer of V8. */
const FIRST_OFFSET = 5_000_000_000;
const TOPIC_GENERATION = 1_700_000_000 * 65_536 + 6;

function heapBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Finishes all records but every `stuckEvery`-th one. Returns the bytes of heap that each finished record takes. */
function measure(stuckEvery: number, records: number): number {
  const stuck: Task<OriginOfDelivery>[] = [];
  const options = {
    groupId: "g",
    topics: ["t"],
    window: { maxRecords: 1_000_000, maxBytes: 1_000_000_000 },
    take: ({ offset }: IncomingRecord): OriginOfDelivery => ({
      originIncarnation: TOPIC_GENERATION,
      originPartition: offset % EVENTS_PARTITIONS,
      originOffset: offset + 17,
      // A string of its own for each record, like those that a decoder makes.
      destinationId: Buffer.from(`dst_0123456789abcdef${offset % 50}`).toString(),
    }),
    laneOf: () => null,
    run: (task: Task<OriginOfDelivery>) => {
      if ((task.record.offset - FIRST_OFFSET) % stuckEvery === 0) stuck.push(task);
      else task.finish();
    },
    checkpoint: {
      pick: (item: OriginOfDelivery) => item,
      condense: condenseOrigins,
      open: (text: string | null) => (text === null ? new OriginCheckpoint() : decodeOriginCheckpoint(text)),
    },
    onFailure: (reason: Error) => {
      throw reason;
    },
  };
  const window = new OwnedPartitionWindow<OriginOfDelivery, OriginOfDelivery>({ topic: "t", partition: 0 }, options, {
    onFinished: () => undefined,
    onChanged: () => undefined,
    onFailure: options.onFailure,
    share: new WorkingSetShare(),
  });
  window.open(FIRST_OFFSET, null);
  const before = heapBytes();
  for (let index = 0; index < records; index += 1) {
    window.takeIn({
      ...{ topic: "t", partition: 0, offset: FIRST_OFFSET + index, timestampMs: 1_795_000_000_000 + index },
      ...{ key: null, value: null, headers: {} },
    });
  }
  const stuckBytes = stuck.length * 500;
  const perRecord = (heapBytes() - before - stuckBytes) / (records - stuck.length);
  for (const task of stuck) task.finish();
  if (window.committableOffset !== FIRST_OFFSET + records) throw new Error("something was not passed");
  return perRecord;
}

measure(MAX_SPAN, 10_000);
for (const stuckEvery of [MAX_SPAN, 1000, 100]) {
  const bytes = measure(stuckEvery, MAX_SPAN);
  process.stdout.write(`one stuck in ${stuckEvery}: ${bytes.toFixed(1)} bytes a finished record\n`);
}
