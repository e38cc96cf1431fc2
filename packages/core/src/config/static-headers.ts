/** Which static headers a destination may have. Control checks settings by this rule, and the sender relies on it. */

/** The names, in lower case, that the protocol or Posthaste itself sets. */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "content-type",
  "user-agent",
  "x-signature",
  "x-message-id",
  "x-attempt",
  "expect",
  "upgrade",
  "keep-alive",
  "te",
  "trailer",
]);

/** `Proxy-*` belongs to the connection; `webhook-*` are the Standard Webhooks headers. */
const RESERVED_PREFIXES = ["proxy-", "webhook-"] as const;

/** A header name as HTTP allows it (a token). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Any character that is no printable one of Latin-1: the control characters of both ranges, and everything outside. */
const UNSENDABLE = /[^\x20-\x7e\xa0-\xff]/;

export interface StaticHeaderProblem {
  readonly name: string;
  /** A sentence without a subject, to follow the header's name: "is set by the service". */
  readonly problem: string;
}

/** Why this header may not be set, or null when it may. */
export function staticHeaderProblem(name: string, value: string): string | null {
  const lower = name.toLowerCase();
  if (!TOKEN.test(name)) return "is not a header name: letters, digits and !#$%&'*+-.^_`|~ are allowed";
  if (RESERVED_NAMES.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return "is set by the service and cannot be changed";
  }
  if (UNSENDABLE.test(value)) return "has a value with a control character or one outside Latin-1";
  return null;
}

/**
 * Every problem of a URL's static headers, in their order. A name that is given twice in different case is a problem.
 */
export function staticHeaderProblems(headers: Readonly<Record<string, string>>): readonly StaticHeaderProblem[] {
  const problems: StaticHeaderProblem[] = [];
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    const problem = seen.has(lower) ? "is given twice" : staticHeaderProblem(name, value);
    if (problem !== null) problems.push({ name, problem });
    seen.add(lower);
  }
  return problems;
}
