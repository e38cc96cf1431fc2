/**
 * Answers calls through the framework in the turn of their source, as calls that bypass it are answered
 * (answer-turns.ts).
 */
import type { FastifyReply } from "fastify";
import type { AnswerTurns } from "../fairness/answer-turns.ts";

/** Sends at once or at the source's turn. An error of `send` is answered as any error of a route. */
export function sendInTurn(
  answerTurns: AnswerTurns,
  sourceId: string | null,
  send: () => FastifyReply,
): Promise<FastifyReply> {
  return new Promise((resolve, reject) =>
    answerTurns.write(sourceId, () => {
      try {
        resolve(send());
      } catch (error) {
        reject(error);
      }
    }),
  );
}
