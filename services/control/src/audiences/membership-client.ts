/**
 * The membership's table as the rest of control sees it: the same calls, answered by its thread.
 *
 * Owns: the thread. When that ends, every call that waits rejects, and so does every later one; whoever opened it opens
 * another.
 */
import { Worker } from "node:worker_threads";
import { PosthasteError } from "@posthaste/core/errors";
import type { MembershipStart, MembershipTable, MembershipTableOptions } from "./membership-table.ts";

/** What may be asked of the thread; `close` ends it. */
export const MEMBERSHIP_METHODS = [
  ...(["take", "clear", "held", "member", "stale", "openUpload", "addToUpload", "dropUpload"] as const),
  ...(["changed", "missing", "staleMembers", "everybody", "close"] as const),
] as const;
export type MembershipMethod = (typeof MEMBERSHIP_METHODS)[number];

export interface MembershipCall {
  /** From 1; 0 is the table's start. */
  readonly id: number;
  readonly method: MembershipMethod;
  readonly args: readonly unknown[];
}

export interface MembershipReply {
  readonly id: number;
  readonly value: unknown;
}

/** The table's methods, each answered later. */
export type MembershipClient = {
  readonly [Method in MembershipMethod]: (
    ...args: Parameters<MembershipTable[Method]>
  ) => Promise<ReturnType<MembershipTable[Method]>>;
} & { readonly start: MembershipStart };

/** Of the thread's heap, which would grow as the process's does: pages of users, no more. The database is beside it. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8 };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/** Resolves when the table is open. `onFailure`: the thread ended without being asked to. */
export async function openMembershipTable(
  options: MembershipTableOptions,
  onFailure: (reason: Error) => void,
): Promise<MembershipClient> {
  const worker = new Worker(new URL("./membership-worker.ts", import.meta.url), {
    workerData: options,
    resourceLimits: HEAP_LIMITS,
  });
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  let ended: Error | null = null;

  const end = (reason: Error): void => {
    if (ended !== null) return;
    ended = reason;
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };
  const started = new Promise<unknown>((resolve, reject) => {
    waiting.set(0, { resolve, reject });
  });
  worker.on("message", ({ id, value }: MembershipReply) => {
    waiting.get(id)?.resolve(value);
    waiting.delete(id);
  });
  worker.on("error", (cause) => {
    const what = "the membership's database failed and is opened anew: try again soon";
    const reason = new PosthasteError("table_not_caught_up", what, { retryable: true, cause });
    end(reason);
    onFailure(reason);
  });
  worker.on("exit", () => end(new PosthasteError("closed", "the membership's database is closed")));

  const ask = (method: MembershipMethod, args: readonly unknown[]): Promise<unknown> => {
    if (ended !== null) return Promise.reject(ended);
    calls += 1;
    const id = calls;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, method, args } satisfies MembershipCall);
    });
  };
  const start = await started;
  const close = async (): Promise<void> => {
    await ask("close", []).catch(() => undefined);
    await worker.terminate();
  };
  const methods = MEMBERSHIP_METHODS.map((method) => [method, (...args: unknown[]) => ask(method, args)]);
  // The worker answers each method with what the table's own returns.
  return { ...Object.fromEntries(methods), close, start } as MembershipClient;
}
