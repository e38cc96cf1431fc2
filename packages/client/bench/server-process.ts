/** Starts `server.ts` as a process, so that its cost is not counted as the library's. */
import { fork } from "node:child_process";
import { once } from "node:events";

export interface ServerProcess {
  readonly url: string;
  /** Asks the process for its counts. */
  readonly count: () => Promise<ServerCount>;
  readonly end: () => void;
}

export interface ServerCount {
  readonly requests: number;
  readonly failedRequests: number;
  /** Calls that arrived in a request that was not failed, each counted once. */
  readonly calls: number;
}

/** `failEvery` n fails each nth request, by turns with a 503 and a broken connection; 0 fails none. */
export async function startServerProcess(failEvery = 0): Promise<ServerProcess> {
  const child = fork(new URL("./server.ts", import.meta.url), [String(failEvery)], { execArgv: [] });
  const [url] = await once(child, "message");
  return {
    url,
    count: async () => {
      child.send("count");
      const [count] = await once(child, "message");
      return count;
    },
    end: () => child.disconnect(),
  };
}
