import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { askServices } from "./service-readiness.ts";

it("a service whose answer has no end is told by its status, and no more of it is read than is looked at", async () => {
  let sent = 0;
  const server = createServer((_request, response) => {
    response.writeHead(503);
    const write = () => {
      while (!response.destroyed && response.write("x".repeat(100_000))) sent += 100_000;
    };
    response.on("drain", write);
    write();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const closed = new Promise<void>((resolve) => {
    server.once("connection", (socket) => socket.on("error", () => {}).once("close", () => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  expect(await askServices([{ name: "odd", url: `http://127.0.0.1:${port}` }])).toEqual({ odd: "answers 503" });
  // The rest is not waited for.
  await closed;
  expect(sent).toBeLessThan(20_000_000);
  server.close();
});
