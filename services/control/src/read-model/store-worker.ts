/**
 * The store on a thread of its own, which makes changes and answers questions in the order of `call-order.ts`. A call
 * that fails ends the thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { removingDamaged } from "../sqlite-cache.ts";
import type { ThreadCall, ThreadReply } from "../thread-client.ts";
import { CallOrder } from "./call-order.ts";
import { unpackProjections } from "./packed-entries.ts";
import { Store, type StoreOptions } from "./store.ts";
import type { StoreCall } from "./store-client.ts";

const port = parentPort;
if (port === null) throw new Error("this runs as a worker thread");

/** The calls that change the store; the others are questions. */
const CHANGES: ReadonlySet<StoreCall["method"]> = new Set(["take", "noteSent", "addHealth", "close"]);

const options: StoreOptions = workerData;
const store = removingDamaged(options.path, () => new Store(options, () => Date.now()));
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

function run(call: StoreCall): unknown {
  switch (call.method) {
    case "take":
      return store.take(call.projection, { ...call.taken, entries: unpackProjections(call.taken.entries) });
    case "noteSent":
      return store.noteSent(call.places);
    case "newest":
      return store.newest(call.projection, call.query);
    case "search":
      return store.search(call.projection, call.query);
    case "heldDeadLetters":
      return store.heldDeadLetters();
    case "deadLetterHours":
      return store.deadLetterHours(call.query);
    case "deadLetterTotals":
      return store.deadLetterTotals(call.destinationId);
    case "groupedDeadLetters":
      return store.groupedDeadLetters();
    case "deadLetterEvent":
      return store.deadLetterEvent(call.event);
    case "deadLetterRows":
      return store.deadLetterRows(call.query);
    case "alikeCounts":
      return store.alikeCounts(call.query);
    case "at":
      return store.at(call.projection, call.places);
    case "counts":
      return store.counts(call.projection, call.query);
    case "outcomes":
      return store.outcomes(call.projection, call.messageIds);
    case "deliveriesOf":
      return store.deliveries.ofMessage(call.messageId);
    case "waiting":
      return store.deliveries.waiting();
    case "waitingTimes":
      return store.deliveries.waitingTimes(call.destinationId, call.fromMs);
    case "replayed":
      return store.deliveries.replayed(call.replayIds);
    case "healthWrittenToMs":
      return store.healthWrittenToMs;
    case "addHealth":
      return store.addHealth(call.minute);
    case "health":
      return store.health(call.query);
    case "close":
      return store.close();
  }
}
