/**
 * A Node program that answers each line of its standard input by one of its standard output, both JSON: for a question
 * that a test asks many times, where a process for each would cost its start.
 *
 * Owns: the program's process, until `close`.
 * NP1  The program answers its lines in their order, one at a time, so that each answer is of its question.
 * NP2  A question that the program ends without answering rejects.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { wholeEnvironment } from "./run-node.ts";

export interface LineProgram {
  readonly ask: (question: unknown) => Promise<unknown>;
  /** Ends the program's input, and resolves when it is gone. */
  readonly close: () => Promise<void>;
}

/** `args` are Node's own: flags, the file, its arguments. `env` is all that the program sees of an environment. */
export function startLineProgram(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): LineProgram {
  const child = spawn(process.execPath, [...args], { env: wholeEnvironment(env), stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  // A program may end before it reads anything.
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ask: async (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const answer = await lines.next();
      if (answer.done) throw new Error(`the program ended without an answer to ${JSON.stringify(question)}`);
      return JSON.parse(answer.value);
    },
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
