/** A browser for a test file of effects that a browser alone shows; in a process it is the same one for all. */
import { inBrowser } from "./browser-ring.ts";

export const { control, startConsole, visit, takeFaults } = inBrowser;

/** The first of many alike; all of them in the long form. */
export function inShort<Each>(all: readonly Each[], count: number): readonly Each[] {
  return process.env["POSTHASTE_LONG"] === "true" ? all : all.slice(0, count);
}
