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

it("gives up when every port it tries is the same one", async () => {
  await expect(findFreePorts(2, () => 0.5)).rejects.toThrow("no free port");
});
