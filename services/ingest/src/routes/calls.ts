/**
 * The routes that take calls by POST. A request whose address is exactly a path bypasses the framework, which would
 * cost it a tenth of its time. The framework routes an address with a query or a slash at its end to the same function.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import type { SourcedAnswer } from "../answer/answer.ts";
import type { AnswerTurns } from "../fairness/answer-turns.ts";
import { sendAnswer } from "../http/reply.ts";
import { writeKeyInQuery } from "../key/request-key.ts";
import type { CallForm, TakeCalls } from "../request/take-calls.ts";
import { BATCH_PATHS, CALL_PATHS } from "./paths.ts";
import { sendInTurn } from "./send-in-turn.ts";

/** `takeCalls` reads the body itself, after the key. */
const ROUTE = { config: { readsItsBody: true } } as const;

const FORMS: ReadonlyMap<string, CallForm> = new Map([
  ...Object.entries(CALL_PATHS),
  ...BATCH_PATHS.map((path) => [path, "batch"] as const),
]);

export interface CallRouteParts {
  readonly takeCalls: TakeCalls;
  readonly answerTurns: AnswerTurns;
}

export function addCallRoutes(app: FastifyInstance, { takeCalls, answerTurns }: CallRouteParts): void {
  for (const [path, form] of FORMS) {
    app.post(path, ROUTE, async (request, reply) => {
      const address = { form, queryKey: writeKeyInQuery(request) };
      const { answer, sourceId } = await takeCalls(request.raw, reply.raw, address);
      return sendInTurn(answerTurns, sourceId, () => sendAnswer(request, reply, answer));
    });
  }
}

/** Takes a request whose address alone names its route; returns null for any other. */
export function takeDirectly(
  request: IncomingMessage,
  response: ServerResponse,
  takeCalls: TakeCalls,
): Promise<SourcedAnswer> | null {
  const form = request.method === "POST" ? FORMS.get(request.url ?? "") : undefined;
  return form === undefined ? null : takeCalls(request, response, { form, queryKey: null });
}
