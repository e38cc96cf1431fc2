/**
 * The program that makes the topics and registers the schemas, run once before the services start.
 *
 * The program waits for brokers and a registry that do not answer yet, and says so in its log. The lines of its log are
 * passed on while it runs, so that people who wait know the reason.
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { spawnGuarded } from "../process/guarded-spawn.ts";
import { StackError } from "../process/stack-error.ts";
import { NODE_FLAGS, type ServicesOptions, SOURCES, withoutSecrets } from "./services.ts";

const PROGRAM = "services/control/src/topics-main.ts";

export type TopicsOptions = Pick<ServicesOptions, "brokers" | "schemaRegistry" | "env" | "logins" | "sources">;

export interface TopicsProgram {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the program's arguments and environment. */
export function topicsProgram(options: TopicsOptions): TopicsProgram {
  return {
    args: [...NODE_FLAGS, join(options.sources ?? SOURCES, PROGRAM)],
    env: {
      ...withoutSecrets(options.env),
      KAFKA_BROKERS: options.brokers.join(","),
      SCHEMA_REGISTRY_URL: options.schemaRegistry,
      ...options.logins?.settingsOf("posthaste-topics"),
    },
  };
}

/**
 * Runs the program to its end; it also ends when this process does. It calls `onProgress` with the messages that the
 * program logs for people. When the program fails, it rejects with a StackError that holds the program's last words.
 */
export async function runTopicsProgram(
  { args, env }: TopicsProgram,
  onProgress: (line: string) => void,
): Promise<void> {
  const name = "the program that makes the topics";
  const { guard, ended } = await spawnGuarded({
    ...{ name, command: process.execPath, args, env },
    output: ["ignore", "pipe"],
  });
  const lastWords: string[] = [];
  const read = async (): Promise<void> => {
    if (guard.stderr === null) return;
    for await (const line of createInterface({ input: guard.stderr })) {
      const entry = logEntryOf(line);
      if (entry === undefined) lastWords.push(line.replace(/^topics: /, ""));
      else if (typeof entry.msg === "string") onProgress(entry.msg);
    }
  };
  const [code] = await Promise.all([ended, read()]);
  guard.stdin?.destroy();
  if (code !== 0) throw new StackError(`the topics could not be made: ${lastWords.join("\n") || `exit code ${code}`}`);
  for (const line of lastWords) onProgress(line);
}

/** Reads a line of the log, whose `msg` is for people; returns undefined for the words of the program's end. */
function logEntryOf(line: string): { readonly msg?: unknown } | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null ? entry : undefined;
  } catch {
    return undefined;
  }
}
