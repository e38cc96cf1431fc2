import type { LocalStackOptions, PreparedStack } from "./local-stack.ts";

export async function dockerAnswers(): Promise<boolean> {
  return false;
}
export async function prepareContainers(_options: LocalStackOptions): Promise<PreparedStack> {
  throw new Error("not yet");
}
