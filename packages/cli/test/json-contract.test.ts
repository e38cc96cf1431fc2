/** The output of each command under `--json`, against the API's schemas, where control answers as its examples do. */
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../src/program.ts";
import { TOKEN } from "./fake-control.ts";
import { createTestTerminal, runCommand } from "./test-terminal.ts";

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly "application/json"?: { readonly example?: object } } }>
  >;
}

const document = JSON.parse(await readFile(new URL("../../console/openapi.json", import.meta.url), "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};
const ajv = new Ajv2020({
  strict: false,
  formats: { "date-time": (text: string) => !Number.isNaN(Date.parse(text)), uri: true },
});
ajv.addSchema({ $id: "api", components: document.components });

/** A whole answer, or the rows of one of its lists. */
const PRINTED: Readonly<Record<string, string>> = {
  "sources list": "SourcePage.data",
  "sources get": "Source",
  "sources create": "Source",
  "sources update": "Source",
  "sources rotate-write-key": "Source",
  "sources calls": "SourceCalls.data",
  "sources sample": "SampleAnswer",
  "destinations list": "DestinationPage.data",
  "destinations get": "Destination",
  "destinations create": "Destination",
  "destinations update": "Destination",
  "secret next": "Destination",
  "secret switch": "Destination",
  "secret undo": "Destination",
  "secret retire": "Destination",
  status: "Status",
  "destinations health": "DestinationHealthPage.data",
  send: "TestAnswer.urls",
  "events why": "EventVerdict",
  "events find": "EventPage.data",
  deliveries: "DeliveryPage.data",
  "deliveries resend": "Resent",
  "dead-letters list": "DeadLetterPage.data",
  "dead-letters count": "DeadLetterCountPage.data",
  "dead-letters groups": "DeadLetterGroupPage.data",
  "dead-letters show": "WholeDeadLetter",
  "dead-letters replay": "ReplayStart",
  "dead-letters purge": "Purge",
  "dead-letters unreadable list": "UnreadablePage.data",
  "dead-letters unreadable reproduce": "Reproduced",
  "replays list": "ReplayPage.data",
  "replays get": "Replay",
  "replays watch": "Replay",
  "replays pause": "Replay",
  "replays resume": "Replay",
  "replays cancel": "Replay",
  "deletions list": "DeletionPage.data",
  "deletions get": "DeletionStatus",
  "deletions create": "Deletion",
  "audiences list": "AudiencePage.data",
  "audiences get": "Audience",
  "audiences create": "AudienceEntry",
  "audiences sync": "MembersChange",
  "audiences members": "MembersChange",
  "traits list": "AudiencePage.data",
  "traits put": "ValuesChange",
  "suppressions get": "Suppressions",
  "suppressions remove": "EndedSuppressions",
  "tokens list": "TokenPage.data",
  "tokens create": "TokenWithKey",
  audit: "AuditPage.data",
  open: "MadeLink",
  doctor: "Doctor",
  "topics accept-loss": "AcceptedLosses.losses",
};

/** They print nothing under `--json`, or no JSON of the API: a scan, a file, a script, requests. */
const OTHERS = [
  ...["sources remove", "destinations remove", "audiences remove", "tokens revoke"],
  ...["events scan", "dead-letters export", "completion", "complete", "listen", "version"],
  ...["login", "logout", "profiles"],
];

/** The words typed beside the command's own. */
const ARGS: Readonly<Record<string, readonly string[]>> = {
  "sources create": ["--name", "Web", "--kind", "web"],
  "sources update": ["src_1", "--name", "Shop"],
  "destinations create": ["--name", "Billing", "--urls", "https://a.example/"],
  "destinations update": ["dst_1", "--name", "Billing"],
  "secret next": ["dst_1", "--shared-secret-file", "-"],
  "events find": ["--user-id", "user-7"],
  "deliveries resend": ["message-7", "dst_1"],
  "dead-letters show": ["3:1042"],
  "dead-letters replay": ["--destination-id", "dst_1", "--dry-run"],
  "dead-letters purge": ["--user-id", "user-7", "--dry-run"],
  "dead-letters unreadable reproduce": ["--reason", "unknown_schema", "--dry-run"],
  "deletions create": ["--user-id", "user-7"],
  "audiences create": ["--name", "VIP", "--source-id", "src_1"],
  "audiences sync": ["aud_1", "-"],
  "audiences members": ["aud_1", "--add", "ada"],
  "traits put": ["ltv", "-", "--source-id", "src_1"],
  "suppressions get": ["--user-id", "user-7"],
  "suppressions remove": ["--user-id", "user-7"],
  "tokens create": ["--name", "ci", "--scopes", "read"],
  "topics accept-loss": ["--dry-run"],
};

const STDIN: Readonly<Record<string, string>> = {
  "secret next": "a-secret-of-thirty-two-characters\n",
  "audiences sync": '"ada"\n',
  "traits put": '{"userId": "ada", "value": 1}\n',
};

/** Every command that does something, as its words. */
function commandPaths(): string[] {
  const program = createProgram({ ...createTestTerminal(), version: "0", defaultDataDir: "" }, async () => {});
  const walk = (command: typeof program, path: string[]): string[] => [
    ...(command.commands.length === 0 || command.name() === "deliveries" ? [path.join(" ")] : []),
    ...command.commands.flatMap((child) => walk(child, [...path, child.name()])),
  ];
  return walk(program, []);
}

/** Whether a command is to be given an id. */
const takesId = (path: string) =>
  /(get|rotate-write-key|calls|sample|switch|undo|retire|send|why|watch|pause|resume|cancel)$/.test(path);

const TIME = "2026-11-22T10:00:00.000Z";

/** Fields beyond the examples: the end of a replay that is watched, a record that could not be read, and a loss. */
const OTHERWISE: Readonly<Record<string, object>> = {
  acceptLoss: { losses: [{ topic: "t", partition: 0, from: 7, to: 9, records: 2 }] },
  getReplay: { state: "done", endedAt: TIME },
  listUnreadable: {
    data: [
      {
        ...{ place: "t/0/7", topic: "t", partition: 0, offset: 7, reason: "unknown_schema", error: "no such schema" },
        ...{ time: TIME, by: "router", bytes: 12, reproduced: false },
      },
    ],
  },
};

/** Returns each operation with its example. */
function answerOf(method: string, path: string): { readonly status: number; readonly body: string } {
  if (path === "/readyz") return { status: 200, body: JSON.stringify({ ready: true, checks: {} }) };
  for (const [template, operations] of Object.entries(document.paths)) {
    const isIt = new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path);
    const operation = operations[method.toLowerCase()];
    if (!isIt || operation === undefined) continue;
    const [status, response] = Object.entries(operation.responses).find(([code]) => Number(code) < 300) ?? [];
    const example = response?.content?.["application/json"]?.example;
    if (example === undefined) return { status: Number(status), body: "" };
    // A page has no other behind it.
    const last = "nextCursor" in example ? { nextCursor: null } : {};
    const body = { ...example, ...last, ...OTHERWISE[operation.operationId] };
    return { status: Number(status), body: JSON.stringify(body) };
  }
  return { status: 404, body: "{}" };
}

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://x");
    request.resume().once("end", () => {
      const { status, body } = answerOf(request.method ?? "", pathname);
      response.writeHead(status).end(body);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
});

/** One document, or an object a line. */
function documentsOf(stdout: string): readonly unknown[] {
  try {
    return [JSON.parse(stdout)];
  } catch {
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }
}

function schemaOf(name: string): object {
  const [schema = "", list] = name.split(".");
  const whole = `api#/components/schemas/${schema}`;
  return { $ref: list === undefined ? whole : `${whole}/properties/${list}/items` };
}

it("the table has every command", () => {
  expect([...Object.keys(PRINTED), ...OTHERS].toSorted()).toEqual(commandPaths().toSorted());
});

describe("--json of", () => {
  it.each(Object.entries(PRINTED))("%s is %s as the API describes it", async (path, name) => {
    const args = ARGS[path] ?? (takesId(path) ? ["dst_1"] : []);
    const { code, stdout, stderr } = await runCommand([...path.split(" "), ...args, "--json", "--yes", "--url", url], {
      env: { POSTHASTE_ADMIN_TOKEN: TOKEN },
      stdin: STDIN[path] ?? "",
    });
    expect([code, stderr.includes("unexpected"), stdout.length > 2]).toEqual([expect.any(Number), false, true]);
    const check = ajv.compile(schemaOf(name));
    const found = documentsOf(stdout);
    expect(found.length).toBeGreaterThan(0);
    for (const each of found) expect([check(each), check.errors, each]).toEqual([true, null, each]);
  });

  it("something else than the API describes would be seen", () => {
    const check = ajv.compile(schemaOf("SourcePage.data"));
    expect([check({}), check({ id: 7 })]).toEqual([false, false]);
  });
});
