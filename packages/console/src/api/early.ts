/**
 * Answers that were asked for before the console's script was there.
 *
 * Owns: those that nobody took yet, by path.
 * - Each is taken once, by the first read of its path: the next one asks anew.
 */

export type EarlyAnswers = Map<string, Promise<Response>>;

let kept: EarlyAnswers = new Map();

export function keepEarly(early: EarlyAnswers): void {
  kept = early;
}

export function takeEarly(path: string): Promise<Response> | undefined {
  const answer = kept.get(path);
  kept.delete(path);
  return answer;
}
