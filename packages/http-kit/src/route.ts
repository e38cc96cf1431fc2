/**
 * A route of the API as one value: its input, its answer and its work. The server and `/openapi.json` are made from the
 * same values.
 */

import type { Author } from "@posthaste/core/access/author";
import type { z } from "zod";
import type { RequestHead } from "./caller.ts";
import { withNamedCursor, withOwnCursor } from "./list-cursor.ts";
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

/** A body that the route reads as a stream, which it takes as well as a JSON body. */
export interface Upload {
  readonly mediaType: string;
  /** The description of the body, for `/openapi.json`. */
  readonly description: string;
}

/** HTTP trailers: the names, which the head announces, and the values, which are asked for at the body's end. */
export interface Trailers {
  readonly names: readonly string[];
  readonly values: () => Readonly<Record<string, string>>;
}

/** An answer that the server sends while the route still makes it. */
export class StreamedAnswer {
  readonly mediaType: string;
  /** The name of the file to save the answer as; null for an answer that is not meant for a file. */
  readonly fileName: string | null;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The values that the route knows only at the answer's end, sent behind the answer (RFC 9110, 6.5). */
  readonly trailers: Trailers | null;

  constructor(parts: Pick<StreamedAnswer, "mediaType" | "fileName" | "chunks"> & Partial<StreamedAnswer>) {
    this.mediaType = parts.mediaType;
    this.fileName = parts.fileName;
    this.chunks = parts.chunks;
    this.trailers = parts.trailers ?? null;
  }
}

/** An answer with headers of its own. */
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
  /** The path, with its parameters in braces: `/v1/sources/{id}`. */
  readonly path: Path;
  /** Unique; the operation's id and its label in metrics. */
  readonly operation: string;
  readonly summary: string;
  readonly query?: Query;
  readonly body?: Named<Body>;
  /** The most bytes of a JSON body, where this route takes larger ones than other routes do. */
  readonly bodyLimit?: number;
  readonly upload?: Upload & {
    readonly handle: (request: {
      readonly params: PathParams<Path>;
      readonly query: z.output<Query>;
      readonly by: Author;
      /** The body's bytes as they come; fails when the upload breaks off. */
      readonly chunks: AsyncIterable<Uint8Array>;
    }) => Promise<z.input<Answer>>;
  };
  /**
   * True where the request may take longer than other requests may (long-requests.ts); `watching`: it has no end of its
   * own, and the route counts how many there are.
   */
  readonly isLong?: boolean | "watching";
  /**
   * The answer of a request that succeeds. Without a schema it has no body, or is a `StreamedAnswer` of one of these
   * media types.
   */
  readonly answer: {
    readonly status: number;
    readonly description: string;
    readonly body?: Named<Answer>;
    readonly streams?: readonly string[];
  };
  /** The kinds of problem of this route alone; every route has further kinds. */
  readonly refusals?: readonly ProblemKind[];
  readonly handle: (request: {
    readonly params: PathParams<Path>;
    readonly query: z.output<Query>;
    readonly body: z.output<Body>;
    readonly head: RequestHead;
    readonly by: Author;
    /** Aborted when nobody waits for the answer any longer. */
    readonly signal: AbortSignal;
  }) => Promise<z.input<Answer> | AnswerWithHeaders> | z.input<Answer> | AnswerWithHeaders;
}

/** The parts of a request that the server hands to a route. */
export interface RouteRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  /** The parsed JSON body; undefined where the request had none. */
  readonly body: unknown;
  /** The body as a stream, where it came as the route's upload; null for any other request. */
  readonly chunks: AsyncIterable<Uint8Array> | null;
  readonly signal: AbortSignal;
  readonly head: RequestHead;
  readonly by: Author;
}

/** A route without its type parameters, ready to be served and described. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly query: z.ZodObject | null;
  readonly body: Named | null;
  readonly bodyLimit: number | null;
  readonly upload: Upload | null;
  readonly isLong: boolean | "watching";
  readonly answer: {
    readonly status: number;
    readonly description: string;
    readonly body: Named | null;
    readonly streams: readonly string[];
  };
  readonly refusals: readonly ProblemKind[];
  /** True at a path of an earlier release, which goes with the next one. */
  readonly isDeprecated: boolean;
  /** Checks the input, does the work, and answers with the fields that the answer's schema names and no others. */
  readonly run: (request: RouteRequest) => Promise<unknown>;
}

export function defineRoute<
  const Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(definition: RouteDefinition<Path, Query, Body, Answer>): Route {
  const { operation, query, body, upload, answer, handle } = definition;
  return {
    method: definition.method,
    path: definition.path,
    operation,
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
    isDeprecated: false,
    run: async (request) => {
      // The router matched the path, so its parameters are there.
      const params = request.params as PathParams<Path>;
      const checked = (query === undefined ? {} : checkInput(query, request.query)) as z.output<Query>;
      const asked = withOwnCursor(operation, checked);
      // A request may leave out a body whose every field is optional; a body of `null` does not count as left out.
      const sent = request.body === undefined ? {} : request.body;
      const checkedBody = () => {
        const own: unknown = body === undefined ? undefined : checkInput(body.schema, sent);
        return (typeof own === "object" && own !== null ? withOwnCursor(operation, own) : own) as z.output<Body>;
      };
      const { head, by } = request;
      const result =
        upload !== undefined && request.chunks !== null
          ? await upload.handle({ params, query: asked, chunks: request.chunks, by })
          : await handle({ params, query: asked, body: checkedBody(), signal: request.signal, head, by });
      if (result instanceof StreamedAnswer) return result;
      const reported = (value: unknown) =>
        answer.body === undefined ? undefined : withNamedCursor(operation, answer.body.schema.parse(value));
      return result instanceof AnswerWithHeaders
        ? new AnswerWithHeaders(reported(result.body), result.headers)
        : reported(result);
    },
  };
}

/** The routes, and those of them that had another path in the release before at that path too, by their operations. */
export function withFormerPaths(
  routes: readonly Route[],
  formerPaths: Readonly<Record<string, string>>,
): readonly Route[] {
  const former = routes.flatMap((route) => {
    const path = formerPaths[route.operation];
    return path === undefined ? [] : [{ ...route, path, isDeprecated: true }];
  });
  return [...routes, ...former];
}
