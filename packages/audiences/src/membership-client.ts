/** The membership's table for the rest of control: the same methods, answered by its thread. */
import { Worker } from "node:worker_threads";
import { PosthasteError } from "@posthaste/core/errors";
import { type MethodCall, remoteMethods, ThreadClient } from "@posthaste/read-model/thread-client";
import type { MembershipStart, MembershipTable, MembershipTableOptions } from "./membership-table.ts";

/** The methods that the thread answers; `close` ends it. */
export const MEMBERSHIP_METHODS = [
  ...(["take", "clear", "held", "member", "stale", "openUpload", "addToUpload", "dropUpload"] as const),
  ...(["changed", "missing", "staleMembers", "everybody", "close"] as const),
] as const;
export type MembershipMethod = (typeof MEMBERSHIP_METHODS)[number];

export type MembershipCall = MethodCall<MembershipMethod>;

/** The table's methods, each answered later. */
export type MembershipClient = {
  readonly [Method in MembershipMethod]: (
    ...args: Parameters<MembershipTable[Method]>
  ) => Promise<ReturnType<MembershipTable[Method]>>;
} & { readonly start: MembershipStart };

/**
 * The limits of the thread's heap, which would otherwise grow as large as the process's: it holds pages of users and no
 * more. The database's memory does not count.
 */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8 };

/** Resolves when the table is open. `onFailure` is called when the thread ends without being asked to. */
export async function openMembershipTable(
  options: MembershipTableOptions,
  onFailure: (reason: Error) => void,
): Promise<MembershipClient> {
  const worker = new Worker(new URL("./membership-worker.ts", import.meta.url), {
    workerData: options,
    resourceLimits: HEAP_LIMITS,
  });
  const thread = new ThreadClient<MembershipCall>(worker, {
    failed: (cause) => {
      const what = "the membership's database failed and is opened anew: try again soon";
      return new PosthasteError("table_not_caught_up", what, { retryable: true, cause });
    },
    closed: () => new PosthasteError("closed", "the membership's database is closed"),
    onFailure,
  });
  const start = await thread.started<MembershipStart>();
  const methods = remoteMethods(MEMBERSHIP_METHODS, (call) => thread.ask(call));
  const close = () => thread.close({ method: "close", args: [] });
  // The worker answers each method with the return value of the table's own method.
  return { ...methods, close, start } as MembershipClient;
}
