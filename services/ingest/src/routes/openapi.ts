/** The gateway's OpenAPI 3.1 document, made from the schemas that check the input. */
import { BATCH_SCHEMA } from "@posthaste/core/call/batch";
import { CALL_SCHEMAS, CALL_TYPES, type CallType } from "@posthaste/core/call/call-schema";
import { z } from "zod";
import { CONTENT_ENCODINGS } from "../body/decompress.ts";
import { MAX_CALL_BYTES, MAX_REQUEST_BYTES } from "../limits.ts";
import { BATCH_PATHS, CALL_PATHS } from "./paths.ts";

type Json = Readonly<Record<string, unknown>>;

const success = z.object({ success: z.literal(true) });

const batchSuccess = success.extend({
  rejected: z
    .array(
      z.object({
        index: z.int().describe("Place in the batch, from 0."),
        code: z.string(),
        message: z.string().describe("What to change."),
      }),
    )
    .optional()
    .describe("Calls that were not taken; the others were."),
});

const refusal = z.object({
  code: z.string(),
  message: z.string().describe("One sentence that says what to change."),
});

const settings = z.object({ integrations: z.object({ "Segment.io": z.object({ apiKey: z.string() }) }) });

const DESCRIPTION = `Takes calls from every client of the field. A call is answered 200 when all in-sync replicas of the
brokers have it, and not before. Bodies are JSON whatever their content type says, at most ${MAX_REQUEST_BYTES} bytes after
decompression (${CONTENT_ENCODINGS.slice(1).join(", ")}), and ${MAX_CALL_BYTES} bytes a call.`;

/** The document as JSON text. */
export function createOpenApiDocument(version: string): string {
  const paths: Record<string, Json> = {};
  for (const [path, type] of Object.entries(CALL_PATHS)) paths[path] = { post: callOperation(path, type) };
  for (const path of BATCH_PATHS) paths[path] = { post: batchOperation(path) };
  paths["/v1/m"] = { post: measurementsOperation() };
  paths["/v1/projects/{writeKey}/settings"] = { get: settingsOperation() };
  paths["/v1/pixel/{type}"] = { get: dataPixelOperation() };
  paths["/pixel/v1/{type}"] = { get: queryPixelOperation() };
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Posthaste ingest", version, description: DESCRIPTION, license: { name: "Apache-2.0" } },
    // The empty entry stands for a write key in the body, or in a beacon's address.
    security: [{ writeKey: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        writeKey: { type: "http", scheme: "basic", description: "The write key as the user name, no password." },
      },
      schemas: {
        Success: toSchema(success),
        BatchSuccess: toSchema(batchSuccess),
        Refusal: toSchema(refusal),
        Settings: toSchema(settings),
        Batch: batchSchema(),
        ...Object.fromEntries(CALL_TYPES.map((type) => [schemaName(type), callSchema(type)])),
      },
    },
  });
}

function toSchema(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
  return json;
}

/** The schema of a call, with the demands of `parseCall` beyond the form of its fields. */
function callSchema(type: CallType): Json {
  const identified = (field: string) => ({
    required: [field],
    properties: { [field]: { type: ["string", "integer"], minLength: 1 } },
  });
  const event = { required: ["event"], properties: { event: { type: "string", minLength: 1 } } };
  return {
    ...toSchema(CALL_SCHEMAS[type]),
    allOf: [{ anyOf: [identified("userId"), identified("anonymousId")] }, ...(type === "track" ? [event] : [])],
  };
}

function batchSchema(): Json {
  const schema = toSchema(BATCH_SCHEMA);
  const properties = schema["properties"] as Record<string, Json>;
  const calls = CALL_TYPES.map((type) => ({
    allOf: [ref(schemaName(type)), { required: ["type"], properties: { type: { const: type } } }],
  }));
  return {
    ...schema,
    properties: {
      ...properties,
      batch: {
        ...properties["batch"],
        items: { anyOf: [...calls, { description: "Anything else is rejected on its own." }] },
      },
    },
  };
}

function callOperation(path: string, type: CallType): Json {
  return {
    operationId: operationId("post", path),
    summary: `Takes one ${type} call.`,
    requestBody: { required: true, content: jsonContent(ref(schemaName(type))) },
    responses: { 200: response("The brokers have the call.", ref("Success")), ...bodyRefusals() },
  };
}

function batchOperation(path: string): Json {
  const parameters = path.startsWith("/beacon") ? [queryParameter("writeKey", "The write key.")] : [];
  return {
    operationId: operationId("post", path),
    summary: "Takes a batch of calls.",
    parameters,
    requestBody: { required: true, content: jsonContent(ref("Batch")) },
    responses: { 200: response("The brokers have the good calls.", ref("BatchSuccess")), ...bodyRefusals() },
  };
}

function measurementsOperation(): Json {
  return {
    operationId: "postMeasurements",
    summary: "Takes a browser library's measurements of itself, and drops them.",
    security: [],
    responses: { 200: response("Dropped.", ref("Success")) },
  };
}

function settingsOperation(): Json {
  return {
    operationId: "getSettings",
    summary: "What a browser's library asks for before it starts.",
    security: [],
    parameters: [{ name: "writeKey", in: "path", required: true, schema: { type: "string" } }],
    responses: { 200: response("The least that it takes.", ref("Settings")), ...refusals([400, 401, 404, 414, 503]) },
  };
}

function dataPixelOperation(): Json {
  return pixelOperation("getDataPixel", CALL_TYPES, [
    { name: "data", in: "query", schema: {}, description: "The call as base64 of JSON, with its write key in it." },
  ]);
}

function queryPixelOperation(): Json {
  return pixelOperation(
    "getQueryPixel",
    ["track", "page"],
    [
      queryParameter("writeKey", "The write key."),
      {
        name: "call",
        in: "query",
        style: "form",
        explode: true,
        schema: { type: "object" },
        description: "The call's fields; names with dots make objects.",
      },
    ],
  );
}

function pixelOperation(id: string, types: readonly string[], parameters: readonly Json[]): Json {
  const gif = { description: "An image, whether or not the call was good.", content: { "image/gif": {} } };
  return {
    operationId: id,
    summary: "Takes a call in the address of an image.",
    security: [],
    parameters: [{ name: "type", in: "path", required: true, schema: { enum: types } }, ...parameters],
    responses: { 200: gif, ...refusals([404, 503]) },
  };
}

function bodyRefusals(): Json {
  return refusals([400, 401, 413, 415, 429, 503]);
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: "What was sent cannot be taken.",
  401: "No source has this write key, or it is switched off.",
  404: "There is nothing at this path.",
  413: "The call or the request is too large.",
  414: "The path is too long.",
  415: "The content encoding is not known.",
  429: "The source sends more than it may.",
  503: "The brokers have not acknowledged the calls; send them again.",
};

function refusals(statuses: readonly number[]): Json {
  const retryAfter = { "Retry-After": { description: "Seconds to stay away.", schema: { type: "integer" } } };
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        ...response(REFUSALS[status] ?? "", ref("Refusal")),
        ...(status === 429 || status === 503 ? { headers: retryAfter } : {}),
      },
    ]),
  );
}

/** A query parameter. It has no schema, since no value is refused for its form. */
function queryParameter(name: string, description: string): Json {
  return { name, in: "query", schema: {}, description };
}

function response(description: string, schema: Json): Json {
  return { description, content: jsonContent(schema) };
}

function jsonContent(schema: Json): Json {
  return { "application/json": { schema } };
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function schemaName(type: CallType): string {
  return `${type.slice(0, 1).toUpperCase()}${type.slice(1)}Call`;
}

function operationId(method: string, path: string): string {
  return method + path.replaceAll(/\/(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
