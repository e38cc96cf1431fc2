/** Bytes that go to a file or to standard output, no faster than that takes them. */
import { createWriteStream } from "node:fs";
import { open, rename } from "node:fs/promises";
import { CliError, EXIT } from "./exit-code.ts";
import type { Output } from "./terminal.ts";

/** A file has its own name when it is whole: until then it is `path.partial`. */
export async function openOutput(path: string): Promise<Output> {
  if (path === "-") return { write: (bytes) => written(process.stdout, bytes), end: async () => undefined };
  const partial = `${path}.partial`;
  const file = await open(partial, "w").catch((cause: unknown) => {
    throw new CliError(EXIT.usage, `${path} cannot be written: ${reasonOf(cause)}`, { cause });
  });
  const stream = createWriteStream(partial, { fd: file });
  return {
    write: (bytes) => written(stream, bytes),
    end: async () => {
      await new Promise<void>((resolve, reject) => {
        stream.once("error", reject);
        stream.end(resolve);
      });
      await rename(partial, path);
    },
  };
}

function written(stream: NodeJS.WritableStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(new CliError(EXIT.failed, `what was exported cannot be written: ${error.message}`, { cause: error }));
    });
  });
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
