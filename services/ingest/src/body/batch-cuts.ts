/**
 * Where a batch's body is cut, so that its calls are parsed some at a time. Pure; found in the bytes, without a parser.
 *
 * CX1  What is cut out are the values of each list that is a member of the body's own object: its calls, and what else
 *      stands there. With a list of numbers in their place what is left is JSON if the body was, and each run of values
 *      is a list of JSON's, so the body is JSON if all of them are.
 * CX2  A run has about `RUN_BYTES`. A value of more than a call's bytes is a run of its own.
 * CX3  A value that has more than a call's bytes without its blanks, its numbers and what escapes add is too large to
 *      be a call, however it is written: nobody has to parse it.
 * CX4  Nor what nests deeper than a call may, by the brackets outside of its strings: it is a run of its own too, since
 *      to parse and to serialise it costs many times what its bytes do elsewhere.
 */
import type { CallRefusal } from "@posthaste/core/call/call";
import { MAX_NESTING } from "@posthaste/core/call/json-fragment";
import { MAX_CALL_BYTES } from "../limits.ts";
import { endOfDigits, StringScan } from "./string-scan.ts";

/** Why a value cannot be a call, as far as that is found without a parser (CX3, CX4). */
export type Unfitness = Extract<CallRefusal["code"], "call_too_large" | "nested_too_deep">;

/** Some values of a list that follow one another: the bytes from the first one's to the last one's. */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly values: number;
  /** Whether it is one value that has more than a call's bytes as it is written. */
  readonly isLarge: boolean;
  /** Null of what is parsed. */
  readonly unfitness: Unfitness | null;
}

export interface BatchCuts {
  readonly runs: readonly Run[];
  /** The bytes that are left, in order, and the number of the first run of each list before which they end. */
  readonly kept: readonly { readonly from: number; readonly to: number; readonly nextRun: number }[];
  readonly keptBytes: number;
}

/** What is parsed without a look at anything else; a millisecond of the dearest. */
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

/** Objects and lists around a value of a list, the list included. */
const LIST_DEPTH = 2;

/** Bytes that an escape `\u0061` has more than the letter that it may be, and that `\/` has. */
const UNICODE_SLACK = 5;
const SLASH_SLACK = 1;

/** Null when a string or a list of the body has no end. */
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
  /** Where the open run and its last value begin; the run has no value yet where they are equal and `#values` is 0. */
  #runFrom = 0;
  #valueFrom = 0;
  #values = 0;
  /** Bytes of the value that is looked at that need not be there. */
  #slack = 0;

  constructor(body: Buffer) {
    this.#body = body;
    this.#strings = new StringScan(body);
  }

  cut(): boolean {
    const body = this.#body;
    let depth = 0;
    /** In the value that is looked at. */
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
    // A list that has no value, which blanks may stand in.
    const isFirst = this.#values === 0 && this.kept.at(-1)?.nextRun === this.runs.length;
    if (isFirst && this.#body.toString("latin1", this.#valueFrom, at).trim() === "") return;
    this.#endValue(at, nesting);
    if (this.#values > 0) this.#endRun(at);
  }

  /** A value ends before `to`, where a comma or the list's end is. */
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

/** `bytes`: those that have to be there. */
function unfitnessOf(bytes: number, nesting: number): Unfitness | null {
  if (bytes > MAX_CALL_BYTES) return "call_too_large";
  return nesting > MAX_NESTING ? "nested_too_deep" : null;
}
