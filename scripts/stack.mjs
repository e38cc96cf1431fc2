// The broker and the registry of a run: those that the environment names, else a local stack of its own.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { exitCode, spawnNode } from "./bootstrap.mjs";

/**
 * Resolves when both answer, with their environment variables and `stop`, which resolves with false when one of them
 * ended by itself before. Rejects when they do not start.
 */
export async function startStack() {
  if (process.env.KAFKA_BROKERS && process.env.SCHEMA_REGISTRY_URL) return { env: {}, stop: async () => true };
  const child = spawnNode(["packages/local-stack/src/test-stack.ts"], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = exitCode(child);
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then((code) => {
      throw new Error(`the test stack ended with code ${code} before it was ready`);
    }),
  ]);
  const { brokers, schemaRegistry } = JSON.parse(line);
  const stop = async () => {
    child.stdin.end();
    return (await exited) === 0;
  };
  return { env: { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL: schemaRegistry }, stop };
}
