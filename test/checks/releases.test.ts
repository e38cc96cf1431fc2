/**
 * A client library says the same version wherever it says one: to a package manager, to the server, in its list of
 * changes.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../packages/", import.meta.url));

/** The only group of every match in a file below `packages`. */
async function said(file: string, pattern: RegExp): Promise<readonly (string | undefined)[]> {
  return [...(await readFile(`${folder}${file}`, "utf8")).matchAll(pattern)].map(([, version]) => version);
}

const HEADING = /^## (\S+)$/gm;

it("the TypeScript client's newest change, its package and its context name one version", async () => {
  const [newest] = await said("client/CHANGELOG.md", HEADING);
  expect(await said("client/package.json", /^ {2}"version": "(.*)"/gm)).toEqual([newest]);
  expect(await said("client/src/message.ts", /name: "posthaste-js", version: "(.*?)"/g)).toEqual([newest]);
});

it("the Go client's newest change, its context and its user agent name one version", async () => {
  const [newest] = await said("client-go/CHANGELOG.md", HEADING);
  expect(await said("client-go/encode.go", /"name":"posthaste-go","version":"(.*?)"/g)).toEqual([newest]);
  expect(await said("client-go/transport.go", /"posthaste-go\/(.*?)"/g)).toEqual([newest]);
});
