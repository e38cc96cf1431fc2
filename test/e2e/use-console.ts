/** A whole installation and a browser for the stories of a test file: a person at the console. */
import { CHROMIUM, provideProgram } from "@posthaste/testkit/debian-program";
import { afterAll, beforeAll } from "vitest";
import { type Browser, startBrowser } from "./browser.ts";
import { useInstallation } from "./use-installation.ts";

/** For what a busy machine takes a while for. */
export const ARRIVAL = { timeoutMs: 60_000 };

const found = await provideProgram(CHROMIUM, process.env);
if ("missing" in found) process.stdout.write(`the console's stories are skipped: ${found.missing}\n`);

/** Without a browser the stories are skipped. */
export const hasNoBrowser = "missing" in found;
/** That of the file that runs. */
export let browser: Browser;

/** To be called at the top of a test file's stories. */
export function useConsole(): void {
  useInstallation();
  beforeAll(async () => {
    if ("missing" in found) return;
    browser = await startBrowser(found.path);
  });
  afterAll(async () => {
    if (!hasNoBrowser) await browser.close();
  });
}

/** Prints a figure: what it may be is judged where nothing else runs. */
export function tell(what: string, ms: number): void {
  process.stdout.write(`${what}: ${(ms / 1000).toFixed(1)} s\n`);
}
