/** Rule: PO1 of ports.ts. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { findFreePorts, isPortFree } from "./ports.ts";

it("finds different ports below the range of outgoing connections", async () => {
  const ports = await findFreePorts(6);
  expect(new Set(ports).size).toBe(6);
  for (const port of ports) expect(port).toSatisfy((value: number) => value >= 20_000 && value < 32_000);
});

it("passes over a port that is taken", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  expect(await isPortFree((server.address() as AddressInfo).port)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
});

it("PO1: passes over what another process found and does not listen on yet, for as long as that runs", async () => {
  const module = new URL("./ports.ts", import.meta.url).href;
  const program = `import { findFreePorts } from "${module}"; console.log(await findFreePorts(1)); process.stdin.resume();`;
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", program]);
  const [line] = await once(child.stdout, "data");
  const port = Number(/\d+/.exec(String(line))?.[0]);
  const again = () => findFreePorts(1, () => (port - 20_000 + 0.5) / 12_000);
  await expect(again()).rejects.toThrow("no free port");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await again()).toEqual([port]);
});

it("gives up when every port it tries is the same one", async () => {
  await expect(findFreePorts(2, () => 0.5)).rejects.toThrow("no free port");
});
