/** Answering calls by the framework in the turn of their source, as those are that come past it (answer-turns.ts). */
import type { FastifyReply } from "fastify";
import type { AnswerTurns } from "../fairness/answer-turns.ts";

/** Sends at once or when it is the source's turn; what is thrown then is answered as any error of a route is. */
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
