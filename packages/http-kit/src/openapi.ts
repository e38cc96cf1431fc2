/** `/openapi.json`: OpenAPI 3.1 from the routes and the very schemas that check their input. */
import { z } from "zod";
import type { Need } from "./caller.ts";
import { scopesOf } from "./caller.ts";
import { type ProblemKind, problemAnswer, statusOf } from "./problem.ts";
import type { Named, Route } from "./route.ts";

type Json = Readonly<Record<string, unknown>>;

/** The refusals that every route under `/v1` may answer with, beside those it names itself. */
const COMMON_REFUSALS: readonly ProblemKind[] = ["unauthorized", "forbidden", "too_many_requests", "unavailable"];
const BODY_REFUSALS: readonly ProblemKind[] = ["invalid_input", "too_large", "unsupported_media_type"];

/** An example request that succeeds, and its answer. */
export interface OperationExample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Absent where the answer has no body. */
  readonly answer?: unknown;
}

export interface ApiDocumentOptions {
  readonly version: string;
  /** The scope that each operation requires of its caller. */
  readonly needs: Readonly<Record<string, Need>>;
  /** Keyed by operation. */
  readonly examples: Readonly<Record<string, OperationExample>>;
}

export function openApiDocument(routes: readonly Route[], { version, needs, examples }: ApiDocumentOptions): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = describeOperation(route, {
      need: needs[route.operation] ?? "any",
      example: examples[route.operation] ?? {},
    });
    paths[route.path] = operations;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Posthaste control API",
      version,
      description: "Sources, destinations and what is asked of them. A write is answered when the brokers have it.",
    },
    paths,
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "A token with one of the scopes that an operation names.",
        },
      },
      schemas: {
        ...componentSchemas(
          routes.flatMap(({ body }) => body ?? []),
          "input",
        ),
        ...componentSchemas(
          [...routes.flatMap(({ answer }) => answer.body ?? []), { name: "Problem", schema: problemAnswer }],
          "output",
        ),
      },
    },
  };
}

interface Described {
  readonly need: Need;
  readonly example: OperationExample;
}

function describeOperation(route: Route, { need, example }: Described): Json {
  const { answer, body, upload } = route;
  return {
    operationId: route.isDeprecated ? `${route.operation}Before` : route.operation,
    ...(route.isDeprecated && { deprecated: true }),
    summary: route.summary,
    ...(typeof need !== "string" && { description: `For a dry run the scope ${need.dryRun} is enough.` }),
    security: need === "none" ? [] : scopesOf(need).map((scope) => ({ token: [scope] })),
    ...(parameters(route, example).length > 0 && { parameters: parameters(route, example) }),
    ...(body !== null && {
      requestBody: {
        required: isRequired(body.schema),
        content: {
          "application/json": { schema: reference(body), ...exampleOf(example.body) },
          ...(upload !== null && {
            [upload.mediaType]: { schema: { type: "string", description: upload.description } },
          }),
        },
      },
    }),
    responses: {
      [answer.status]: {
        description: answer.description,
        ...(answer.body !== null && {
          content: { "application/json": { schema: reference(answer.body), ...exampleOf(example.answer) } },
        }),
        ...(answer.streams.length > 0 && { content: Object.fromEntries(answer.streams.map((each) => [each, {}])) }),
      },
      ...Object.fromEntries(refusalsOf(route).map((kind) => [statusOf(kind), describeProblem(kind)])),
    },
  };
}

function refusalsOf(route: Route): readonly ProblemKind[] {
  const input = route.body === null ? [] : BODY_REFUSALS;
  const query = route.query === null ? [] : (["invalid_input"] as const);
  return [...new Set([...COMMON_REFUSALS, ...input, ...query, ...route.refusals])];
}

function describeProblem(kind: ProblemKind): Json {
  return {
    description: kind.replaceAll("_", " "),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}

function parameters(route: Route, example: OperationExample): readonly Json[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...exampleOf(example.params?.[String(name)]),
  }));
  const inQuery = Object.entries(route.query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema: bare(z.toJSONSchema(schema as z.ZodType, { io: "input" })),
    ...exampleOf(example.query?.[name]),
  }));
  return [...inPath, ...inQuery];
}

function exampleOf(example: unknown): Json {
  return example === undefined ? {} : { example };
}

/** Whether a request without a body would be refused. */
function isRequired(schema: z.ZodType): boolean {
  return !schema.safeParse({}).success;
}

function reference({ name }: Named): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schemas by their names; a named schema inside another becomes a reference to it. */
function componentSchemas(named: readonly Named[], io: "input" | "output"): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const { name, schema } of named) if (!registry.has(schema)) registry.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, bare(schema)]));
}

/** The schema without the keywords that only a document of its own has. */
function bare(schema: object): Json {
  const { $schema: _schema, $id: _id, ...rest } = schema as Json;
  return rest;
}
