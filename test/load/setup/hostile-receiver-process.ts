/**
 * A receiver of hostile answers, as a process. It prints its port, and ends when its standard input closes. A request's
 * path names the answer. For each line that it is sent, it prints how many requests came. It gives
 * way to the processes that are measured, on a machine with few processors.
 */
import { type AddressInfo, createServer } from "node:net";
import { constants, setPriority } from "node:os";
import { answerHostilely, HOSTILE_ANSWERS, type HostileName } from "@posthaste/testkit/hostile-answers";

setPriority(constants.priority.PRIORITY_LOW);
let requests = 0;
const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.once("data", (request) => {
    const name = decodeURIComponent(/^POST \/(\S+)/.exec(request.toString("latin1"))?.[1] ?? "");
    requests += 1;
    answerHostilely(socket, HOSTILE_ANSWERS[name as HostileName]);
  });
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.on("data", () => console.log(requests));
process.stdin.on("end", () => process.exit());
