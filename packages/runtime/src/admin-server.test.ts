import { once } from "node:events";
import { connect } from "node:net";
import { Counter, Gauge, Registry } from "prom-client";
import { afterEach, expect, it, vi } from "vitest";
import { type AdminServer, type Readiness, startAdminServer, VERSION_HEADER } from "./admin-server.ts";
import { PER_TURN } from "./request-turns.ts";

let server: AdminServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(readiness: () => Readiness, ownReadiness = readiness): Promise<string> {
  const registry = new Registry();
  new Counter({ name: "posthaste_example_total", help: "For this test.", registers: [registry] }).inc(3);
  server = await startAdminServer({ host: "127.0.0.1", port: 0, registry, readiness, ownReadiness, version: "1.2.3" });
  return server.url;
}

it("serves the registry's metrics in the text format", async () => {
  const response = await fetch(`${await start(() => ({}))}/metrics`);
  expect(response.headers.get("content-type")).toContain("text/plain");
  expect(await response.text()).toContain("posthaste_example_total 3");
});

it("answers /healthz while it runs, whatever is missing", async () => {
  const response = await fetch(`${await start(() => ({ brokers: "none answers" }))}/healthz`);
  expect(response.status).toBe(200);
});

it("answers /readyz with 503 and what is missing until nothing is", async () => {
  let brokers: true | string = "none answers";
  const url = await start(() => ({ tables: true, brokers }));
  const before = await fetch(`${url}/readyz`);
  expect(before.status).toBe(503);
  expect(await before.json()).toEqual({ ready: false, checks: { tables: true, brokers: "none answers" } });
  brokers = true;
  const after = await fetch(`${url}/readyz`);
  expect(after.status).toBe(200);
  expect(await after.json()).toEqual({ ready: true, checks: { tables: true, brokers: true } });
  expect(after.headers.get(VERSION_HEADER)).toBe("1.2.3");
});

it("answers /readyz?own without the checks of other services", async () => {
  const own = (): Readiness => ({ tables: true });
  const url = await start(() => ({ ...own(), ingest: "does not answer" }), own);
  const answer = await fetch(`${url}/readyz?own`);
  expect([answer.status, await answer.json()]).toEqual([200, { ready: true, checks: { tables: true } }]);
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
});

it("begins few of the requests that come at once in one turn of the event loop (QT1 of request-turns.ts)", async () => {
  let begun = 0;
  const { port } = new URL(
    await start(() => {
      begun += 1;
      return {};
    }),
  );
  const sockets = Array.from({ length: 2 * PER_TURN }, () => connect(Number(port), "127.0.0.1"));
  const ask = () => {
    for (const socket of sockets) socket.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  };
  ask();
  await Promise.all(sockets.map((socket) => once(socket, "data")));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  ask();
  await turn();
  // The server reads the requests before this turn ends, and later turns come after it.
  await turn();
  expect(begun - sockets.length).toBeLessThanOrEqual(PER_TURN);
  await vi.waitFor(() => expect(begun).toBe(2 * sockets.length), 30_000);
  for (const socket of sockets) socket.destroy();
});

it("answers 500 with the reason when readiness itself throws", async () => {
  const url = await start(() => {
    throw new Error("the check broke");
  });
  const response = await fetch(`${url}/readyz`);
  expect(response.status).toBe(500);
  expect(await response.text()).toContain("the check broke");
});

it("says what it serves to a path it does not know, and refuses other methods", async () => {
  const url = await start(() => ({}));
  const unknown = await fetch(`${url}/metric`);
  expect([unknown.status, await unknown.text()]).toEqual([404, "try /metrics, /healthz or /readyz\n"]);
  expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(405);
});

it("cuts off who sends request after request and reads no answer", async () => {
  const { port } = new URL(await start(() => ({})));
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  const requests = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
  await vi.waitFor(() => {
    socket.write(requests);
    expect(socket.destroyed).toBe(true);
  }, 30_000);
});

it("renders one page of metrics for all requests of a moment", async () => {
  let renders = 0;
  const registry = new Registry();
  new Gauge({
    name: "posthaste_example",
    help: "For this test.",
    registers: [registry],
    collect: () => void renders++,
  });
  server = await startAdminServer({ host: "127.0.0.1", port: 0, registry, readiness: () => ({}) });
  const { port } = server;
  const socket = connect(port, "127.0.0.1");
  let received = "";
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
      if (received.split("HTTP/1.1 200").length === 3) resolve();
    });
  });
  socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2));
  await answered;
  socket.destroy();
  expect(renders).toBe(1);
});
