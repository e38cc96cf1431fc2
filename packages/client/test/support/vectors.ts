/** The test vectors that every client library runs: `test/vectors` at the top of the repository. */
import { readFileSync } from "node:fs";
import { Analytics } from "../../src/client.ts";
import type { CallType } from "../../src/message.ts";
import type { AnalyticsOptions } from "../../src/options.ts";
import type { FakeEnvironment } from "./fake-environment.ts";

export interface VectorCall {
  readonly call: CallType;
  readonly with: unknown;
}

export type VectorStep =
  | (VectorCall & { readonly repeat?: number })
  | { readonly advanceMs: number }
  | { readonly awaitRequests: number }
  | { readonly flush: true }
  | { readonly close: true };

export interface BatchCase {
  readonly name: string;
  readonly only?: readonly string[];
  readonly options: Partial<AnalyticsOptions>;
  readonly steps: readonly VectorStep[];
  readonly requests: readonly {
    readonly bytes: number;
    readonly sentAt?: string;
    readonly count?: number;
    readonly messages?: unknown;
  }[];
}

export interface RefusalCase extends VectorCall {
  readonly name: string;
  readonly only?: readonly string[];
  readonly error: { readonly code: string; readonly field: string | null; readonly message: string };
}

export interface RetryCase {
  readonly name: string;
  readonly only?: readonly string[];
  readonly options: Partial<AnalyticsOptions>;
  readonly calls: number;
  readonly answers: readonly [VectorAnswer, ...VectorAnswer[]];
  readonly delaysMs: readonly number[];
  readonly sentAt?: readonly string[];
  readonly delivered: readonly string[];
  readonly errors: readonly {
    readonly code: string;
    readonly message: string;
    readonly status?: number;
    readonly serverCode?: string;
    readonly attempts?: number;
    readonly messages: readonly string[];
  }[];
}

export interface VectorAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly reset?: true;
}

interface VectorFile<T> {
  readonly now: string;
  readonly cases: readonly T[];
}

/** A file of vectors, without the cases of other languages. */
export function readVectors<T extends { readonly only?: readonly string[] }>(name: string): VectorFile<T> {
  const path = new URL(`../../../../test/vectors/${name}.json`, import.meta.url);
  const file: VectorFile<T> = JSON.parse(readFileSync(path, "utf8"), expand);
  return { ...file, cases: file.cases.filter(({ only }) => only === undefined || only.includes("typescript")) };
}

/** Writes out `$text` and `$library`. */
function expand(_key: string, value: unknown): unknown {
  if (value === "$library") return { name: "posthaste-js", version: "0.1.0" };
  if (typeof value !== "object" || value === null || !("$text" in value) || !("times" in value)) return value;
  return String(value.$text).repeat(Number(value.times));
}

/** A client of the vectors: one request at a time, and no timeout of a request that a moved clock would reach. */
export function createVectorClient(
  options: Partial<AnalyticsOptions> & { endpoint: string },
  environment: FakeEnvironment,
): Analytics {
  return new Analytics({ writeKey: "KEY", maxInFlight: 1, requestTimeoutMs: 2_000_000_000, ...options }, environment);
}

/** Makes the call of a vector as a caller without types would. */
export function makeCall(client: Analytics, { call, with: fields }: VectorCall): void {
  client[call](fields as never);
}
