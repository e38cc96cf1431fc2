/** All that the console's pages do can be done at a terminal too. */
import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createProgram } from "../src/program.ts";
import { createTestTerminal } from "./test-terminal.ts";

const CONSOLE = fileURLToPath(new URL("../../console/src", import.meta.url));
/** As the sources of the pages name an operation, one that is chosen at its last step by a name too. */
const OPERATION = /["`]((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[^"`?]*)["`]/g;

/** By the operation that the pages ask control for: the command that does the same. */
const COMMANDS: Readonly<Record<string, string>> = {
  "GET /v1/audiences": "audiences list",
  "POST /v1/audiences": "audiences create",
  "GET /v1/audiences/{id}": "audiences get",
  "DELETE /v1/audiences/{id}": "audiences remove",
  "GET /v1/audiences/{id}/members/{userId}": "audiences members",
  "PATCH /v1/audiences/{id}/members": "audiences members",
  "GET /v1/audit": "audit",
  "GET /v1/computed-traits": "traits list",
  "GET /v1/dead-letters": "dead-letters list",
  "GET /v1/replays/counting": "dead-letters replay",
  "GET /v1/dead-letters/groups": "dead-letters groups",
  "POST /v1/dead-letters/purge": "dead-letters purge",
  "POST /v1/replays": "dead-letters replay",
  "GET /v1/deletions": "deletions list",
  "POST /v1/deletions": "deletions create",
  "GET /v1/deletions/{id}": "deletions get",
  "GET /v1/deletions/{id}/notifications": "deletions get",
  "GET /v1/deliveries": "deliveries",
  "GET /v1/deliveries/latest": "deliveries",
  "GET /v1/deliveries/record": "dead-letters show",
  "POST /v1/deliveries/resend": "deliveries resend",
  "GET /v1/destinations": "destinations list",
  "POST /v1/destinations": "destinations create",
  "POST /v1/destinations/test": "send",
  "GET /v1/destinations/{id}": "destinations get",
  "PATCH /v1/destinations/{id}": "destinations update",
  "DELETE /v1/destinations/{id}": "destinations remove",
  "GET /v1/destinations/{id}/series": "destinations health",
  "POST /v1/destinations/{id}/secret/next": "secret next",
  "POST /v1/destinations/{id}/secret/retire": "secret retire",
  "POST /v1/destinations/{id}/secret/switch": "secret switch",
  "POST /v1/destinations/{id}/secret/undo": "secret undo",
  "POST /v1/destinations/{id}/test": "send",
  "GET /v1/events": "events find",
  "GET /v1/events/{messageId}": "events why",
  "GET /v1/health/destinations": "destinations health",
  "GET /v1/health/destinations/{id}": "destinations health",
  "GET /v1/live": "audit",
  "GET /v1/replays": "replays list",
  "GET /v1/replays/{id}": "replays get",
  "POST /v1/replays/{id}/${act}": "replays cancel",
  "GET /v1/sources": "sources list",
  "POST /v1/sources": "sources create",
  "GET /v1/sources/{id}": "sources get",
  "PATCH /v1/sources/{id}": "sources update",
  "DELETE /v1/sources/{id}": "sources remove",
  "GET /v1/sources/{id}/calls": "sources calls",
  "POST /v1/sources/{id}/sample": "sources sample",
  "POST /v1/sources/{id}/write-key": "sources rotate-write-key",
  "GET /v1/status": "status",
  "GET /v1/suppressions": "suppressions get",
  "DELETE /v1/suppressions": "suppressions remove",
  "GET /v1/test-receivers": "listen",
  "POST /v1/test-receivers": "listen",
  "GET /v1/test-receivers/{id}": "listen",
  "PATCH /v1/test-receivers/{id}": "listen",
  "GET /v1/tokens": "tokens list",
  "POST /v1/tokens": "tokens create",
  "DELETE /v1/tokens/{id}": "tokens revoke",
  "GET /v1/unreadable": "dead-letters unreadable list",
};

/** Of a browser alone: its session, the token that it gives to a terminal, the kinds of connections. */
const OF_A_BROWSER = [
  ...["GET /v1/session", "POST /v1/session", "DELETE /v1/session", "POST /v1/session/token", "GET /v1/catalog"],
];

async function consoleOperations(): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const file of glob("**/*.{ts,tsx}", { cwd: CONSOLE })) {
    if (file.endsWith("api-types.ts")) continue;
    const source = await readFile(`${CONSOLE}/${file}`, "utf8");
    for (const [, operation = ""] of source.matchAll(OPERATION)) found.add(operation);
  }
  return [...found].sort();
}

/** Every command as its words, those with others below them too. */
function commands(): readonly string[] {
  const { terminal } = createTestTerminal();
  const program = createProgram({ terminal, version: "0", defaultDataDir: "" }, async () => {});
  const walk = (command: typeof program, path: readonly string[]): readonly string[] => [
    path.join(" "),
    ...command.commands.flatMap((child) => walk(child, [...path, child.name()])),
  ];
  return walk(program, []);
}

describe("what a page of the console does", () => {
  it("is done by a command too, all but what is a browser's alone", async () => {
    const operations = await consoleOperations();
    expect(operations.length).toBeGreaterThan(50);
    expect(operations.filter((each) => !(each in COMMANDS) && !OF_A_BROWSER.includes(each))).toEqual([]);
    const known = commands();
    expect(Object.values(COMMANDS).filter((command) => !known.includes(command))).toEqual([]);
  });
});
