/** Reads kafkajs's errors by name and code, never by message text, and turns them into PosthasteErrors. */
import { PosthasteError } from "@posthaste/core/errors";
import { NO_LOGIN } from "../login/login.ts";
import { brokerTlsRefusal } from "../login/tls-refusal.ts";

/** The fields of kafkajs's errors that this file reads. An error that is not kafkajs's may lack all of them. */
interface ErrorFields {
  readonly name?: unknown;
  /** The protocol's error name, on KafkaJSProtocolError. */
  readonly type?: unknown;
  readonly cause?: unknown;
}

/**
 * Errors by which kafkajs says that it could not reach the right broker: a connection failed, or kafkajs's metadata of
 * the cluster was old. The request itself may be fine.
 */
const CONNECTION_ERRORS: ReadonlySet<unknown> = new Set([
  "KafkaJSConnectionError",
  "KafkaJSConnectionClosedError",
  "KafkaJSRequestTimeoutError",
  "KafkaJSBrokerNotFound",
  "KafkaJSNoBrokerAvailableError",
  "KafkaJSMetadataNotLoaded",
  "KafkaJSTopicMetadataNotLoaded",
  "KafkaJSGroupCoordinatorNotFound",
  "KafkaJSLockTimeout",
  "KafkaJSTimeout",
]);

/**
 * A broker's error codes that pass by themselves: during an election, a restart, or while in-sync replicas are missing.
 */
const PASSING_ANSWERS: ReadonlySet<unknown> = new Set([
  "LEADER_NOT_AVAILABLE",
  "NOT_LEADER_FOR_PARTITION",
  "REPLICA_NOT_AVAILABLE",
  "REQUEST_TIMED_OUT",
  "BROKER_NOT_AVAILABLE",
  "NETWORK_EXCEPTION",
  "NOT_CONTROLLER",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "GROUP_LOAD_IN_PROGRESS",
  "NOT_COORDINATOR_FOR_GROUP",
  "NOT_ENOUGH_REPLICAS",
  "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
  "KAFKA_STORAGE_ERROR",
  "UNKNOWN_LEADER_EPOCH",
  "FENCED_LEADER_EPOCH",
  // Errors of a login pass when an operator mends the login at the brokers; the process then needs no restart.
  "SASL_AUTHENTICATION_FAILED",
  "UNSUPPORTED_SASL_MECHANISM",
  "ILLEGAL_SASL_STATE",
]);

const ADVICE: ReadonlyMap<unknown, string> = new Map([
  [
    "UNSUPPORTED_SASL_MECHANISM",
    "the broker does not take this KAFKA_SASL_MECHANISM: set it to one that the listener takes",
  ],
  ["ILLEGAL_SASL_STATE", NO_LOGIN],
]);

const REFUSED_RECORDS: ReadonlySet<unknown> = new Set(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"]);

/** True when the same request may succeed on another connection, or a little later. */
export function isPassingFailure(error: unknown): boolean {
  return chain(error).some(({ name, type }) => CONNECTION_ERRORS.has(name) || PASSING_ANSWERS.has(type));
}

/** True when the broker refused the credentials of the login. */
export function isLoginRefused(error: unknown): boolean {
  return chain(error).some(({ type }) => type === "SASL_AUTHENTICATION_FAILED");
}

/**
 * Advice when a broker refuses this process for a reason that does not pass by itself, such as its certificate or
 * login. Undefined for any other failure.
 */
export function refusalOf(error: unknown): string | undefined {
  for (const each of chain(error)) {
    if (each instanceof PosthasteError) return each.code === "broker_refuses" ? each.message : undefined;
    const advice = brokerTlsRefusal(each) ?? ADVICE.get(each.type);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/** True when the broker gave up waiting for its in-sync replicas. */
export function isTimedOut(error: unknown): boolean {
  return chain(error).some(({ type }) => type === "REQUEST_TIMED_OUT");
}

export function isTopicMissing(error: unknown): boolean {
  return chain(error).some(({ type }) => type === "UNKNOWN_TOPIC_OR_PARTITION");
}

/** True when topics could not be made only because they exist already. */
export function isTopicExisting(error: unknown): boolean {
  const errors = typeof error === "object" && error !== null && "errors" in error ? error.errors : undefined;
  const each = Array.isArray(errors) ? errors : [error];
  return each.every((one) => chain(one).some(({ type }) => type === "TOPIC_ALREADY_EXISTS"));
}

export function isOffsetOutOfRange(error: unknown): boolean {
  return chain(error).some(({ name, type }) => name === "KafkaJSOffsetOutOfRange" || type === "OFFSET_OUT_OF_RANGE");
}

/** True when the broker will refuse these records however often they are sent. */
export function isRefusedRecord(error: unknown): boolean {
  return chain(error).some(({ type }) => REFUSED_RECORDS.has(type));
}

/** The causes of a batch that was not acknowledged; the values of a metric's label. */
export const FAILURE_CAUSES = [
  "deadline",
  "refused",
  "not_enough_replicas",
  "not_named",
  "too_large",
  "other",
] as const;
export type FailureCause = (typeof FAILURE_CAUSES)[number];

const CAUSES: ReadonlyMap<unknown, FailureCause> = new Map([
  ["REQUEST_TIMED_OUT", "deadline"],
  ["NOT_ENOUGH_REPLICAS", "not_enough_replicas"],
  ["NOT_ENOUGH_REPLICAS_AFTER_APPEND", "not_enough_replicas"],
  ["MESSAGE_TOO_LARGE", "too_large"],
  ["RECORD_LIST_TOO_LARGE", "too_large"],
]);

/** The cause of a batch's failure by its error; undefined where the broker's answer does not name the partition. */
export function failureCause(error: unknown): FailureCause {
  if (error === undefined) return "not_named";
  for (const { type } of chain(error)) {
    const cause = CAUSES.get(type);
    if (cause !== undefined) return cause;
  }
  return isRefusedRecord(error) ? "refused" : "other";
}

/**
 * A PosthasteError with kafkajs's error as its cause. A PosthasteError, also one that kafkajs wrapped, is returned as
 * it is.
 */
export function toPosthasteError(error: unknown, what: string): PosthasteError {
  const ours = chain(error).find((each) => each instanceof PosthasteError);
  if (ours !== undefined) return ours;
  const cause = { cause: error };
  if (isTopicMissing(error)) return new PosthasteError("topic_missing", `${what}: the topic does not exist`, cause);
  if (isOffsetOutOfRange(error)) return new PosthasteError("offset_out_of_range", `${what}: the offset is gone`, cause);
  const refusal = refusalOf(error);
  if (refusal !== undefined)
    return new PosthasteError("broker_refuses", `${what}: ${refusal}`, { retryable: true, ...cause });
  if (isPassingFailure(error)) {
    return new PosthasteError("broker_unavailable", `${what}: no broker answered`, { retryable: true, ...cause });
  }
  return new PosthasteError("internal", `${what}: ${describe(error)}`, cause);
}

/**
 * A short text that names a failure, for a log line: the advice, or the deepest error's type, or its name and message.
 */
export function describe(error: unknown): string {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return refusal;
  const deepest = chain(error).at(-1);
  if (typeof deepest?.type === "string") return deepest.type;
  return deepest instanceof Error ? `${deepest.name}: ${deepest.message}` : String(error);
}

/** An error's own words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The error and its causes, outermost first: kafkajs's retrier wraps the error after which it gave up. */
function chain(error: unknown): readonly ErrorFields[] {
  const found: ErrorFields[] = [];
  for (let each = error; typeof each === "object" && each !== null && found.length < 8; each = causeOf(each)) {
    found.push(each);
  }
  return found;
}

function causeOf(error: ErrorFields): unknown {
  return error.cause;
}
