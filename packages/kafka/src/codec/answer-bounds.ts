/**
 * Bounds the answers of a server that this process asks by Node's client, for any reader of them.
 *
 * Owns: for each connection, how many bytes came for the question that is out, and the time by which its answer ends.
 * RG1  An answer has at most `maxBytes` on the wire, its head, interim answers and framing included. Bytes beyond them
 *      in the same piece still come.
 * RG2  It ends within `deadlineMs`, however it trickles.
 * RG3  Where one of them is broken, the connection is destroyed. Node tells the caller that the answer was cut off, so
 *      `broken` gives the reason.
 * RG4  The reader gets at most `PIECE_BYTES` in a turn of the event loop, since a read of 64 KB may be two thousand
 *      interim answers: 25 ms of parsing.
 */
import type { Agent } from "node:http";
import type { Socket } from "node:net";

const PIECE_BYTES = 4 * 1024;

export interface AnswerBounds {
  readonly maxBytes: number;
  readonly deadlineMs: number;
  /** The server's name in the words, such as "the schema registry". */
  readonly who: string;
}

export interface BoundedAgent {
  readonly agent: Agent;
  /** Which bound was broken last; null where an answer has come to its end since. */
  readonly broken: string | null;
}

/** Bounds the requests through the agent from now on. */
export function boundAnswers(agent: Agent, { maxBytes, deadlineMs, who }: AnswerBounds): BoundedAgent {
  let broken: string | null = null;
  const refuse = (socket: Socket, words: string) => {
    broken = words;
    socket.destroy(new Error(words));
  };
  const questions = new WeakMap<object, { since: number; late: NodeJS.Timeout }>();
  const begin = (socket: Socket) => {
    const late = setTimeout(() => {
      refuse(socket, `${who} did not end its answer within ${deadlineMs} ms`);
    }, deadlineMs);
    late.unref();
    questions.set(socket, { since: socket.bytesRead, late });
  };
  const end = (socket: object) => {
    clearTimeout(questions.get(socket)?.late);
    questions.delete(socket);
  };
  const count = (socket: Socket) => {
    const question = questions.get(socket);
    if (question === undefined || socket.bytesRead - question.since <= maxBytes) return;
    refuse(socket, `${who} answers with more than ${maxBytes} bytes: is that its address?`);
  };
  const [connect, keep, reuse] = [agent.createConnection, agent.keepSocketAlive, agent.reuseSocket];
  agent.createConnection = (...args) => {
    const socket = connect.apply(agent, args);
    if (!(socket instanceof Object)) return socket;
    const made = socket as Socket;
    begin(made);
    handOnInPieces(made);
    // Before the client's own listener, which parses the bytes.
    made.prependListener("data", () => count(made));
    made.once("close", () => end(made));
    return socket;
  };
  agent.keepSocketAlive = (socket) => {
    end(socket);
    broken = null;
    return keep.call(agent, socket);
  };
  agent.reuseSocket = (socket, request) => {
    begin(socket as Socket);
    reuse.call(agent, socket, request);
  };
  return {
    agent,
    get broken() {
      return broken;
    },
  };
}

/** RG4. */
function handOnInPieces(socket: Socket): void {
  const push = socket.push.bind(socket);
  const waiting: (Buffer | null)[] = [];
  const handOn = () => {
    const next = waiting.shift();
    if (next === undefined || socket.destroyed) return;
    const rest = next?.subarray(PIECE_BYTES);
    if (rest !== undefined && rest.length > 0) waiting.unshift(rest);
    push(next === null ? null : next.subarray(0, PIECE_BYTES));
    if (waiting.length > 0) setImmediate(handOn);
  };
  socket.push = (chunk: Buffer | null) => {
    if (waiting.length === 0 && (chunk === null || chunk.length <= PIECE_BYTES)) return push(chunk);
    if (waiting.push(chunk) === 1) setImmediate(handOn);
    return false;
  };
}
