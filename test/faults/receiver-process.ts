/**
 * The receiver of the brokers' runs: a process of its own, so that a test process that waits for a processor is not
 * taken for a system that stands still. Prints its URL, and then each event that it answers, as a line that
 * `apart-receiver.ts` reads. Ends when its standard input closes.
 */
import { startReceiver } from "@posthaste/testkit/receiver";
import { toLine } from "./apart-receiver.ts";
import { arrivalOf } from "./arrivals.ts";
import { machineMs } from "./machine-clock.ts";

process.stdin.resume();
process.stdin.once("close", () => process.exit());

const receiver = await startReceiver({
  onRequest: (request) => {
    process.stdout.write(`${toLine(arrivalOf(request, machineMs()))}\n`);
    // A run sends some hundred thousand, which nobody asks it for.
    receiver.clear();
  },
});
process.stdout.write(`${receiver.url}\n`);
