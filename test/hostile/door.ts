/** A door of the product, at which a stranger's bytes come in. */
import type { Played } from "./player-process.ts";
import type { Stream } from "./stream.ts";

export interface Door {
  readonly name: string;
  /** The process that the bytes cost. */
  readonly pid: () => number;
  /** The other processes that the neighbour's exchange passes through. */
  readonly between?: () => readonly number[];
  /** Has a stream play until it is told to stop, which resolves when its connections are closed. */
  readonly play: (stream: Stream) => Promise<{ stop(): Promise<Played> }>;
  /** One exchange of an honest neighbour; false where it was refused. */
  readonly honest: () => Promise<boolean>;
  /** Starts the process anew. */
  readonly restart: () => Promise<void>;
  /** Ends the door's own processes, where it has any. */
  readonly close?: () => Promise<void>;
}

export interface Cost {
  /** How much more is resident than before, at most; megabytes. */
  readonly memoryMb: number;
  /** How much more is resident than when the stream began; earlier ones may have left something. */
  readonly grownMb: number;
  /** The honest neighbour's p99 by its own alone. */
  readonly slower: number;
  readonly refused: number;
  /** How long after the end the neighbour waits as alone again; seconds. */
  readonly recoveryS: number;
  /** Processor time of the process, as a part of one processor; above its time alone. */
  readonly processor: number;
  /** The neighbour's longest wait, as long as the process was busy in one piece; ms. */
  readonly pauseMs: number;
  /** The bytes and connections that the stream reached, a second. */
  readonly played: Played;
}

/** The cost that any stream of at most 64 connections and 10 MB/s may have. */
export const BOUNDS = { memoryMb: 300, slower: 5, refused: 0, recoveryS: 5 } as const;

/** How far a cost goes of its bounds: more than 1 is beyond one of them. */
export function partOfBounds({ memoryMb, slower, refused, recoveryS }: Cost): number {
  const refusals = refused === 0 ? 0 : 1 + refused;
  return Math.max(memoryMb / BOUNDS.memoryMb, slower / BOUNDS.slower, recoveryS / BOUNDS.recoveryS, refusals);
}
