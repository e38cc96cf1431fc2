/** The benchmarks' receiver, seen from the benchmark. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The requests since the report before. */
export interface SinkReport {
  ok: number;
  /** As `ok`, of the second kind. */
  second: number;
  hanging: number;
  failing: number;
  /** Open now. */
  connections: number;
  /** Of the requests that were answered 200 at once and said when they were sent. */
  readonly latenciesMs: number[];
}

export interface Sink {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The same receiver under a host of its own, one of 16 million. */
  readonly originOf: (host: number) => string;
  readonly pid: number;
  readonly report: () => Promise<SinkReport>;
  readonly close: () => void;
}

export async function startSink(): Promise<Sink> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./sink-process.ts", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the sink ended");
    return value;
  };
  const port = await nextLine();
  return {
    origin: `http://127.0.0.1:${port}`,
    originOf: (host) => `http://127.${1 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}:${port}`,
    pid: child.pid ?? 0,
    report: async () => {
      child.stdin.write("\n");
      return JSON.parse(await nextLine()) as SinkReport;
    },
    close: () => child.stdin.end(),
  };
}
