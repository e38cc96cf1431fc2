/**
 * The ceiling of the whole path, as a process: signed POSTs of a body to a receiver by Node's own client, the next on
 * each connection when the last was answered. Prints requests a second, and the seconds of its CPU
 * for a thousand, of the time after its code is compiled.
 *
 *     node test/load/whole/raw-loop.ts ORIGIN CONNECTIONS SECONDS BYTES
 */
import { createHmac } from "node:crypto";
import { Agent, request } from "node:http";

const [origin = "", connections = "32", seconds = "3", bytes = "1024"] = process.argv.slice(2);
const body = Buffer.from(JSON.stringify({ type: "track", padding: "x".repeat(Number(bytes)) }).slice(0, Number(bytes)));
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const COMPILING_MS = 2000;

let answered = 0;
let isOver = false;

function send(): void {
  const headers = {
    "content-type": "application/json",
    "content-length": body.length,
    "x-signature": createHmac("sha1", "a secret of some length").update(body).digest("hex"),
  };
  const sent = request(`${origin}/s`, { method: "POST", agent, headers }, (response) => {
    response.resume();
    response.on("end", () => {
      answered += 1;
      if (!isOver) send();
    });
  });
  sent.end(body);
}

for (let each = 0; each < Number(connections); each += 1) send();
setTimeout(() => {
  const [startedMs, cpu, before] = [performance.now(), process.cpuUsage(), answered];
  setTimeout(() => {
    const { user, system } = process.cpuUsage(cpu);
    const requests = answered - before;
    const perSecond = (requests * 1000) / (performance.now() - startedMs);
    console.log(JSON.stringify({ perSecond, cpu: (user + system) / 1000 / requests }));
    isOver = true;
    agent.destroy();
    process.exit();
  }, Number(seconds) * 1000);
}, COMPILING_MS);
