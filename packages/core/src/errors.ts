/**
 * The one error class of the project. Callers ask its `code` and `retryable`; nobody matches message text. Adapters
 * wrap errors of foreign libraries and keep them as `cause`, which goes to logs and never to a caller.
 */

/** Every code that a PosthasteError can carry. A new failure that a caller must tell apart gets a new code here. */
export const ERROR_CODES = [
  "invalid_config",
  "invalid_input",
  "not_found",
  "conflict",
  "broker_unavailable",
  "broker_refuses",
  "registry_unavailable",
  "unknown_schema",
  "topic_missing",
  "topic_mismatch",
  "offset_out_of_range",
  "group_stalled",
  "table_not_caught_up",
  "delivery_log_unavailable",
  "unknown_secret_key",
  "closed",
  "deadline_exceeded",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface PosthasteErrorOptions {
  /** True when the same call may succeed later without anyone changing anything. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

export class PosthasteError extends Error {
  override readonly name = "PosthasteError";
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: PosthasteErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** Whether the value is a PosthasteError, and of the given code when one is named. */
export function isPosthasteError(value: unknown, code?: ErrorCode): value is PosthasteError {
  return value instanceof PosthasteError && (code === undefined || value.code === code);
}
