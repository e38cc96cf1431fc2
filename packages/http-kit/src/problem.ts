/** Refusals and failures as the API tells them: `application/problem+json`. */
import { type ErrorCode, isPosthasteError } from "@posthaste/core/errors";
import { z } from "zod";

/** The plain words for the expected type, by zod's name of the type. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};

/** Every kind of problem, its status and its title. */
const PROBLEMS = {
  invalid_input: { status: 400, title: "The request cannot be taken as it is" },
  unauthorized: { status: 401, title: "The token is missing or wrong" },
  forbidden: { status: 403, title: "The token does not allow this" },
  not_found: { status: 404, title: "There is no such thing" },
  method_not_allowed: { status: 405, title: "This cannot be done with the path" },
  conflict: { status: 409, title: "The present state does not allow this" },
  too_large: { status: 413, title: "The body is too large" },
  unsupported_media_type: { status: 415, title: "The body is of a type that is not read here" },
  too_many_requests: { status: 429, title: "Too many requests of this kind" },
  internal: { status: 500, title: "An unexpected failure" },
  unavailable: { status: 503, title: "Not available at the moment" },
} as const;

export type ProblemKind = keyof typeof PROBLEMS;

/** The headers that every answer of a kind of problem carries, wherever the problem was thrown. */
const HEADERS: Partial<Record<ProblemKind, Readonly<Record<string, string>>>> = {
  unauthorized: { "www-authenticate": "Bearer" },
  // Seconds.
  unavailable: { "retry-after": "1" },
};

export function statusOf(kind: ProblemKind): number {
  return PROBLEMS[kind].status;
}

/** The media type of a problem. */
export const PROBLEM_TYPE = "application/problem+json";

/** The header of every answer with the request's id, which the log names too. */
export const REQUEST_ID = "x-request-id";

export const problemAnswer = z.object({
  type: z.string().describe("Names the kind of problem; stable."),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("What is wrong, and what to change."),
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .describe("Each fault of the input by its place; empty where the fault is not one of input."),
  requestId: z.string().describe("The answer's X-Request-Id; what control logged of the request names it."),
});

export type ProblemAnswer = z.output<typeof problemAnswer>;

export interface InputError {
  /** From the body inwards, such as `settings.urls[0].url`. */
  readonly path: string;
  readonly message: string;
}

/** Thrown by a route to refuse: `detail` and `errors` go to the caller, so they hold no secret. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly kind: ProblemKind;
  readonly errors: readonly InputError[];
  /** The answer's headers, keyed by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: ProblemKind, detail: string, errors: readonly InputError[] = [], headers = HEADERS[kind] ?? {}) {
    super(detail);
    this.kind = kind;
    this.errors = errors;
    this.headers = headers;
  }

  get status(): number {
    return PROBLEMS[this.kind].status;
  }

  toAnswer(requestId: string): ProblemAnswer {
    const { status, title } = PROBLEMS[this.kind];
    const type = `urn:posthaste:problem:${this.kind.replaceAll("_", "-")}`;
    return { type, title, status, detail: this.message, errors: [...this.errors], requestId };
  }
}

/** A refusal of input; the detail repeats the errors in one line. */
export function invalidInput(errors: readonly InputError[]): Problem {
  const detail = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  return new Problem("invalid_input", detail, errors);
}

/** Checks input by its schema. Throws a Problem that names each fault by its place. */
export function checkInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, { error: inputWords });
  if (result.success) return result.data;
  throw invalidInput(result.error.issues.map(({ path, message }) => ({ path: formatPath(path), message })));
}

/** Throws the Problem of a change that its caller made from another revision than the current one. */
export function assertRevision(
  current: { readonly id: string; readonly revision: number },
  wanted: number | undefined,
) {
  if (wanted === undefined || wanted === current.revision) return;
  const detail = `${current.id} has revision ${current.revision}, not ${wanted}: read it again and send the change from there`;
  throw new Problem("conflict", detail);
}

/** `settings.urls[0].url` from the keys. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}

const KIND_OF_CODE: Partial<Record<ErrorCode, ProblemKind>> = {
  invalid_input: "invalid_input",
  not_found: "not_found",
  conflict: "conflict",
  unknown_secret_key: "conflict",
  broker_unavailable: "unavailable",
  broker_refuses: "unavailable",
  registry_unavailable: "unavailable",
  table_not_caught_up: "unavailable",
  delivery_log_unavailable: "unavailable",
  deadline_exceeded: "unavailable",
  closed: "unavailable",
};

/** Codes of Fastify's own refusals, which come before any route. */
const KIND_OF_FASTIFY_CODE: Readonly<Record<string, { readonly kind: ProblemKind; readonly detail?: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { kind: "too_large" },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { kind: "unsupported_media_type", detail: "send application/json" },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { kind: "invalid_input" },
  FST_ERR_BAD_URL: { kind: "invalid_input" },
};

/**
 * The Problem that tells the caller of whatever a route threw. For an unexpected failure it does not repeat the
 * failure's message.
 */
export function problemFrom(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (isPosthasteError(thrown)) {
    const kind = KIND_OF_CODE[thrown.code];
    if (kind !== undefined) return new Problem(kind, thrown.message);
  }
  if (thrown instanceof Error && "code" in thrown && typeof thrown.code === "string") {
    const known = KIND_OF_FASTIFY_CODE[thrown.code];
    if (known !== undefined) return new Problem(known.kind, known.detail ?? thrown.message);
  }
  return new Problem("internal", "the failure was logged; the same request may work later");
}

/** The words for an issue; undefined leaves it to zod. Fits the `error` of a parse. */
export function inputWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "unrecognized_keys":
      return unknownFields(issue.keys, issue.inst);
    case "invalid_type": {
      const expected = `expected ${EXPECTED[issue.expected] ?? issue.expected}`;
      return issue.input === undefined ? `${expected}; it is missing` : expected;
    }
    case "invalid_key":
      return issue.issues[0]?.message;
    case "too_small":
      return `expected ${issue.minimum} or more`;
    case "too_big":
      return `expected ${issue.maximum} at the most`;
    default:
      return undefined;
  }
}

/** `unknown field "color"; the fields here are url and headers`. */
function unknownFields(names: readonly string[], schema: unknown): string {
  const unknown = names.map((name) => JSON.stringify(name)).join(", ");
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const fields = names.length === 1 ? "field" : "fields";
  if (known.length === 0) return `unknown ${fields} ${unknown}; there are none here`;
  return `unknown ${fields} ${unknown}; expected ${known.join(", ")}`;
}
