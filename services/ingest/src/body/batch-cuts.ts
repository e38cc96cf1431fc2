/**
 * Where a batch's body is cut, so that its calls are parsed some at a time. The cuts are found in the bytes, without a
 * parser.
 *
 * CX1  The values of each list that is a member of the body's own object are cut out: the calls, and other lists. With
 *      a list of numbers in place of the values the rest is JSON if the body was, and each run of values makes a JSON
 *      list, so the body is JSON if all of these are.
 * CX2  A run has about `RUN_BYTES`. A value of more than `MAX_CALL_BYTES` is a run of its own.
 * CX3  A value that has more than `MAX_CALL_BYTES` without its blanks, its numbers and the bytes of escapes is too
 *      large for a call, however it is written, and need not be parsed.
 * CX4  A value that nests deeper than a call may, by the brackets outside of its strings, is a run of its own and is
 *      not parsed either: parsing and serialising it costs many times as much as other bytes.
 */
import type { CallRefusal } from "@posthaste/core/call/call";
import { MAX_NESTING } from "@posthaste/core/call/json-fragment";
import { MAX_CALL_BYTES } from "../limits.ts";
import { endOfDigits, StringScan } from "./string-scan.ts";

/** Why a value cannot be a call, as far as the cuts tell (CX3, CX4). */
export type Unfitness = Extract<CallRefusal["code"], "call_too_large" | "nested_too_deep">;

/** Consecutive values of a list: the bytes from the first one's start to the last one's end. */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly values: number;
  /** Whether the run is one value that has more than `MAX_CALL_BYTES` as it is written. */
  readonly isLarge: boolean;
  /** Null for a run that is to be parsed. */
  readonly unfitness: Unfitness | null;
}

export interface BatchCuts {
  readonly runs: readonly Run[];
  /** The pieces of the body that are left, in order; behind each piece the runs from `nextRun` on were cut out. */
  readonly kept: readonly { readonly from: number; readonly to: number; readonly nextRun: number }[];
  readonly keptBytes: number;
}

/** How much is parsed in one piece: a millisecond of the costliest JSON. */
export const RUN_BYTES = 16 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const SLASH = 0x2f;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const LETTER_U = 0x75;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The depth of a list's values: the body's object and the list are around them. */
const LIST_DEPTH = 2;

/** How many more bytes the escape `\u0061` has than its letter, and `\/` than its slash. */
const UNICODE_SLACK = 5;
const SLASH_SLACK = 1;

/** Cuts a body; null when a string or a list in it has no end. */
export function cutBatch(body: Buffer): BatchCuts | null {
  const cuts = new Cutting(body);
  return cuts.cut() ? cuts : null;
}

class Cutting implements BatchCuts {
  readonly runs: Run[] = [];
  readonly kept: { from: number; to: number; nextRun: number }[] = [];
  keptBytes = 0;
  readonly #body: Buffer;
  readonly #strings: StringScan;
  #keptFrom = 0;
  /** Where the open run and its last value begin. While they are equal and `#values` is 0 the run has no value. */
  #runFrom = 0;
  #valueFrom = 0;
  #values = 0;
  /** The bytes of the current value that a shorter writing of it would not have. */
  #slack = 0;

  constructor(body: Buffer) {
    this.#body = body;
    this.#strings = new StringScan(body);
  }

  cut(): boolean {
    const body = this.#body;
    let depth = 0;
    /** The greatest depth within the current value. */
    let deepest = 0;
    let isInList = false;
    for (let at = 0; at < body.length; at++) {
      const byte = body[at] ?? 0;
      if (byte === QUOTE) {
        at = this.#endOfString(at + 1);
        if (at === -1) return false;
      } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) {
        depth++;
        if (depth > deepest) deepest = depth;
        if (depth === LIST_DEPTH && byte === OPENING_BRACKET) {
          isInList = true;
          deepest = 0;
          this.#openList(at + 1);
        }
      } else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
        if (depth === LIST_DEPTH && isInList) {
          isInList = false;
          this.#closeList(at, deepest - LIST_DEPTH);
        }
        depth--;
      } else if (byte === COMMA) {
        if (depth !== LIST_DEPTH || !isInList) continue;
        this.#endValue(at, deepest - LIST_DEPTH);
        deepest = 0;
      } else {
        const end = endOfDigits(body, at, body.length);
        this.#slack += end - at;
        at = Math.max(at, end - 1);
      }
    }
    this.#keep(body.length);
    return depth === 0;
  }

  /** The place of the closing quote; -1 when there is none. */
  #endOfString(start: number): number {
    const body = this.#body;
    let slack = 0;
    let at = this.#strings.next(start);
    for (; body[at] === BACKSLASH; at = this.#strings.next(at + 2)) {
      if (body[at + 1] === LETTER_U) slack += UNICODE_SLACK;
      else if (body[at + 1] === SLASH) slack += SLASH_SLACK;
    }
    this.#slack += slack;
    return at < body.length ? at : -1;
  }

  #keep(to: number): void {
    this.kept.push({ from: this.#keptFrom, to, nextRun: this.runs.length });
    this.keptBytes += to - this.#keptFrom;
  }

  #openList(at: number): void {
    this.#keep(at);
    this.#runFrom = at;
    this.#valueFrom = at;
    this.#values = 0;
    this.#slack = 0;
  }

  #closeList(at: number, nesting: number): void {
    this.#keptFrom = at;
    // An empty list, perhaps with blanks in it.
    const isFirst = this.#values === 0 && this.kept.at(-1)?.nextRun === this.runs.length;
    if (isFirst && this.#body.toString("latin1", this.#valueFrom, at).trim() === "") return;
    this.#endValue(at, nesting);
    if (this.#values > 0) this.#endRun(at);
  }

  /** Ends a value before `to`, where a comma or the list's end is. */
  #endValue(to: number, nesting: number): void {
    const bytes = to - this.#valueFrom;
    const unfitness = unfitnessOf(bytes - this.#slack, nesting);
    if (bytes > MAX_CALL_BYTES || unfitness !== null) {
      if (this.#values > 0) this.#endRun(this.#valueFrom - 1);
      this.#runFrom = this.#valueFrom;
      this.#values = 1;
      this.#endRun(to, bytes > MAX_CALL_BYTES, unfitness);
    } else {
      this.#values++;
      if (to - this.#runFrom >= RUN_BYTES) this.#endRun(to);
    }
    this.#valueFrom = to + 1;
    this.#slack = 0;
    if (this.#values === 0) this.#runFrom = to + 1;
  }

  #endRun(to: number, isLarge = false, unfitness: Unfitness | null = null): void {
    this.runs.push({ from: this.#runFrom, to, values: this.#values, isLarge, unfitness });
    this.#values = 0;
  }
}

/** `bytes`: the value's bytes in its shortest writing. */
function unfitnessOf(bytes: number, nesting: number): Unfitness | null {
  if (bytes > MAX_CALL_BYTES) return "call_too_large";
  return nesting > MAX_NESTING ? "nested_too_deep" : null;
}
