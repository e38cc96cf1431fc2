/** Secrets that are known, looked for wherever a person's browser may have them, in every topic and in every log. */
import { readFile } from "node:fs/promises";
import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { topicTexts } from "@posthaste/testbed/topic-texts";
import { withAdmin } from "@posthaste/testkit/broker";
import type { Page, Response } from "playwright-core";
import { expect } from "vitest";
import type { Installation } from "./installation.ts";

/** The parts of a page beside its text: the values of its fields, and the browser's storage. */
const BESIDE = `JSON.stringify([
  [...document.querySelectorAll("input, textarea, select")].map(({ value }) => value),
  { ...localStorage }, { ...sessionStorage }, location.href, document.cookie,
])`;

/** The secrets that let a person or a program in. */
export interface AccessSecrets {
  /** A sign-in link of the administrator's that is not opened yet. */
  readonly link: string;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Makes a token for a program, which uses it at once, and sign-in links, of which one is for nobody. */
export async function makeAccess({ control, system }: Installation): Promise<AccessSecrets> {
  const made = async (name: string, link: boolean) =>
    (await control.call("POST", "/v1/tokens", { name, scopes: ["read"], link })) as Record<"token" | "link", string>;
  const { token } = await made("a program", false);
  const { status } = await fetch(`${system.controlUrl}/v1/sources`, { headers: { authorization: `Bearer ${token}` } });
  expect(status).toBe(200);
  const [link, unopened] = [await control.createSignInLink(), (await made("nobody", true)).link];
  const codeOf = (of: string) => new URL(of).hash.replace(/^#sign-in=/, "");
  return { link, secrets: { namedToken: token, code: codeOf(link), unopenedCode: codeOf(unopened) } };
}

export interface SecretSearch {
  /** The address of every page, with the parameters that make it show all of its parts. */
  readonly addresses: readonly string[];
  /** By their kind. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Opens each page, with its folded parts, and returns the places of the secrets that stand there. */
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
    // Each that was opened is no more among the closed ones.
    const closed = page.getByRole("button", { expanded: false, name: /^(Request|Answer)/ });
    while ((await closed.count()) > 0) await closed.first().click();
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

/** The topics and logs of an installation's services that hold secrets, with the secrets. */
export async function secretsKept(
  { system, names }: Installation,
  secrets: SecretSearch["secrets"],
): Promise<{ readonly found: readonly string[]; readonly places: readonly string[] }> {
  const { brokers } = system.stack;
  const places = new Map<string, string>();
  for (const service of ["ingest", "router", "delivery", "control"]) {
    places.set(`the log of ${service}`, await readFile(system.process(service).logFile, "latin1"));
  }
  const listed = await withAdmin((admin) => admin.listTopics(), brokers);
  const connection = connectKafka({ brokers, clientId: "e2e", log: SILENT_LOG });
  try {
    for (const topic of listed.filter((each) => each.startsWith(names.topicPrefix))) {
      const texts = await topicTexts({ connection }, topic);
      if (texts.length > 0) places.set(topic.slice(names.topicPrefix.length), texts.join(" "));
    }
  } finally {
    await connection.close();
  }
  const found = [...places].flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) => (text.includes(secret) ? `${name} in ${place}` : [])),
  );
  return { found, places: [...places.keys()] };
}

/** The addresses of the console's pages as it has them, such as `/sources/$sourceId`, that none of these leads to. */
export async function skippedPages(addresses: readonly string[]): Promise<readonly string[]> {
  const routes = await readFile(new URL("../../packages/console/src/routes.tsx", import.meta.url), "utf8");
  const paths = [...routes.matchAll(/^ {2}path: "(.+)",$/gm)].flatMap(([, path]) => path ?? []);
  const leadsTo = (path: string) => new RegExp(`^${path.replaceAll(/\$\w+/g, "[^/]+")}(\\?|$)`);
  return paths.filter((path) => path !== "/" && !addresses.some((address) => leadsTo(path).test(address)));
}
