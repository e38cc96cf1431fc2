/** Calls of the control API, typed by its own description. The session's cookie goes along by itself. */
import type { Operations, Problem } from "./api-types.ts";
import { takeEarly } from "./early.ts";

export type OperationName = keyof Operations;
type Empty = Readonly<Record<never, never>>;

/** The input of an operation: an empty part may be left out. */
export type CallInput<Name extends OperationName> = (Empty extends Operations[Name]["params"]
  ? { readonly params?: Operations[Name]["params"] }
  : { readonly params: Operations[Name]["params"] }) &
  (undefined extends Operations[Name]["body"]
    ? { readonly body?: undefined }
    : { readonly body: Operations[Name]["body"] }) & {
    readonly query?: { readonly [Key in keyof Operations[Name]["query"]]?: Operations[Name]["query"][Key] | undefined };
    readonly signal?: AbortSignal | undefined;
  };

/** A refusal or a failure, as control tells it; with no status where control did not answer at all. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number | null;
  readonly title: string;
  readonly requestId: string | null;
  readonly errors: Problem["errors"];

  constructor({ status, title, detail, requestId, errors }: Omit<Problem, "type" | "status" | "requestId"> & Reported) {
    super(detail);
    this.status = status;
    this.title = title;
    this.requestId = requestId;
    this.errors = errors;
  }
}

interface Reported {
  readonly status: number | null;
  readonly requestId: string | null;
}

/** Throws ApiProblem for every answer that is no success, and where there is none. */
export async function call<Name extends OperationName>(
  name: Name,
  input: CallInput<Name>,
): Promise<Operations[Name]["answer"]> {
  const { params = {}, query = {}, body, signal } = input;
  const [method = "GET", pattern = ""] = name.split(" ");
  const path = pattern.replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(String(new Map(Object.entries(params)).get(key))),
  );
  const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(asked.map(([key, value]) => [key, String(value)])).toString();
  const url = search === "" ? path : `${path}?${search}`;
  const asking =
    (method === "GET" ? takeEarly(url) : undefined) ??
    fetch(url, {
      method,
      signal: signal ?? null,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
  const response = await asking.catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw unreachable();
  });
  if (!response.ok) throw await problemOf(response);
  // Control's own tests hold its answers to its description, and the types here are made of the description.
  return (response.status === 204 ? undefined : await response.json()) as Operations[Name]["answer"];
}

export async function problemOf(response: Response): Promise<ApiProblem> {
  const requestId = response.headers.get("x-request-id");
  const { status, statusText } = response;
  const reported: unknown = await response.json().catch(() => null);
  if (isProblem(reported)) return new ApiProblem(reported);
  return new ApiProblem({ status, title: statusText, detail: `the answer was ${status}`, requestId, errors: [] });
}

function isProblem(reported: unknown): reported is Problem {
  return (
    typeof reported === "object" &&
    reported !== null &&
    "detail" in reported &&
    "requestId" in reported &&
    "errors" in reported
  );
}

export function unreachable(): ApiProblem {
  const detail = "control does not answer: it is stopped, or the network between is cut";
  return new ApiProblem({ status: null, title: "No answer", detail, requestId: null, errors: [] });
}
