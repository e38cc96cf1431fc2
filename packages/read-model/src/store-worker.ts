/**
 * The store on a thread of its own, which makes changes and answers questions in the order of `call-order.ts`. A call
 * that fails ends the thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { CallOrder } from "./call-order.ts";
import { deliveriesOf } from "./delivery-entry.ts";
import { unpackProjections } from "./packed-entries.ts";
import { removingDamaged } from "./sqlite-cache.ts";
import { type ProjectionName, Store, type StoreOptions } from "./store.ts";
import type { PackedTaken, StoreCall, StoreMethod } from "./store-client.ts";
import type { ThreadCall, ThreadReply } from "./thread-client.ts";

const port = parentPort;
if (port === null) throw new Error("this runs as a worker thread");

// The types of the client define the arguments of each method.
type Method = (...args: never[]) => unknown;

/** The calls that change the store; the others are questions. */
const CHANGES: ReadonlySet<StoreCall["method"]> = new Set(["take", "noteSent", "addHealth", "close"]);

const options: StoreOptions = workerData;
const store = removingDamaged(options.path, () => new Store(options, () => Date.now()));
/** The methods whose call is not the store's own method of the name. */
const OTHERS: Partial<Record<StoreMethod, Method>> = {
  take: (projection: ProjectionName, taken: PackedTaken) => {
    const entries = unpackProjections(taken.entries);
    // Made here, since this thread has little else in memory: its garbage costs less to collect.
    const deliveries = projection === "attempts" ? deliveriesOf(entries) : entries.deliveries;
    store.take(projection, { ...taken, entries: deliveries === undefined ? entries : { ...entries, deliveries } });
  },
  deliveriesOf: (messageId: string) => store.deliveries.ofMessage(messageId),
  waiting: () => store.deliveries.waiting(),
  waitingTimes: (destinationId: string, fromMs: number) => store.deliveries.waitingTimes(destinationId, fromMs),
  replayed: (replayIds: readonly string[]) => store.deliveries.replayed(replayIds),
  healthWrittenToMs: () => store.healthWrittenToMs,
};
const reply = (answer: ThreadReply): void => port.postMessage(answer);
const order = new CallOrder<ThreadCall<StoreCall>>({
  isChange: ({ call }) => CHANGES.has(call.method),
  run: ({ id, call }) => {
    reply({ id, value: removingDamaged(options.path, () => run(call)) });
    if (call.method === "close") port.close();
  },
});

port.on("message", (asked: ThreadCall<StoreCall>) => order.take(asked));
reply({ id: 0, value: store.start });

function run({ method, args }: StoreCall): unknown {
  const own = (OTHERS[method] ?? store[method as "close"]) as (...given: readonly unknown[]) => unknown;
  return own.apply(store, [...args]);
}
