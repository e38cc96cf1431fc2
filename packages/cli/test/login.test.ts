/** Profiles, over a false control and a configuration folder of the test's own. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../src/program.ts";
import { runBinary, TOKEN } from "./fake-control.ts";
import { useCommand } from "./harness.ts";
import { createTestTerminal, runCommand } from "./test-terminal.ts";

const command = useCommand();
const SESSION = { name: "dana", scopes: ["read"] };
const lastToken = () => command.control.requests.at(-1)?.headers.authorization;

it("login tries the token, keeps it where nobody else may read it, and further commands use it", async () => {
  command.control.script("GET /v1/session", SESSION);
  command.control.script("GET /v1/sources", { data: [], nextCursor: null });
  const env = { XDG_CONFIG_HOME: command.dir };
  const words = ["login", "--url", command.control.url, "--token-file", "-"];
  const made = await runBinary(words, { env, stdin: `${TOKEN}\n` });
  expect([made.code, made.stderr]).toEqual([
    0,
    `${command.control.url} takes the token of dana; it is the profile default from now on\n`,
  ]);
  const { mode } = await stat(join(command.dir, "posthaste", "profiles.json"));
  expect((mode & 0o777).toString(8)).toBe("600");
  // A data folder names a control, too.
  const list = (more: readonly string[], others = {}) =>
    runCommand(["sources", "list", ...more], { env: { ...env, POSTHASTE_DATA_DIR: "", ...others } });
  expect([(await list([])).code, lastToken()]).toEqual([0, `Bearer ${TOKEN}`]);
  expect((await list(["--profile", "default"], { POSTHASTE_ADMIN_TOKEN: "another" })).code).toBe(0);
  expect(lastToken()).toBe(`Bearer ${TOKEN}`);
  command.control.reset();
  expect((await list(["--url", "http://127.0.0.1:9"])).code).toBe(4);
  expect((await list([], { POSTHASTE_ADMIN_TOKEN: "another", POSTHASTE_CONTROL_PORT: "9" })).code).toBe(5);
  expect(command.control.requests).toEqual([]);
  const unknown = await list(["--profile", "other"]);
  expect([unknown.code, unknown.stderr]).toEqual([2, "posthaste: there is no profile other\n  there are default\n"]);
  const profiles = await runCommand(["profiles"], { env });
  expect(profiles.stdout).toBe(`default\t${command.control.url}\ttrue\n`);
  expect((await runCommand(["logout"], { env })).code).toBe(0);
  expect(await readFile(join(command.dir, "posthaste", "profiles.json"), "utf8")).not.toContain(TOKEN);
});

it("login asks for the token where nothing gives it, and keeps none that control refuses", async () => {
  command.control.script("GET /v1/session", { title: "no" }, 401);
  const env = { XDG_CONFIG_HOME: join(command.dir, "refused"), POSTHASTE_DATA_DIR: "/nonexistent" };
  const words = ["login", "--url", command.control.url];
  expect((await runCommand(words, { env })).code).toBe(2);
  const { terminal, stderr } = createTestTerminal({ env });
  const asked: string[] = [];
  const askSecret = async (question: string) => {
    asked.push(question);
    return "typed";
  };
  const options = { version: "0", defaultDataDir: "/nonexistent" };
  expect(await run(words, { ...options, terminal: { ...terminal, canAsk: true, askSecret } })).toBe(4);
  expect([asked, lastToken()]).toEqual([[`Token for ${command.control.url}: `], "Bearer typed"]);
  expect(stderr()).toContain("control does not take this token");
  expect((await runCommand(["profiles"], { env })).stdout).toBe("");
});
