/**
 * The first event of a webhook that is connected in the console, with its bars: how soon it stands there as delivered
 * after ingest's answer, and how long all of it takes a script. `test/e2e/console.test.ts` asserts the steps, and that
 * it comes; a time says something where nothing else runs, so it is judged here.
 */
import type { Page } from "playwright-core";
import type { Figures } from "../figures/figures.ts";

const APPEARS_AIM_MS = 1500;
const ALL_AIM_MS = 10_000;

/** From the form to the event, `times` times over; the slowest is judged. */
export async function tellFirstEvent(page: Page, origin: string, times: number, figures: Figures): Promise<void> {
  const taken: (readonly [appearsMs: number, allMs: number])[] = [];
  for (let n = 0; n < times; n += 1) taken.push(await connect(page, origin));
  const [appears, all] = [Math.max(...taken.map(([ms]) => ms)), Math.max(...taken.map(([, ms]) => ms))];
  figures.push({
    ...{ name: `the first event delivered, from ingest's answer, slowest of ${times}`, value: appears, unit: "ms" },
    ...{ beside: `at most ${APPEARS_AIM_MS}`, isWithin: appears <= APPEARS_AIM_MS },
  });
  figures.push({
    ...{ name: "a webhook connected, to its first event", value: all, unit: "ms" },
    ...{ beside: `at most ${ALL_AIM_MS}`, isWithin: all <= ALL_AIM_MS },
  });
}

async function connect(page: Page, origin: string): Promise<readonly [appearsMs: number, allMs: number]> {
  const beganMs = performance.now();
  await page.goto(`${origin}/connect?kind=webhook`);
  await page.getByRole("button", { name: "Use the test receiver" }).click();
  await page.locator("#save-and-turn-on:focus").waitFor();
  await page.getByRole("button", { name: "Save and turn on" }).click();
  // Control answers when ingest has; until ingest knows the new key, that says that it was not taken.
  const sampled = page.waitForResponse(async (response) => {
    if (!response.url().endsWith("/sample")) return false;
    return ((await response.json()) as { readonly taken: boolean }).taken;
  });
  await page.getByRole("button", { name: "Send a sample event" }).click();
  await sampled;
  const takenMs = performance.now();
  const first = page.getByRole("region", { name: "First event" });
  await first.getByText(/Delivered$/).waitFor();
  const endedMs = performance.now();
  return [endedMs - takenMs, endedMs - beganMs];
}
