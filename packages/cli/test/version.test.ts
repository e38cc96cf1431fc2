import { expect, it } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { useCommand } from "./harness.ts";
import { runCommand } from "./test-terminal.ts";

const command = useCommand();
const { version } = packageJson;

it("version tells the releases of the command and of control, and where they differ", async () => {
  command.control.script("GET /openapi.json", { info: { version } });
  const { url } = command.control;
  const same = await command.posthaste(["version"]);
  expect([same.code, same.stdout, same.stderr]).toEqual([
    0,
    `posthaste ${version}\ncontrol ${version} at ${url}\n`,
    "",
  ]);
  expect(command.control.requests[0]?.headers.authorization).toBeUndefined();
  command.control.script("GET /openapi.json", { info: { version: "9.0.0" } });
  const other = await command.posthaste(["version", "--json"]);
  expect(JSON.parse(other.stdout)).toEqual({ version, control: { url, version: "9.0.0" } });
  expect(other.stderr).toContain("different releases");
});

it("version tells the command's own also where no control answers", async () => {
  const { code, stdout } = await runCommand(["version", "--url", "http://127.0.0.1:9"]);
  expect([code, stdout]).toEqual([0, `posthaste ${version}\ncontrol not reachable at http://127.0.0.1:9\n`]);
});
