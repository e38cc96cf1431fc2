/** Fetches the schemas of a table's records, however long the registry takes. */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import { untilAnswered } from "../connection/when-reachable.ts";

export interface TableSchemaOptions {
  readonly topic: string;
  readonly log: Log;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** Fetches the schema of these bytes; undefined when it is known. */
  readonly prefetch: ((bytes: Buffer) => Promise<void> | undefined) | undefined;
}

/**
 * Waits for a registry that does not answer or that refuses the login. It also resolves when the registry says that it
 * has no such schema; decoding then reports that (T4 of table.ts).
 */
export async function fetchTableSchema(bytes: Buffer, options: TableSchemaOptions): Promise<void> {
  const { topic, log, signal, prefetch } = options;
  let first = prefetch?.(bytes);
  if (first === undefined) return;
  const ask = async () => {
    const asked = first ?? prefetch?.(bytes);
    first = undefined;
    await asked?.catch(refusedIsUnanswered);
  };
  await untilAnswered(ask, {
    log,
    fields: { event: "table_waits_for_schema", topic },
    message: "the schema of a record cannot be fetched: trying on",
    signal,
  }).catch((error: unknown) => {
    if (!isPosthasteError(error)) throw error;
  });
}

/** A registry that refuses the login says nothing about the record; to pass the record over would lose it. */
function refusedIsUnanswered(error: unknown): never {
  if (!isPosthasteError(error, "registry_unavailable")) throw error;
  throw new PosthasteError(error.code, error.message, { retryable: true, cause: error });
}
