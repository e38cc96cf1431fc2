/**
 * Codecs against the schema registry. The registry is asked at the start, once a schema, and when a record of an
 * unknown writer comes; never once a record.
 */
import { SchemaType } from "@kafkajs/confluent-schema-registry";
import type { OpenCodec } from "@posthaste/contracts/codec";
import { subjectOf, type TopicNames } from "@posthaste/contracts/topics";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { withDeadline } from "../connection/deadline.ts";
import { describe } from "../connection/kafka-errors.ts";
import { everySoOften, untilAnswered } from "../connection/when-reachable.ts";
import { type AvroType, createAvroCodec } from "./avro-codec.ts";
import { ANSWER_DEADLINE_MS, openRegistry, type Registry, type RegistryOptions } from "./registry-client.ts";
import { readSchema } from "./schema-files.ts";
import { settleCompatibility } from "./subject-compatibility.ts";

export interface OpenCodecOptions extends RegistryOptions {
  /** Names the subjects. */
  readonly names: TopicNames;
  readonly log?: Log;
  /** Ends the waiting for a registry that does not answer. */
  readonly signal?: AbortSignal;
}

const CLEAR_TEXT =
  "a login at the schema registry without TLS: whoever is on the way can read it; begin SCHEMA_REGISTRY_URL with https://";

/**
 * A codec opener that waits, saying so in the log, for a registry that does not answer yet. Opening rejects when the
 * registry refuses the schema.
 */
export function createOpenCodec({ names, log = SILENT_LOG, signal, ...options }: OpenCodecOptions): OpenCodec {
  const opened = openRegistry(options);
  const { host, client: registry, fetchText, isClearText, advice } = opened;
  if (isClearText) log.warn({ event: "login_in_clear_text", registry: host }, CLEAR_TEXT);

  // A service opens several codecs at once: one line for all.
  const isLineDue = everySoOften();
  const ask = <T>(question: () => Promise<T>, what: string): Promise<T> =>
    untilAnswered(
      () =>
        withDeadline(question(), ANSWER_DEADLINE_MS, what).catch((error: unknown) => {
          throw toRegistryError(error, what, advice);
        }),
      {
        log,
        fields: { event: "registry_unreachable", registry: host },
        message: "the schema registry at SCHEMA_REGISTRY_URL does not answer: trying on",
        isLineDue,
        ...(signal ? { signal } : {}),
      },
    );

  const fetchType = async (writerId: number): Promise<AvroType | null> => {
    const what = `reading schema ${writerId}`;
    try {
      return asAvroType(await withDeadline(registry.getSchema(writerId), ANSWER_DEADLINE_MS, what));
    } catch (error) {
      if (await isForeignSchema(error, () => fetchText(writerId, ANSWER_DEADLINE_MS))) return null;
      throw toRegistryError(error, what, advice);
    }
  };

  return async (schema) => {
    const subject = subjectOf(names, schema);
    const definition = { type: SchemaType.AVRO, schema: readSchema(schema) } as const;
    const register = async () => {
      const compatibility = await settleCompatibility(subject, { registry: opened, log });
      return registry.register(definition, { subject, compatibility });
    };
    // Of two processes that register a new schema at once the registry refuses one, which finds the other's the second
    // time.
    const settle = () => register().catch((error) => (statusOf(error) === 409 ? register() : Promise.reject(error)));
    const { id } = await ask(settle, `registering ${subject}`);
    const type = asAvroType(await ask(() => registry.getSchema(id), `reading schema ${id}`));
    if (type === null) throw new PosthasteError("unknown_schema", `the registry's schema ${id} is not Avro`);
    return createAvroCodec({ name: schema, schemaId: id, type, fetchType });
  };
}

/** The client types a schema as any of three kinds; an Avro one is avsc's. Null for another kind. */
function asAvroType(schema: object): AvroType | null {
  return "createResolver" in schema ? (schema as AvroType) : null;
}

/**
 * True when the registry has the schema and only its client makes nothing of it: another kind of schema, or an Avro one
 * that avsc refuses. The client's failure alone does not say so, since a page of a proxy makes it fail alike.
 */
async function isForeignSchema(error: unknown, fetchSchemaText: () => Promise<unknown>): Promise<boolean> {
  if (statusOf(error) !== undefined || isPosthasteError(error)) return false;
  return typeof (await fetchSchemaText().catch(() => undefined)) === "string";
}

/** A refusal of the registry is final; anything else (no connection, a 5xx) may pass. */
function toRegistryError(error: unknown, what: string, advice: Registry["advice"]): PosthasteError {
  const status = statusOf(error);
  const refused = status === 401 || status === 403 || status === 404 || status === 409 || status === 422;
  if (status === 404)
    return new PosthasteError("unknown_schema", `${what}: the registry has no such schema`, { cause: error });
  const reason = advice(status);
  if (reason !== undefined)
    return new PosthasteError("registry_unavailable", `${what}: ${reason}`, { retryable: !refused });
  const text = refused ? `${what}: refused (${describe(error)})` : `${what}: no answer`;
  return new PosthasteError("registry_unavailable", text, { retryable: !refused, cause: error });
}

function statusOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
}
