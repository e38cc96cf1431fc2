/** An upload of lines with its progress: how many were sent, then how many of them control has compared. */
import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../context.ts";
import type { Entry } from "../entries.ts";
import { startProgress } from "../progress.ts";

/** Between two looks at a sync whose lines were all sent. */
const LOOK_MS = 500;

export interface LinesUpload {
  readonly path: string;
  /** `-` for standard input. */
  readonly file: string;
  /** The noun for a line, as `users`. */
  readonly noun: string;
  /** The synced object, as control shows it; `compared` of its `syncing` is told. */
  readonly find: () => Promise<Entry | undefined>;
}

/** Sends the file, then looks how far control is with comparing. */
export async function uploadLines(context: Context, { path, file, noun, find }: LinesUpload): Promise<Entry> {
  const progress = startProgress(context);
  const ended = new AbortController();
  let lastSentMs = performance.now();
  const answered = context.api.upload(path, await context.openFile(file), (lines) => {
    lastSentMs = performance.now();
    progress.report(`${noun} sent:`, lines);
  });
  const look = async (): Promise<void> => {
    if (performance.now() - lastSentMs <= LOOK_MS) return;
    // A failed question is no reason to end: the sync's own answer tells its result.
    const compared = comparedOf(await find().catch(() => undefined));
    if (compared !== null) progress.report(`${noun} compared:`, compared);
  };
  const looking = lookUntil(ended.signal, look);
  try {
    return await answered;
  } finally {
    ended.abort();
    await looking;
    progress.end();
  }
}

async function lookUntil(signal: AbortSignal, look: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await look();
  }
}

/** Null where no sync runs that this control knows the progress of. */
function comparedOf(found: Entry | undefined): number | null {
  const syncing = found?.syncing;
  if (typeof syncing !== "object" || syncing === null || !("compared" in syncing)) return null;
  return typeof syncing.compared === "number" ? syncing.compared : null;
}
