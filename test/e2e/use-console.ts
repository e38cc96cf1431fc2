/**
 * A whole installation and a browser for the stories of a test file: a person at the console.
 *
 * Owns: the browser, of which a process has one. It ends with the process, and its pages end with their file.
 */
import { CHROMIUM, provideProgram } from "@posthaste/testkit/debian-program";
import { afterAll, beforeAll } from "vitest";
import { type Browser, startBrowser } from "./browser.ts";
import { useInstallation } from "./use-installation.ts";

/** For waits that take a busy machine a while. */
export const ARRIVAL = { timeoutMs: 60_000 };

const found = await provideProgram(CHROMIUM, process.env);
if ("missing" in found) process.stdout.write(`the console's stories are skipped: ${found.missing}\n`);

/** Without a browser the stories are skipped. */
export const hasNoBrowser = "missing" in found;
export let browser: Browser;
let ofProcess: Promise<Browser> | undefined;

/** To be called at the top of a test file's stories. */
export function useConsole(): void {
  useInstallation();
  useBrowser();
}

/** The browser alone. */
export function useBrowser(): void {
  beforeAll(async () => {
    if ("missing" in found) return;
    ofProcess ??= start(found.path);
    browser = await ofProcess;
  });
  afterAll(async () => {
    if (!hasNoBrowser) await browser.closePages();
  });
}

async function start(path: string): Promise<Browser> {
  const started = await startBrowser(path);
  // Vitest ends so a process that has no more files. At an exit the driver ends the browser at once.
  process.once("SIGTERM", () => process.exit());
  return started;
}

/** Prints a figure: its bound is judged where nothing else runs. */
export function tell(what: string, ms: number): void {
  process.stdout.write(`${what}: ${(ms / 1000).toFixed(1)} s\n`);
}
