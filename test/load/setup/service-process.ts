/** A process of one service, for benchmarks and fault runs, and its output. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { findFreePorts } from "@posthaste/local-stack/ports";
import { nodeFlagsOf } from "@posthaste/local-stack/services";
import { eventually } from "@posthaste/testkit/eventually";

export interface ServiceProcess {
  readonly pid: number;
  /** One sample of its metrics page, by the text before the value; 0 when it is not there. */
  readonly metric: (sample: string) => Promise<number>;
  /** Its whole metrics page. */
  readonly metricsPage: () => Promise<string>;
  /** Ends it and resolves when it has ended; its unfinished sends are waited for. */
  readonly stop: () => Promise<void>;
}

/** Starts the service with these settings; resolves when it is ready. */
export async function startServiceProcess(
  name: "delivery" | "router",
  settings: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const main = fileURLToPath(new URL(`../../../services/${name}/src/main.ts`, import.meta.url));
  const [adminPort = 0] = await findFreePorts(1);
  const child = spawn(process.execPath, [...nodeFlagsOf(name), main], {
    stdio: ["pipe", "ignore", "inherit"],
    env: {
      ...process.env,
      POSTHASTE_ADMIN_PORT: String(adminPort),
      POSTHASTE_LOG_LEVEL: "error",
      POSTHASTE_STOP_ON_STDIN_CLOSE: "true",
      ...settings,
    },
  });
  let isStopping = false;
  // A measurement over a process that has died would wait for ever, or print nonsense.
  child.on("exit", (code) => {
    if (!isStopping) throw new Error(`${name} ended by itself with code ${code}`);
  });
  const stop = () => {
    isStopping = true;
    return end(child);
  };
  const url = `http://127.0.0.1:${adminPort}`;
  try {
    await eventually(
      async () => {
        if (!(await fetch(`${url}/readyz`)).ok) throw new Error(`${name} is not ready`);
      },
      { timeoutMs: 30_000 },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const metricsPage = async () => (await fetch(`${url}/metrics`)).text();
  return {
    pid: child.pid ?? 0,
    metricsPage,
    metric: async (sample) => {
      const line = (await metricsPage()).split("\n").find((each) => each.startsWith(`${sample} `));
      return line === undefined ? 0 : Number(line.slice(sample.length + 1));
    },
    stop,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin?.end();
  await exited;
}
