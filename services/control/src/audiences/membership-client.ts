/** The membership's table as the rest of control sees it: the same calls, answered by its thread. */
import { Worker } from "node:worker_threads";
import { PosthasteError } from "@posthaste/core/errors";
import { ThreadClient } from "../thread-client.ts";
import type { MembershipStart, MembershipTable, MembershipTableOptions } from "./membership-table.ts";

/** What may be asked of the thread; `close` ends it. */
export const MEMBERSHIP_METHODS = [
  ...(["take", "clear", "held", "member", "stale", "openUpload", "addToUpload", "dropUpload"] as const),
  ...(["changed", "missing", "staleMembers", "everybody", "close"] as const),
] as const;
export type MembershipMethod = (typeof MEMBERSHIP_METHODS)[number];

export interface MembershipCall {
  readonly method: MembershipMethod;
  readonly args: readonly unknown[];
}

/** The table's methods, each answered later. */
export type MembershipClient = {
  readonly [Method in MembershipMethod]: (
    ...args: Parameters<MembershipTable[Method]>
  ) => Promise<ReturnType<MembershipTable[Method]>>;
} & { readonly start: MembershipStart };

/** Of the thread's heap, which would grow as the process's does: pages of users, no more. The database is beside it. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8 };

/** Resolves when the table is open. `onFailure`: the thread ended without being asked to. */
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
  const methods = MEMBERSHIP_METHODS.map((method) => [method, (...args: unknown[]) => thread.ask({ method, args })]);
  const close = () => thread.close({ method: "close", args: [] });
  // The worker answers each method with what the table's own returns.
  return { ...Object.fromEntries(methods), close, start } as MembershipClient;
}
