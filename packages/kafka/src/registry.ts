/**
 * Codecs against the schema registry. The registry is asked at the start, once a schema, and when a record of an unknown
 * writer comes; never once a record.
 */
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import type { OpenCodec } from "@posthaste/contracts/codec";
import { subjectOf, type TopicNames } from "@posthaste/contracts/topics";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
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

  const fetchType = async (writerId: number): Promise<AvroType | null> => {
    const what = `reading schema ${writerId}`;
    try {
      return asAvroType(await withDeadline(registry.getSchema(writerId), ANSWER_DEADLINE_MS, what));
    } catch (error) {
      if (await isForeignSchema(error, () => fetchText(host, auth, writerId))) return null;
      throw toRegistryError(error, what);
    }
  };

  return async (schema) => {
    const subject = subjectOf(names, schema);
    const definition = { type: SchemaType.AVRO, schema: readSchema(schema) } as const;
    const register = () => registry.register(definition, { subject });
    // Of two processes that register a new schema at once the registry refuses one, which finds the other's the second time.
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
 * True when the registry has the schema and only its client makes nothing of it: another kind of schema, or an Avro one that
 * avsc refuses. The client's failure alone does not say so, since a page of a proxy makes it fail alike.
 */
async function isForeignSchema(error: unknown, fetchSchemaText: () => Promise<unknown>): Promise<boolean> {
  if (statusOf(error) !== undefined || isPosthasteError(error)) return false;
  return typeof (await fetchSchemaText().catch(() => undefined)) === "string";
}

/** A schema as the registry holds it; undefined when the answer names none. */
async function fetchText(host: string, auth: Credentials | undefined, schemaId: number): Promise<unknown> {
  const response = await fetch(`${host}/schemas/ids/${schemaId}`, {
    signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
    headers: auth === undefined ? {} : { authorization: basic(auth) },
  });
  const answer: unknown = response.ok ? await response.json() : null;
  return typeof answer === "object" && answer !== null && "schema" in answer ? answer.schema : undefined;
}

function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
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

/** Not an interface: the registry's client wants a type that may have more names. */
type Credentials = { readonly username: string; readonly password: string };

function splitCredentials(url: string): { host: string; auth?: Credentials } {
  const parsed = new URL(url);
  const { username, password } = parsed;
  parsed.username = "";
  parsed.password = "";
  const host = parsed.href.replace(/\/$/, "");
  if (username === "") return { host };
  return { host, auth: { username: decodeURIComponent(username), password: decodeURIComponent(password) } };
}
