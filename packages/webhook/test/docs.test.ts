/**
 * The receivers' code that docs/webhooks.md shows, run. Where an engine is missing its test is skipped, and the reason
 * printed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBodySigner } from "../src/sign.ts";

const page = readFileSync(new URL("../../../docs/webhooks.md", import.meta.url), "utf8");

/** A body, its received signature, the secret, and whether the signature is genuine. */
const CASES: readonly (readonly [body: string, signature: string | null, secret: string, isGenuine: boolean])[] = [
  ['{"name":"Zoë"}', sign('{"name":"Zoë"}', "secrét"), "secrét", true],
  ['{"name":"Zoë"}', sign('{"name":"Zoë"}', "other"), "secrét", false],
  ["{}", sign('{"name":"Zoë"}', "secrét"), "secrét", false],
  ['{"name":"Zoë"}', null, "secrét", false],
  ['{"name":"Zoë"}', "ü", "secrét", false],
];

function sign(body: string, secret: string): string {
  return createBodySigner(secret)(Buffer.from(body));
}

/** The block of the page in a language. */
function shownIn(language: string): string {
  const [, code] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(page) ?? [];
  if (code === undefined) throw new Error(`the page has no ${language}`);
  return code;
}

function isMissing(program: string, ...args: readonly string[]): boolean {
  if (spawnSync(program, args).status === 0) return false;
  process.stdout.write(`the page's code for ${program} is not run: there is no ${program} here\n`);
  return true;
}

const GO_MAIN = `package main

import (
	"encoding/json"
	"os"

	"page/receiver"
)

func main() {
	var cases [][3]string
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	answers := []bool{}
	for _, each := range cases {
		answers = append(answers, receiver.IsGenuine([]byte(each[0]), each[1], each[2]))
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
`;

const PYTHON_MAIN = `
import json, sys
print(json.dumps([is_genuine(body.encode(), signature, secret) for body, signature, secret in json.load(sys.stdin)]))
`;

describe("docs/webhooks.md", () => {
  const input = JSON.stringify(CASES.map(([body, signature, secret]) => [body, signature, secret]));
  const expected = CASES.map(([, , , isGenuine]) => isGenuine);

  it.skipIf(isMissing("python3", "--version"))("shows Python that accepts a genuine body and no other", () => {
    const answers = execFileSync("python3", ["-c", shownIn("python") + PYTHON_MAIN], { input, encoding: "utf8" });
    expect(JSON.parse(answers)).toEqual(expected);
  });

  it.skipIf(isMissing("go", "version"))(
    "shows Go that accepts a genuine body and no other",
    { timeout: 120_000 },
    () => {
      const folder = mkdtempSync(join(tmpdir(), "posthaste-page-"));
      try {
        mkdirSync(join(folder, "receiver"));
        writeFileSync(join(folder, "go.mod"), "module page\n\ngo 1.21\n");
        writeFileSync(join(folder, "receiver", "receiver.go"), shownIn("go"));
        writeFileSync(join(folder, "main.go"), GO_MAIN);
        const answers = execFileSync("go", ["run", "."], { cwd: folder, input, encoding: "utf8" });
        expect(JSON.parse(answers)).toEqual(expected);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it("shows JavaScript that accepts a genuine body and no other", async () => {
    const { isGenuine } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(shownIn("js"))}`);
    const answers = CASES.map(([body, signature, secret]) =>
      isGenuine(Buffer.from(body), signature ?? undefined, secret),
    );
    expect(answers).toEqual(expected);
  });
});
