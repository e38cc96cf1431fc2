/**
 * The thread of the membership's table, which answers calls in the order in which they come. A call that fails ends the
 * thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { removingDamaged } from "@posthaste/read-model/sqlite-cache";
import type { ThreadCall, ThreadReply } from "@posthaste/read-model/thread-client";
import type { MembershipCall } from "./membership-client.ts";
import { MembershipTable, type MembershipTableOptions } from "./membership-table.ts";

const port = parentPort;
if (port === null) throw new Error("this runs as a worker thread");

const options: MembershipTableOptions = workerData;
const table = removingDamaged(options.path, () => new MembershipTable(options));
const reply = (answer: ThreadReply): void => port.postMessage(answer);

port.on("message", ({ id, call: { method, args } }: ThreadCall<MembershipCall>) => {
  // The client's types define the arguments of each method.
  const run = table[method] as (...given: readonly unknown[]) => unknown;
  reply({ id, value: removingDamaged(options.path, () => run.apply(table, [...args])) });
  if (method === "close") port.close();
});
reply({ id: 0, value: table.start });
