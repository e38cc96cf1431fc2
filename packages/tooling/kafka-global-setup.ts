/**
 * Gives a vitest run a real broker and schema registry: those named by `KAFKA_BROKERS` and `SCHEMA_REGISTRY_URL`, or
 * else a local stack of its own, started as a process so that this package needs none of ours.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const stackMain = fileURLToPath(new URL("../local-stack/src/test-stack.ts", import.meta.url));

/** Starts the stack when none is named, and returns the function that ends it. */
export default function setup(): Promise<(() => Promise<void>) | undefined> {
  return startStack([]);
}

/** The same for a benchmark: a broker that is made to run long, where one for tests is made to start fast. */
export function setUpForBenchmark(): Promise<(() => Promise<void>) | undefined> {
  return startStack(["--long-lived"]);
}

async function startStack(options: readonly string[]): Promise<(() => Promise<void>) | undefined> {
  if (process.env.KAFKA_BROKERS && process.env.SCHEMA_REGISTRY_URL) return undefined;
  const child = spawn(process.execPath, [stackMain, ...options], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(([code]): never => {
      throw new Error(`the test stack ended with code ${code} before it was ready`);
    }),
  ]);
  const { brokers, schemaRegistry } = JSON.parse(line);
  process.env.KAFKA_BROKERS = brokers;
  process.env.SCHEMA_REGISTRY_URL = schemaRegistry;
  return async () => {
    // The stack ends when its standard input closes.
    child.stdin.end();
    await exited;
  };
}
