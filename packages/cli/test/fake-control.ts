/** A control whose answers a test scripts, on a real socket, and the real binary to run against it. */
import { fileURLToPath } from "node:url";
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { type RunNodeOptions, type RunResult, runNode } from "@posthaste/testkit/run-node";

export const BINARY = fileURLToPath(new URL("../bin/posthaste.mjs", import.meta.url));

export const TOKEN = "token-of-the-tests";

export interface FakeControl {
  readonly url: string;
  /** Without looks at how far a count is: a machine that stands still has a quick count looked at too. */
  readonly requests: Receiver["requests"];
  /** Answers `METHOD /path`, query left out; a request without a script gets 404. */
  readonly script: (call: string, answer: unknown, status?: number) => void;
  readonly scriptRequest: (call: string, answer: (request: ReceivedRequest) => Answer) => void;
  readonly reset: () => void;
  readonly close: () => Promise<void>;
}

export async function startFakeControl(): Promise<FakeControl> {
  const answers = new Map<string, (request: ReceivedRequest) => Answer>();
  const receiver = await startReceiver({
    script: (request) => {
      const answer = answers.get(`${request.method} ${request.path}`);
      if (answer !== undefined) return answer(request);
      return { status: 404, body: JSON.stringify({ status: 404, detail: `there is no ${request.path}` }) };
    },
  });
  return {
    url: receiver.url,
    get requests() {
      return receiver.requests.filter(({ path }) => path !== "/v1/replays/counting");
    },
    script: (call, answer, status = 200) => {
      answers.set(call, () => ({ status, body: answer === undefined ? "" : JSON.stringify(answer) }));
    },
    scriptRequest: (call, answer) => {
      answers.set(call, answer);
    },
    reset: () => {
      answers.clear();
      receiver.clear();
    },
    close: receiver.close,
  };
}

export type RunOptions = Partial<RunNodeOptions>;

/** Runs the binary without a terminal; nothing of this process's environment but PATH reaches it. */
export function runBinary(args: readonly string[], { env, ...options }: RunOptions = {}): Promise<RunResult> {
  return runNode([BINARY, ...args], {
    ...options,
    env: { PATH: process.env.PATH, POSTHASTE_DATA_DIR: "/nonexistent", ...env },
  });
}
