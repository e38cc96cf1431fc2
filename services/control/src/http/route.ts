/**
 * A route of the API as one value: what it takes, what it answers, what it does. The server and `/openapi.json` read
 * the same.
 */
import type { z } from "zod";
import type { Author, RequestHead } from "./caller.ts";
import { checkInput, type ProblemKind } from "./problem.ts";

/** A schema under the name that it has in `/openapi.json`. */
export interface Named<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly schema: Schema;
}

/** The names in braces of a path, as an object of texts. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathParams<Rest>
  : unknown;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A body that is read as it comes, beside the JSON one. */
export interface Upload {
  readonly mediaType: string;
  /** What stands in it, for `/openapi.json`. */
  readonly description: string;
}

/** What cuts off an answer that has no end of its own. */
export interface StreamBounds {
  /** The caller takes nothing for so long. */
  readonly stallMs: number;
  /** Asked again and again: the caller may no more have it. */
  readonly mayGoOn: () => boolean;
}

/** Fields behind an answer's end: their names, and what they say then. */
export interface Trailers {
  readonly names: readonly string[];
  readonly values: () => Readonly<Record<string, string>>;
}

/** An answer that is sent as it is made. */
export class StreamedAnswer {
  readonly mediaType: string;
  /** What the caller may save it as; null for what is not to be saved. */
  readonly fileName: string | null;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly bounds: StreamBounds | null;
  /** What is known at its end alone, and sent behind it (RFC 9110, 6.5). */
  readonly trailers: Trailers | null;

  constructor(parts: Pick<StreamedAnswer, "mediaType" | "fileName" | "chunks"> & Partial<StreamedAnswer>) {
    this.mediaType = parts.mediaType;
    this.fileName = parts.fileName;
    this.chunks = parts.chunks;
    this.bounds = parts.bounds ?? null;
    this.trailers = parts.trailers ?? null;
  }
}

/** An answer with more in its head. */
export class AnswerWithHeaders {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(body: unknown, headers: Readonly<Record<string, string>>) {
    this.body = body;
    this.headers = headers;
  }
}

export interface RouteDefinition<
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> {
  readonly method: Method;
  /** With parameters in braces: `/v1/sources/{id}`. */
  readonly path: Path;
  /** Unique; the operation's id and its label in metrics. */
  readonly operation: string;
  readonly summary: string;
  readonly query?: Query;
  readonly body?: Named<Body>;
  /** Of the JSON body, in bytes, where it may be larger than others. */
  readonly bodyLimit?: number;
  readonly upload?: Upload & {
    readonly handle: (request: {
      readonly params: PathParams<Path>;
      readonly query: z.output<Query>;
      readonly by: Author;
      /** Fails when the upload breaks off. */
      readonly chunks: AsyncIterable<Uint8Array>;
    }) => Promise<z.input<Answer>>;
  };
  /** It may take longer than other requests are let. */
  readonly isLong?: boolean;
  /** The success. Without a schema the answer has no body, or is a `StreamedAnswer` of one of these media types. */
  readonly answer: {
    readonly status: number;
    readonly description: string;
    readonly body?: Named<Answer>;
    readonly streams?: readonly string[];
  };
  /** Refusals beside those that every route knows. */
  readonly refusals?: readonly ProblemKind[];
  readonly handle: (request: {
    readonly params: PathParams<Path>;
    readonly query: z.output<Query>;
    readonly body: z.output<Body>;
    readonly head: RequestHead;
    readonly by: Author;
    /** Aborted when nobody waits for the answer any more. */
    readonly signal: AbortSignal;
  }) => Promise<z.input<Answer> | AnswerWithHeaders> | z.input<Answer> | AnswerWithHeaders;
}

/** What the server needs of a request. */
export interface RouteRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  /** Undefined when there was none. */
  readonly body: unknown;
  /** The body where it came as the route's upload. */
  readonly chunks: AsyncIterable<Uint8Array> | null;
  readonly signal: AbortSignal;
  readonly head: RequestHead;
  readonly by: Author;
}

/** A route with its types forgotten, ready to be served and described. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly query: z.ZodObject | null;
  readonly body: Named | null;
  readonly bodyLimit: number | null;
  readonly upload: Upload | null;
  readonly isLong: boolean;
  readonly answer: {
    readonly status: number;
    readonly description: string;
    readonly body: Named | null;
    readonly streams: readonly string[];
  };
  readonly refusals: readonly ProblemKind[];
  /** Checks the input, does the work, and lets out what the answer's schema names and nothing else. */
  readonly run: (request: RouteRequest) => Promise<unknown>;
}

export function defineRoute<
  const Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(definition: RouteDefinition<Path, Query, Body, Answer>): Route {
  const { query, body, upload, answer, handle } = definition;
  return {
    method: definition.method,
    path: definition.path,
    operation: definition.operation,
    summary: definition.summary,
    query: query ?? null,
    body: body ?? null,
    bodyLimit: definition.bodyLimit ?? null,
    upload: upload ?? null,
    isLong: definition.isLong ?? false,
    answer: {
      status: answer.status,
      description: answer.description,
      body: answer.body ?? null,
      streams: answer.streams ?? [],
    },
    refusals: definition.refusals ?? [],
    run: async (request) => {
      // The router matched the path, so its parameters are there.
      const params = request.params as PathParams<Path>;
      const asked = (query === undefined ? {} : checkInput(query, request.query)) as z.output<Query>;
      // A body may be left out where all of it may be; null is none.
      const sent = request.body === undefined ? {} : request.body;
      const checkedBody = () => (body === undefined ? undefined : checkInput(body.schema, sent)) as z.output<Body>;
      const { head, by } = request;
      const result =
        upload !== undefined && request.chunks !== null
          ? await upload.handle({ params, query: asked, chunks: request.chunks, by })
          : await handle({ params, query: asked, body: checkedBody(), signal: request.signal, head, by });
      if (result instanceof StreamedAnswer) return result;
      const told = (value: unknown) => (answer.body === undefined ? undefined : answer.body.schema.parse(value));
      return result instanceof AnswerWithHeaders
        ? new AnswerWithHeaders(told(result.body), result.headers)
        : told(result);
    },
  };
}
