/** The table of exit codes: each by a situation that leads to it, as a process ends with it. */
import { readFile } from "node:fs/promises";
import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { EXIT } from "../src/exit-code.ts";
import { type RunOptions, runBinary, TOKEN } from "./fake-control.ts";
import { SITE, useCommand } from "./harness.ts";

const command = useCommand();
const GET = "GET /v1/sources/src_1";
const SOURCE = ["sources", "get", "src_1"];
const refused = (status: number) => () => command.control.script(GET, { detail: "words of control" }, status);

interface Way {
  readonly args: readonly string[];
  /** Control's answers, by script. */
  readonly script?: () => void;
  readonly options?: () => RunOptions;
}

const WAYS: Readonly<Record<keyof typeof EXIT, Readonly<Record<string, Way>>>> = {
  done: { "it is done": { args: SOURCE, script: () => command.control.script(GET, SITE) }, help: { args: ["--help"] } },
  failed: { "control fails": { args: SOURCE, script: refused(500) } },
  usage: {
    "an option is not known": { args: ["sources", "list", "--colour"] },
    "control refuses the input": { args: SOURCE, script: refused(400) },
  },
  no: {
    "there is no such thing": { args: SOURCE, script: refused(404) },
    "the present state does not allow it": { args: SOURCE, script: refused(409) },
    "nothing matches": {
      args: ["events", "find", "--event", "Never"],
      script: () => command.control.script("GET /v1/events", { data: [], nextCursor: null, complete: true }),
    },
  },
  notAllowed: {
    "the token is wrong": { args: SOURCE, script: refused(401) },
    "the token lacks the scope": { args: SOURCE, script: refused(403) },
    "there is no token": { args: SOURCE, options: () => ({ env: { POSTHASTE_ADMIN_TOKEN: "" } }) },
  },
  notReachable: {
    "control takes nothing now": { args: SOURCE, script: refused(503) },
    "too many wrong tokens came from here": { args: SOURCE, script: refused(429) },
    "no answer comes in time": {
      args: [...SOURCE, "--timeout", "100ms"],
      script: () => command.control.scriptRequest(GET, () => ({ fault: "hang" })),
    },
  },
  partly: {
    "one of two is gone": {
      args: ["sources", "remove", "src_1", "src_gone", "--yes"],
      script: () => command.control.script("DELETE /v1/sources/src_1", undefined, 204),
    },
  },
  interrupted: {
    "somebody presses Ctrl-C": {
      args: SOURCE,
      script: () => command.control.scriptRequest(GET, () => ({ fault: "hang" })),
      options: () => ({
        during: async (pid) => {
          await eventually(() => expect(command.control.requests).toHaveLength(1));
          process.kill(pid, "SIGINT");
        },
      }),
    },
  },
};

const rows = Object.entries(WAYS).flatMap(([name, ways]) =>
  Object.entries(ways).map(([when, way], index) => ({
    ...{ name: name as keyof typeof EXIT, when, ...way },
    isProcess: index === 0,
  })),
);
/** The situation that leads to a code first, as a process of its own. */
const asProcess = (args: readonly string[], { env, ...options }: RunOptions = {}) =>
  runBinary([...args, "--url", command.control.url], { ...options, env: { POSTHASTE_ADMIN_TOKEN: TOKEN, ...env } });

describe("the exit code", () => {
  it.each(rows)("is that of $name where $when", async ({ name, args, script, options, isProcess }) => {
    script?.();
    const run = isProcess ? asProcess : command.posthaste;
    expect((await run(args, options?.())).code).toBe(EXIT[name]);
  });

  it("stands in the page and in the help, each once, and no other does", async () => {
    const page = await readFile(new URL("../../../docs/command-line.md", import.meta.url), "utf8");
    const [, table = ""] = page.split("## Exit codes");
    const codes = Object.values<number>(EXIT);
    expect([...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))).toEqual(codes);
    const { stdout } = await runBinary(["--help"]);
    const line = /Exit codes: (.*)/s.exec(stdout)?.[1]?.replaceAll(/\s+/g, " ") ?? "";
    expect([...line.matchAll(/\d+/g)].map(([code]) => Number(code))).toEqual(codes);
  });
});
