/** Secrets that are known, looked for wherever a person's browser may have them. */
import { readFile } from "node:fs/promises";
import type { Page, Response } from "playwright-core";
import { expect } from "vitest";

/** What a page has beside its text: what stands in its fields, and what the browser keeps of it. */
const BESIDE = `JSON.stringify([
  [...document.querySelectorAll("input, textarea, select")].map(({ value }) => value),
  { ...localStorage }, { ...sessionStorage }, location.href, document.cookie,
])`;

export interface SecretSearch {
  /** Of every page, with what makes it show all that it has. */
  readonly addresses: readonly string[];
  /** By what they are. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Opens each page, with what folds out there, and answers where which of the secrets stands. */
export async function secretsShown(page: Page, { addresses, secrets }: SecretSearch): Promise<readonly string[]> {
  const shown: string[] = [];
  const answers: Promise<string>[] = [];
  const take = (response: Response): void => {
    // The stream has no end, and each of its rows is in a list too.
    if (!response.url().includes("/v1/live")) answers.push(response.text().catch(() => ""));
  };
  page.on("response", take);
  for (const address of addresses) {
    await page.goto(new URL(address, page.url()).href);
    await page.locator("main :is([data-state=live], [data-state=empty])").first().waitFor();
    for (const button of await page.getByRole("button", { expanded: false, name: /^(Request|Answer)/ }).all()) {
      await button.click();
    }
    await expect.poll(() => page.locator("[data-state=loading]").count()).toBe(0);
    const places = {
      "the page": await page.content(),
      "what the browser keeps": String(await page.evaluate(BESIDE)),
      "what control answered": (await Promise.all(answers.splice(0))).join("\n"),
    };
    for (const [name, secret] of Object.entries(secrets)) {
      for (const [place, text] of Object.entries(places)) {
        if (text.includes(secret)) shown.push(`${name} in ${place} at ${address}`);
      }
    }
  }
  page.off("response", take);
  return shown;
}

/** The addresses of the console's pages as it has them, such as `/sources/$sourceId`, that none of these leads to. */
export async function pagesLeftOut(addresses: readonly string[]): Promise<readonly string[]> {
  const routes = await readFile(new URL("../../packages/console/src/routes.tsx", import.meta.url), "utf8");
  const paths = [...routes.matchAll(/^ {2}path: "(.+)",$/gm)].flatMap(([, path]) => path ?? []);
  const leadsTo = (path: string) => new RegExp(`^${path.replaceAll(/\$\w+/g, "[^/]+")}(\\?|$)`);
  return paths.filter((path) => path !== "/" && !addresses.some((address) => leadsTo(path).test(address)));
}
