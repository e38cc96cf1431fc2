/**
 * Opens codecs by the schema registry. A process asks the registry once for each schema at its start, and once for each
 * writer's schema that it does not know yet; it never asks for each record.
 */
import { SchemaType } from "@kafkajs/confluent-schema-registry";
import type { Codec, OpenCodec } from "@posthaste/contracts/codec";
import { type SchemaName, subjectOf, type TopicNames } from "@posthaste/contracts/topics";
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
  /** The topics' names, from which the subjects get theirs. */
  readonly names: TopicNames;
  readonly log?: Log;
  /** Ends the wait for a registry that does not answer. */
  readonly signal?: AbortSignal;
}

const CLEAR_TEXT =
  "a login at the schema registry without TLS: whoever is on the way can read it; begin SCHEMA_REGISTRY_URL with https://";

/**
 * Makes the function that opens codecs. It waits for a registry that does not answer yet, and says so in the log. It
 * rejects when the registry refuses the schema.
 */
export function createOpenCodec({ names, log = SILENT_LOG, signal, ...options }: OpenCodecOptions): OpenCodec {
  const opened = openRegistry(options);
  const { host, client: registry, fetchText, isClearText, advice } = opened;
  if (isClearText) log.warn({ event: "login_in_clear_text", registry: host }, CLEAR_TEXT);

  // A service opens several codecs at once, and one line in the log tells of all.
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

  const openAnew = async <T>(schema: SchemaName): Promise<Codec<T>> => {
    const subject = subjectOf(names, schema);
    const definition = { type: SchemaType.AVRO, schema: readSchema(schema) } as const;
    const register = async () => {
      const compatibility = await settleCompatibility(subject, { registry: opened, log });
      return registry.register(definition, { subject, compatibility });
    };
    // When two processes register a new schema at once, the registry refuses one of them, which finds the other's
    // schema when it tries again.
    const settle = () => register().catch((error) => (statusOf(error) === 409 ? register() : Promise.reject(error)));
    const { id } = await ask(settle, `registering ${subject}`);
    const type = asAvroType(await ask(() => registry.getSchema(id), `reading schema ${id}`));
    if (type === null) throw new PosthasteError("unknown_schema", `the registry's schema ${id} is not Avro`);
    return createAvroCodec<T>({ name: schema, schemaId: id, type, fetchType });
  };

  return openOnce(openAnew);
}

/** Opens each schema once, for all callers. A schema that could not be opened is opened anew for the next caller. */
function openOnce(openAnew: OpenCodec): OpenCodec {
  const codecs = new Map<SchemaName, Promise<Codec<unknown>>>();
  return <T>(schema: SchemaName): Promise<Codec<T>> => {
    const known = codecs.get(schema);
    // The caller knows which values have the schema, as it does of a codec of its own.
    if (known !== undefined) return known as Promise<Codec<T>>;
    const opening = openAnew<T>(schema);
    codecs.set(schema, opening as Promise<Codec<unknown>>);
    opening.catch(() => codecs.delete(schema));
    return opening;
  };
}

/** The client knows three kinds of schemas, of which an Avro schema is a type of avsc. Returns null for other kinds. */
function asAvroType(schema: object): AvroType | null {
  return "createResolver" in schema ? (schema as AvroType) : null;
}

/**
 * True when the registry has the schema but its client cannot read it: a schema of another kind, or an Avro schema that
 * avsc refuses. The client's failure alone does not tell, since it fails in the same way at a proxy's error page.
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
