/**
 * The lines for a receiver that accepts either of two secrets, run. Where an engine is missing its test is skipped, and
 * the reason printed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EITHER_SECRET } from "../src/snippets/either-secret.ts";

const BODY = '{"name":"Zoë"}';
const sign = (secret: string): string => createHmac("sha1", secret).update(BODY).digest("hex");
/** By the old one, by the new one, by neither, and none. */
const SIGNATURES = [sign("old"), sign("new"), sign("other"), ""];
const input = JSON.stringify(SIGNATURES);
const env = { ...process.env, SHARED_SECRET: "old", NEXT_SHARED_SECRET: "new" };

function linesIn(id: string): string {
  return EITHER_SECRET.find((each) => each.id === id)?.text ?? "";
}

function isMissing(program: string, ...args: readonly string[]): boolean {
  if (spawnSync(program, args).status === 0) return false;
  process.stdout.write(`the lines for ${program} are not run: there is no ${program} here\n`);
  return true;
}

describe("a receiver of the console's lines accepts both secrets and no other", () => {
  const JS = `
const { readFileSync } = await import("node:fs");
const signatures = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(signatures.map((each) => isGenuine(Buffer.from('${BODY}'), each))));`;
  const PYTHON = `
import json, sys
print(json.dumps([is_genuine('${BODY}'.encode(), each) for each in json.load(sys.stdin)]))`;
  const GO = `package main

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"os"
)

${linesIn("go")}

func main() {
	var signatures []string
	if err := json.NewDecoder(os.Stdin).Decode(&signatures); err != nil {
		panic(err)
	}
	answers := []bool{}
	for _, each := range signatures {
		answers = append(answers, IsGenuine([]byte(\`${BODY}\`), each))
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
`;
  const accepted = (program: string, args: readonly string[], secrets: object = env) =>
    JSON.parse(execFileSync(program, args, { input, env: { ...secrets }, encoding: "utf8" })) as unknown;

  it("in JavaScript, and the old one alone where no new one is named", () => {
    const args = ["--input-type=module", "-e", linesIn("js") + JS];
    expect(accepted(process.execPath, args)).toEqual([true, true, false, false]);
    const { NEXT_SHARED_SECRET: _, ...old } = env;
    expect(accepted(process.execPath, args, old)).toEqual([true, false, false, false]);
  });

  it.skipIf(isMissing("python3", "--version"))("in Python", () => {
    expect(accepted("python3", ["-c", linesIn("python") + PYTHON])).toEqual([true, true, false, false]);
  });

  it.skipIf(isMissing("go", "version"))("in Go", { timeout: 120_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), "posthaste-either-"));
    try {
      writeFileSync(join(folder, "main.go"), GO);
      expect(accepted("go", ["run", join(folder, "main.go")])).toEqual([true, true, false, false]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
