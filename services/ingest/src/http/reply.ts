/** Writes answers. Every body is JSON, since a client of the field takes a 200 with any other body for a failure. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Answer, Refusal } from "../answer/answer.ts";
import { corsHeaders } from "./cors.ts";

const JSON_TYPE = "application/json";

/** An answer as HTTP has it, without the headers of every answer. */
interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  /**
   * The body as text: Node then writes head and body in one piece, where a buffer costs a second piece and a slower
   * call.
   */
  readonly body: string;
}

const SUCCESS_BODY = `{"success":true}`;
const SUCCESS: HttpAnswer = {
  status: 200,
  headers: { "content-type": JSON_TYPE, "content-length": SUCCESS_BODY.length },
  body: SUCCESS_BODY,
};

/** The HTTP answer with the result of a request's calls. */
function httpAnswerOf(answer: Answer): HttpAnswer {
  if (!answer.accepted) return httpRefusalOf(answer);
  if (answer.rejected.length === 0) return SUCCESS;
  return jsonAnswer(200, {}, { success: true, rejected: answer.rejected });
}

function httpRefusalOf({ status, code, message, retryAfterS }: Refusal): HttpAnswer {
  const headers: Record<string, string | number> = {};
  if (retryAfterS !== undefined) {
    headers["retry-after"] = retryAfterS;
    if (status === 429) headers["x-ratelimit-reset"] = retryAfterS;
  }
  // The connection ends: Node would take the unread rest of a body that is too large or too slow for the next request.
  if (status === 413 || status === 408) headers["connection"] = "close";
  if (status === 401) headers["www-authenticate"] = `Basic realm="write key"`;
  return jsonAnswer(status, headers, { code, message });
}

function jsonAnswer(status: number, headers: Readonly<Record<string, string | number>>, value: object): HttpAnswer {
  const body = JSON.stringify(value);
  const length = Buffer.byteLength(body);
  return { status, headers: { ...headers, "content-type": JSON_TYPE, "content-length": length }, body };
}

/** Sends the answer through the framework. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  const { status, headers, body } = httpAnswerOf(answer);
  addCommonHeaders(request, reply);
  return reply.code(status).headers(headers).send(body);
}

/**
 * Writes the answer without the framework, so that nothing else is done for each call. Writes nothing when the sender
 * has left.
 */
export function writeAnswer(request: IncomingMessage, response: ServerResponse, answer: Answer, isLast: boolean): void {
  if (response.destroyed || response.headersSent) return;
  const { status, headers, body } = httpAnswerOf(answer);
  const common = commonHeaders(request.headers.origin, isLast);
  response.writeHead(status, common === null ? headers : ({ ...common, ...headers } satisfies OutgoingHttpHeaders));
  response.end(body);
}

/** Sends 200 with a body that is JSON text already. */
export function sendJson(request: FastifyRequest, reply: FastifyReply, json: string): FastifyReply {
  addCommonHeaders(request, reply);
  return reply.header("content-type", JSON_TYPE).send(json);
}

export function addCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const common = commonHeaders(request.headers.origin, !request.server.server.listening);
  if (common !== null) reply.headers(common);
}

/**
 * The headers of every answer: the page that sent the request may read it, and while the server stops the connection
 * ends with it. Null when there are none.
 */
function commonHeaders(origin: string | undefined, isLast: boolean): Record<string, string> | null {
  if (origin === undefined && !isLast) return null;
  return { ...corsHeaders(origin), ...(isLast ? { connection: "close" } : {}) };
}
