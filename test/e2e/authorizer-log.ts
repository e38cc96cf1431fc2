/** A secured broker's record of each user's requests: the lines of Kafka's authorizer in the broker's log. */
import { open } from "node:fs/promises";

export interface Authorization {
  /** Without `User:`. */
  readonly user: string;
  readonly isGranted: boolean;
  /** Kafka's name for it, such as `DESCRIBE`. */
  readonly operation: string;
  /** As Kafka writes it, such as `Topic:LITERAL:posthaste.events`. */
  readonly resource: string;
  /** The kind of request, such as `Fetch`. */
  readonly request: string;
  /** Why: the rule's text, or the default. */
  readonly rule: string;
}

const LINE =
  /Principal = User:(\S+) is (Allowed|Denied) operation = (\S+) from host = \S+ on resource = (\S+) for request = (\S+) with resourceRefCount = \d+ based on rule (.*?)(?: \(logger\))?$/;

interface ReadLog {
  /** Where the next line begins. */
  at: number;
  readonly found: Authorization[];
}

/** A log only grows, to megabytes, and is asked again and again: no line of it is read twice. */
const readLogs = new Map<string, ReadLog>();

/** Every whole line of the log so far, in its order. */
export async function readAuthorizations(logFile: string): Promise<readonly Authorization[]> {
  const log = readLogs.get(logFile) ?? { at: 0, found: [] };
  readLogs.set(logFile, log);
  const from = log.at;
  const bytes = await readFrom(logFile, from);
  const end = bytes.lastIndexOf("\n") + 1;
  // Another caller has read these lines meanwhile.
  if (log.at === from) {
    log.at += end;
    log.found.push(...bytes.toString("utf8", 0, end).split("\n").flatMap(parseLine));
  }
  return [...log.found];
}

async function readFrom(file: string, at: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - at), 0, size - at, at);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function parseLine(line: string): readonly Authorization[] {
  const [, user = "", verdict, operation = "", resource = "", request = "", rule = ""] = LINE.exec(line) ?? [];
  return verdict === undefined ? [] : [{ user, isGranted: verdict === "Allowed", operation, resource, request, rule }];
}
