/** A control of a test's own, over topics of the test's own: as its process has it, every log line kept. */
import { randomBytes } from "node:crypto";
import { WRITERS } from "@posthaste/configuration/config-store";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { readConfig } from "@posthaste/runtime/config";
import type { Traces } from "@posthaste/runtime/traces";
import type { TestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { Registry } from "prom-client";
import { startControl } from "../src/app.ts";
import { controlSettings } from "../src/config.ts";

export const ADMIN_TOKEN = "token-of-the-tests-0123456789";

/** A setting with one fresh key under `id`. */
export function secretKey(id: string): string {
  return `${id}:${randomBytes(32).toString("base64")}`;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails on what is not there
  readonly body: any;
}

export interface TestControlOptions {
  readonly secretKeys?: string;
  readonly readyUrls?: string;
  /** More settings, as in the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The system's when left out. */
  readonly clock?: Clock;
  /** Off when left out. */
  readonly traces?: Traces;
}

export interface TestControl {
  readonly url: string;
  readonly registry: Registry;
  /** Everything that was logged, as text. */
  readonly logged: () => string;
  /** With the token of the environment, unless `headers` has another. */
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  /** Throws where control would have ended its process. */
  readonly assertWell: () => void;
  readonly stop: () => Promise<void>;
}

/** The document that anyone may read. */
export async function readOpenApi(control: TestControl): Promise<Answer> {
  return control.call("GET", "/openapi.json", undefined, { authorization: "" });
}

const DEFAULT_KEYS = secretKey("k1");
/** Each names itself by another in its revisions: of a thousand pairs that draw, one draws the same. */
let writers = 0;

/** Starts control as its process does, settings included, and waits until it serves. */
export async function startTestControl(
  { prefix, openCodec }: TestTopics,
  { secretKeys = DEFAULT_KEYS, readyUrls, env = {}, clock, traces }: TestControlOptions = {},
): Promise<TestControl> {
  const lines: string[] = [];
  const keep = (fields: Readonly<Record<string, unknown>>, message?: string): void => {
    const plain = (_: string, value: unknown) => (value instanceof Error ? `${value.stack} ${value.message}` : value);
    lines.push(JSON.stringify({ ...fields, message }, plain));
  };
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const registry = new Registry();
  const failures: Error[] = [];
  writers += 1;
  const control = await startControl({
    config: readConfig(controlSettings, {
      KAFKA_BROKERS: kafkaBrokers().join(","),
      SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
      POSTHASTE_TOPIC_PREFIX: prefix,
      POSTHASTE_CONTROL_PORT: "0",
      POSTHASTE_ADMIN_TOKEN: ADMIN_TOKEN,
      POSTHASTE_SECRET_KEYS: secretKeys,
      POSTHASTE_ALLOW_NETWORKS: "127.0.0.0/8",
      POSTHASTE_TEST_RECEIVER: "true",
      // Nothing listens there; a test that needs an ingest names its own.
      POSTHASTE_INGEST_URL: "http://127.0.0.1:9",
      ...(readyUrls === undefined ? {} : { POSTHASTE_READY_URLS: readyUrls }),
      ...env,
    }),
    host: "127.0.0.1",
    version: "0.0.0",
    writer: writers % WRITERS,
    ...{ log, registry, traces, ...(clock === undefined ? {} : { clock }) },
    // A test that names a registry is about it.
    ...("SCHEMA_REGISTRY_URL" in env ? {} : { openCodec }),
    fail: (reason) => failures.push(reason),
  });

  const call: TestControl["call"] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${control.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await textOf(response);
    return { status: response.status, headers: response.headers, text, body: text === "" ? undefined : parse(text) };
  };
  const assertWell = (): void => {
    if (failures.length > 0) throw failures[0];
  };
  await control.caughtUp;
  return {
    url: control.url,
    registry,
    logged: () => lines.join("\n"),
    call,
    assertWell,
    stop: async () => {
      await control.stop();
      assertWell();
    },
  };
}

/** The text of a response; of an endless stream, only the first chunk. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") return response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
