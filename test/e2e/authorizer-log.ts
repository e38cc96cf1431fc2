/** What a secured broker says about who asked for what: the lines of Kafka's authorizer in the broker's log. */
import { readFile } from "node:fs/promises";

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

/** Every line of the log so far, in its order. */
export async function readAuthorizations(logFile: string): Promise<readonly Authorization[]> {
  const lines = (await readFile(logFile, "utf8")).split("\n");
  return lines.flatMap((line) => {
    const [, user = "", verdict, operation = "", resource = "", request = "", rule = ""] = LINE.exec(line) ?? [];
    return verdict === undefined
      ? []
      : [{ user, isGranted: verdict === "Allowed", operation, resource, request, rule }];
  });
}
