/**
 * The metadata of an offset commit: Kafka's id of the topic, which offsets above the committed one are finished (C1),
 * and a state over exactly the records below it (D3).
 *
 * The text has at most 4,096 bytes, a broker's default limit: `2.checksum.base.topic id.runs`, and `.state` where there
 * is a state. Where the cluster gives topics no ids, and in commits of earlier releases: `1.checksum.base.runs`, and
 * `.state`. `base` is the committed offset. `runs` holds lengths of runs of offsets, of an unfinished run and a
 * finished one alternately; the first run begins at the committed offset and is unfinished.
 * CM1  The text always fits: the encoder cuts runs from the top, and leaves out a state that does not fit by itself.
 *      Both cost repeats and never a record. A state of `MAX_STATE_BYTES` fits, and leaves space for some four hundred
 *      finished runs.
 * CM2  The decoder takes text that is damaged, of another version or of another base offset for no metadata at all. The
 *      checksum covers the whole text, so that damage does not make an unfinished offset count as finished.
 */
import { DigitReader, varint } from "./digits.ts";
import type { OffsetRun } from "./offset-tracker.ts";

/** `offset.metadata.max.bytes` of a broker, by default. */
export const MAX_METADATA_BYTES = 4096;

/** The most bytes that a state should have. Runs have 1,000 bytes then, at two or three bytes for each finished run. */
export const MAX_STATE_BYTES = 3072;

export interface CommitMetadata {
  /** Kafka's own id of the topic that the offset is of; null where the commit does not say. */
  readonly topicId: string | null;
  /** The runs of finished offsets above the committed offset, in rising order, none touching the next. */
  readonly finishedRuns: readonly OffsetRun[];
  readonly state: string | null;
}

const NOTHING: CommitMetadata = { topicId: null, finishedRuns: [], state: null };
/** Seven characters of checksum, eleven of base offset, version and dots. */
const FRAME_BYTES = 24;
/** The most finished runs that fit: each takes two characters at least, one for itself and one for the gap below it. */
export const MAX_METADATA_RUNS = (MAX_METADATA_BYTES - FRAME_BYTES) / 2;

/**
 * The metadata for a commit of the offset `base`; the empty text when there is nothing to say. Calls `onTruncated` when
 * not all of it fits.
 */
export function encodeCommitMetadata(
  base: number,
  { topicId, finishedRuns, state }: CommitMetadata,
  onTruncated: () => void = () => undefined,
): string {
  const frameBytes = FRAME_BYTES + (topicId === null ? 0 : topicId.length + 1);
  const stateBytes = state === null ? 0 : utf8Length(state);
  const kept = state !== null && stateBytes + frameBytes <= MAX_METADATA_BYTES ? state : null;
  const freeBytes = MAX_METADATA_BYTES - frameBytes - (kept === null ? 0 : stateBytes);
  const runs = encodeRuns(base, finishedRuns, freeBytes);
  if (kept !== state || runs.isTruncated) onTruncated();
  if (topicId === null && runs.text === "" && kept === null) return "";
  const rest = `${runs.text}${kept === null ? "" : `.${kept}`}`;
  if (topicId === null) return frame(1, `${base.toString(36)}.${rest}`);
  return frame(2, `${base.toString(36)}.${topicId}.${rest}`);
}

function frame(version: 1 | 2, body: string): string {
  return `${version}.${sumOf(version, body)}.${body}`;
}

/** Version 2 sums its version as well, so that no damage to the version makes the text pass for version 1. */
function sumOf(version: 1 | 2, body: string): string {
  return checksum(version === 1 ? body : `${version}.${body}`);
}

/** The pattern of each version; its groups are checksum, body, base, topic id, runs, state. */
const FRAMES = {
  1: /^1\.([0-9a-z]{1,7})\.(([0-9a-z]{1,11})()\.([A-Za-z0-9_-]*)(?:\.([\s\S]*))?)$/,
  2: /^2\.([0-9a-z]{1,7})\.(([0-9a-z]{1,11})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)(?:\.([\s\S]*))?)$/,
} as const;

/** Reads the metadata that was committed with the offset `base`; null and the empty text hold nothing. */
export function decodeCommitMetadata(base: number, text: string | null): CommitMetadata {
  const version = text?.startsWith("2") ? 2 : 1;
  const match = FRAMES[version].exec(text ?? "");
  if (!match) return NOTHING;
  const [, sum, body = "", baseText = "", topicId, runs = "", state = null] = match;
  if (sum !== sumOf(version, body) || baseText !== base.toString(36)) return NOTHING;
  return { topicId: topicId || null, finishedRuns: decodeRuns(base, runs), state };
}

/** The lengths of the runs, unfinished and finished alternately; only pairs that fit whole into `freeBytes`. */
function encodeRuns(
  base: number,
  runs: readonly OffsetRun[],
  freeBytes: number,
): { readonly text: string; readonly isTruncated: boolean } {
  let text = "";
  let at = base;
  for (const { from, to } of runs) {
    const pair = varint(from - at) + varint(to - from);
    if (text.length + pair.length > freeBytes) return { text, isTruncated: true };
    text += pair;
    at = to;
  }
  return { text, isTruncated: false };
}

function decodeRuns(base: number, text: string): OffsetRun[] {
  const runs: OffsetRun[] = [];
  const reader = new DigitReader(text);
  let at = base;
  for (;;) {
    const unfinished = reader.varint();
    const finished = reader.varint();
    if (unfinished === null || finished === null) return runs;
    const from = at + unfinished;
    at = from + finished;
    runs.push({ from, to: at });
  }
}

/** FNV-1a over the UTF-16 units, in 32 bits. It guards against damage, not against malice. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}
