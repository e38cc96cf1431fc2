/**
 * Codecs against the schema registry. The registry is asked at the start, once a schema, and when a record of an unknown
 * writer comes; never once a record.
 */
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import type { OpenCodec } from "@posthaste/contracts/codec";
import { subjectOf, type TopicNames } from "@posthaste/contracts/topics";
import { PosthasteError } from "@posthaste/core/errors";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { type AvroType, createAvroCodec } from "./avro-codec.ts";
import { viewBytes } from "./bytes-view.ts";
import { withDeadline } from "./deadline.ts";
import { describe } from "./kafka-errors.ts";
import { readSchema } from "./schema-files.ts";
import { everySoOften, untilAnswered } from "./when-reachable.ts";

export interface OpenCodecOptions {
  /** The registry's base URL, its path included; a user and password in it are used for Basic authentication. */
  readonly url: string;
  /** Names the subjects. */
  readonly names: TopicNames;
  readonly log?: Log;
  /** Ends the waiting for a registry that does not answer. */
  readonly signal?: AbortSignal;
}

const ANSWER_DEADLINE_MS = 5000;

/** A codec opener that waits, saying so in the log, for a registry that does not answer yet. Opening rejects when the registry refuses the schema. */
export function createOpenCodec({ url, names, log = SILENT_LOG, signal }: OpenCodecOptions): OpenCodec {
  const { host, auth } = splitCredentials(url);
  const registry = new SchemaRegistry(
    { host, clientId: "posthaste", retry: { retries: 0 }, ...(auth ? { auth } : {}) },
    { [SchemaType.AVRO]: { typeHook: viewBytes } },
  );

  // A service opens several codecs at once: one line for all.
  const isLineDue = everySoOften();
  const ask = <T>(question: () => Promise<T>, what: string): Promise<T> =>
    untilAnswered(
      () =>
        withDeadline(question(), ANSWER_DEADLINE_MS, what).catch((error: unknown) => {
          throw toRegistryError(error, what);
        }),
      {
        log,
        fields: { event: "registry_unreachable", registry: host },
        message: "the schema registry at SCHEMA_REGISTRY_URL does not answer: trying on",
        isLineDue,
        ...(signal ? { signal } : {}),
      },
    );

  return async (schema) => {
    const subject = subjectOf(names, schema);
    const definition = { type: SchemaType.AVRO, schema: readSchema(schema) } as const;
    const register = () => registry.register(definition, { subject });
    // Of two processes that register a new schema at once the registry refuses one, which finds the other's the second time.
    const settle = () => register().catch((error) => (statusOf(error) === 409 ? register() : Promise.reject(error)));
    const { id } = await ask(settle, `registering ${subject}`);
    const type = await ask(() => registry.getSchema(id), `reading schema ${id}`);
    return createAvroCodec({
      name: schema,
      schemaId: id,
      type: toAvroType(type),
      fetchType: async (writerId) => {
        const what = `reading schema ${writerId}`;
        const fetched = withDeadline(registry.getSchema(writerId), ANSWER_DEADLINE_MS, what);
        return toAvroType(
          await fetched.catch((error: unknown) => {
            throw toRegistryError(error, what);
          }),
        );
      },
    });
  };
}

/** The client types a schema as any of three kinds; an Avro one is avsc's. */
function toAvroType(schema: object): AvroType {
  if (!("createResolver" in schema)) throw new PosthasteError("unknown_schema", "a schema is not Avro");
  return schema as AvroType;
}

/** A refusal of the registry is final; anything else (no connection, a 5xx) may pass. */
function toRegistryError(error: unknown, what: string): PosthasteError {
  const status = statusOf(error);
  const refused = status === 401 || status === 403 || status === 404 || status === 409 || status === 422;
  if (status === 404)
    return new PosthasteError("unknown_schema", `${what}: the registry has no such schema`, { cause: error });
  const text = refused ? `${what}: refused (${describe(error)})` : `${what}: no answer`;
  return new PosthasteError("registry_unavailable", text, { retryable: !refused, cause: error });
}

function statusOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
}

function splitCredentials(url: string): { host: string; auth?: { username: string; password: string } } {
  const parsed = new URL(url);
  const { username, password } = parsed;
  parsed.username = "";
  parsed.password = "";
  const host = parsed.href.replace(/\/$/, "");
  if (username === "") return { host };
  return { host, auth: { username: decodeURIComponent(username), password: decodeURIComponent(password) } };
}
