/**
 * A batch's body, whose calls are parsed some at a time: half a megabyte in one piece takes the parser up to 50 ms, and
 * its tree ten megabytes.
 *
 * BX1  The part beside the calls is parsed in one piece, so it is bounded: by `MAX_ENVELOPE_BYTES`, and for a
 *      compressed body by `mostBesideCalls`.
 * BX2  The calls are parsed in their order, each run when it is asked for (CX2 of batch-cuts.ts). A body of
 *      `MAX_CALL_BYTES` or fewer is one run.
 * BX3  Every list in the body's own object is parsed, whether or not it holds the calls. So whatever is no JSON is
 *      refused wherever it stands, but within a call that is too large or nests too deep.
 * BX4  All runs together have at most `MAX_BATCH_STAND_INS` keys with stand-ins: a run is a thirtieth of a body, and
 *      could have as many as a whole body.
 */
import type { JsonObject } from "@posthaste/core/call/json-fragment";
import type { StandInBudget } from "@posthaste/core/call/parse-json";
import { malformed, type Refusal, SAYS_TOO_MUCH, tooLarge } from "../answer/answer.ts";
import { MAX_BATCH_STAND_INS, MAX_CALL_BYTES, MAX_ENVELOPE_BYTES } from "../limits.ts";
import { type BatchCuts, cutBatch, type Run, type Unfitness } from "./batch-cuts.ts";
import { mostBesideCalls } from "./inflated-body.ts";
import { parseBody, parseObject, parseText, unreadable } from "./parse-body.ts";

export type CallRun = ParsedRun | UnparsedCall;

/** A call that is refused whatever it holds, as it is written. */
export interface UnparsedCall {
  readonly unparsed: Buffer;
  readonly unfitness: Unfitness;
}

/** Calls that were parsed together. */
export interface ParsedRun {
  readonly calls: readonly unknown[];
  /** Whether the run is one call that has more than `MAX_CALL_BYTES` as it is written. */
  readonly isLarge: boolean;
}

export interface BatchBody {
  /** The batch without its calls: its list of calls is replaced by a list of something else. */
  readonly envelope: JsonObject;
  /** How many calls the batch has. `list`: the envelope's list in their place. */
  countOf(list: readonly unknown[]): number;
  /** The calls in runs, or at some point the refusal of the whole batch. `list`: the envelope's list in their place. */
  runsOf(list: readonly unknown[]): Iterable<CallRun | { readonly refusal: Refusal }>;
}

const ENDS_TOO_EARLY = malformed("malformed_json", "The body is not JSON: it ends too early.");

const ENVELOPE_TOO_LARGE = tooLarge(
  "request_too_large",
  `What stands beside the calls of a batch may have at most ${MAX_ENVELOPE_BYTES} bytes; leave out what is not read.`,
);

/** Opens a batch. `sentBytes`: the length of the body before decompression. */
export function openBatch(body: Buffer, sentBytes: number): BatchBody | { readonly refusal: Refusal } {
  if (body.length <= MAX_CALL_BYTES) {
    const parsed = parseBody(body);
    return "refusal" in parsed ? parsed : wholeBatch(parsed.object);
  }
  const refused = unreadable(body);
  if (refused !== null) return refused;
  const cuts = cutBatch(body);
  if (cuts === null) return { refusal: ENDS_TOO_EARLY };
  if (cuts.keptBytes > MAX_ENVELOPE_BYTES) return { refusal: ENVELOPE_TOO_LARGE };
  if (cuts.keptBytes > mostBesideCalls(sentBytes)) return { refusal: SAYS_TOO_MUCH };
  const parsed = parseEnvelope(body, cuts);
  return "refusal" in parsed ? parsed : new CutBatch(body, cuts.runs, parsed.object);
}

function wholeBatch(envelope: JsonObject): BatchBody {
  return {
    envelope,
    countOf: (calls) => calls.length,
    runsOf: (calls) => [{ calls, isLarge: false }],
  };
}

class CutBatch implements BatchBody {
  readonly envelope: JsonObject;
  readonly #body: Buffer;
  readonly #runs: readonly Run[];
  readonly #standIns: StandInBudget = { left: MAX_BATCH_STAND_INS };

  constructor(body: Buffer, runs: readonly Run[], envelope: JsonObject) {
    this.#body = body;
    this.#runs = runs;
    this.envelope = envelope;
  }

  countOf(list: readonly unknown[]): number {
    return list.reduce<number>((sum, number) => sum + (this.#runs[Number(number)]?.values ?? 0), 0);
  }

  *runsOf(list: readonly unknown[]): Generator<CallRun | { readonly refusal: Refusal }> {
    // The runs of one list have consecutive numbers.
    const [first, last] = [list[0], list.at(-1)].map(Number);
    for (const [number, run] of this.#runs.entries()) {
      const isOwn = list.length > 0 && number >= (first ?? 0) && number <= (last ?? 0);
      const { unfitness } = run;
      if (unfitness !== null) {
        if (isOwn) yield { unparsed: this.#body.subarray(run.from, run.to), unfitness };
        continue;
      }
      const parsed = this.#parse(run);
      yield isOwn || "refusal" in parsed ? parsed : { calls: [], isLarge: false };
    }
  }

  #parse({ from, to, values, isLarge }: Run): ParsedRun | { readonly refusal: Refusal } {
    const text = `[${this.#body.toString("utf8", from, to)}]`;
    const parsed = parseText(text, (place) => lengthOf(this.#body, from) + place - 1, this.#standIns);
    if ("refusal" in parsed) return parsed;
    const calls = Array.isArray(parsed.value) ? parsed.value : [];
    // Fewer values than the cuts found: a comma stands behind the last one.
    return calls.length === values ? { calls, isLarge } : { refusal: ENDS_TOO_EARLY };
  }
}

/** Parses the envelope, in which each list has the numbers of its runs for values. */
function parseEnvelope(body: Buffer, { kept, runs }: BatchCuts) {
  let text = "";
  const begins: { readonly at: number; readonly from: number }[] = [];
  for (const [index, { from, to, nextRun }] of kept.entries()) {
    begins.push({ at: text.length, from });
    text += body.toString("utf8", from, to);
    const behind = kept[index + 1]?.nextRun ?? runs.length;
    for (let run = nextRun; run < behind; run++) text += run === nextRun ? run : `,${run}`;
  }
  return parseObject(text, (place) => {
    const { at, from } = begins.findLast((begin) => begin.at <= place) ?? { at: 0, from: 0 };
    return lengthOf(body, from) + place - at;
  });
}

/** The length of the text before a place in the bytes, in UTF-16 units. */
function lengthOf(body: Buffer, to: number): number {
  return body.toString("utf8", 0, to).length;
}
