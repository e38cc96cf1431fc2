/**
 * An attacker as a process: `attacker-process.ts URL NUMBER` sends an attack of attacks.ts at a megabyte a second until
 * its standard input closes, from an address of its own, and prints its bytes and its answers as one line of JSON.
 */
import { connect, type Socket } from "node:net";
import { ATTACKS, type Attack } from "./attacks.ts";

export interface AttackReport {
  readonly bytes: number;
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

const BYTES_PER_SECOND = 1_000_000;
const TICK_MS = 5;
/**
 * Requests that wait for their answer at once. Further ones are not sent, so a gateway that answers slowly is sent
 * less.
 */
const MOST_AT_ONCE = 256;
const MOST_HELD = 2_000;
const ADDRESS = "127.0.0.2";

const [, , url = "", number = "0"] = process.argv;
const attack = ATTACKS[Number(number)] as Attack;
const { hostname, port } = new URL(url);
const makeRequest = attack.prepare();
const report = { bytes: 0, requests: 0, statuses: {} as Record<string, number> };
const idle: Socket[] = [];
const held = new Set<Socket>();
let open = 0;

function newSocket(): Socket {
  const socket = connect({ host: hostname, port: Number(port), localAddress: ADDRESS });
  open += 1;
  socket.on("error", () => {});
  socket.on("close", () => {
    open -= 1;
    held.delete(socket);
    const at = idle.indexOf(socket);
    if (at !== -1) idle.splice(at, 1);
  });
  if (attack.manner === "asks") socket.on("data", (chunk) => readAnswer(socket, chunk));
  else socket.pause();
  return socket;
}

/** Answers are small: the first piece of one has its status. */
function readAnswer(socket: Socket, chunk: Buffer): void {
  const status = /^HTTP\/1\.1 (\d+)/.exec(chunk.toString("latin1", 0, 20))?.[1];
  if (status === undefined) return;
  report.statuses[status] = (report.statuses[status] ?? 0) + 1;
  if (socket.writable && !idle.includes(socket)) idle.push(socket);
}

/** Sends the next request; false when the gateway leaves no room for one more. */
function send(): boolean {
  const request = makeRequest(report.requests);
  if (attack.manner === "asks") {
    const socket = idle.pop() ?? (open < MOST_AT_ONCE ? newSocket() : undefined);
    if (socket === undefined) return false;
    socket.write(request);
  } else {
    const socket = newSocket();
    held.add(socket);
    const [oldest] = held;
    if (held.size > MOST_HELD) oldest?.destroy();
    socket.write(attack.manner === "stalls" ? request.subarray(0, -1) : request);
  }
  report.bytes += request.length;
  report.requests += 1;
  return true;
}

while (report.bytes < attack.bytesAtOnce && send());
const startedAtMs = performance.now();
const bytesBefore = report.bytes;
let forgone = 0;
const timer = setInterval(() => {
  const due = ((performance.now() - startedAtMs) * BYTES_PER_SECOND) / 1000;
  while (report.bytes - bytesBefore + forgone < due) {
    // Bytes that could not be sent are not made good later in one burst.
    if (!send()) forgone = due - (report.bytes - bytesBefore);
  }
}, TICK_MS);
process.stdin.resume();
process.stdin.on("end", () => {
  clearInterval(timer);
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
});
