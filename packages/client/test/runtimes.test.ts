/**
 * The library asks nothing of its runtime but the web's globals: it runs in a realm that has these and nothing of Node.
 */
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, it } from "vitest";
import { messages } from "./support/received.ts";

let server: Receiver;

beforeEach(async () => {
  server = await startReceiver({ script: { body: '{"success": true}' } });
});

afterEach(() => server.close());

/** Globals that browsers, Deno, Bun and edge runtimes share. */
const WEB_GLOBALS = {
  AbortController,
  Blob,
  btoa,
  clearInterval,
  clearTimeout,
  CompressionStream,
  crypto,
  fetch,
  queueMicrotask,
  Response,
  setInterval,
  setTimeout,
  TextEncoder,
  URL,
};

/** Runs `lines`, which find `Analytics` and `endpoint`, in a realm with `globals` alone, and returns their result. */
async function runInRealm(lines: string, globals: Readonly<Record<string, unknown>>): Promise<unknown> {
  const entry = fileURLToPath(new URL("../src/index.ts", import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: "iife",
    globalName: "library",
    platform: "browser",
    write: false,
  });
  const [bundle] = outputFiles;
  const realm = vm.createContext({ ...globals, endpoint: server.url });
  return vm.runInContext(`${bundle?.text}; const { Analytics } = library; (async () => { ${lines} })()`, realm);
}

it("delivers where there is no process, no Buffer and no Node timer", async () => {
  const browserTimer = (callback: () => void, delayMs: number) => Number(setTimeout(callback, delayMs).unref());
  await runInRealm(
    `const client = new Analytics({ writeKey: "KEY", endpoint });
     client.identify({ userId: "u1", traits: { plan: "pro" } });
     client.track({ userId: "u1", event: "E" });
     await client.close();`,
    { ...WEB_GLOBALS, setTimeout: browserTimer },
  );
  expect(messages(server).map(({ type }) => type)).toEqual(["identify", "track"]);
});

it("compresses by CompressionStream", async () => {
  await runInRealm(
    `const client = new Analytics({ writeKey: "KEY", endpoint, gzip: true });
     client.track({ userId: "u1", event: "E" });
     await client.close();`,
    WEB_GLOBALS,
  );
  expect(server.requests[0]?.headers["content-encoding"]).toBe("gzip");
  expect(messages(server)).toHaveLength(1);
});

it("makes ids where there is no global crypto, as in Node 18", async () => {
  const { crypto: _, ...globals } = WEB_GLOBALS;
  const lines = `const client = new Analytics({ writeKey: "KEY", endpoint });
     client.track({ userId: "u1", event: "E" });
     await client.flush();`;
  await runInRealm(lines, globals);
  await runInRealm(lines, globals);
  const ids = messages(server).map(({ messageId }) => messageId);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^ph-[0-9a-z]{10,28}-1$/);
});

it("says so where it cannot compress", async () => {
  const { CompressionStream: _, ...globals } = WEB_GLOBALS;
  const refused = runInRealm(`return new Analytics({ writeKey: "KEY", endpoint, gzip: true })`, globals);
  await expect(refused).rejects.toThrow("gzip must be false in a runtime without CompressionStream");
});

it("needs no randomness and no timer before its first call, as edge runtimes ask of a module that loads", async () => {
  const refuse = () => {
    throw new Error("not while a module loads");
  };
  const globals = { ...WEB_GLOBALS, setTimeout: refuse, setInterval: refuse, fetch: refuse, crypto: {} };
  await expect(runInRealm(`new Analytics({ writeKey: "KEY", endpoint });`, globals)).resolves.toBeUndefined();
});

it("lets the last request outlive a page that is being left", async () => {
  const requests: RequestInit[] = [];
  const recording = (url: string, init: RequestInit) => {
    requests.push(init);
    return fetch(url, init);
  };
  const lines = `const client = new Analytics({ writeKey: "KEY", endpoint });
     client.track({ userId: "u1", event: "E" });
     await client.flush();`;
  await runInRealm(lines, { ...WEB_GLOBALS, fetch: recording, document: { visibilityState: "visible" } });
  await runInRealm(lines, { ...WEB_GLOBALS, fetch: recording, document: { visibilityState: "hidden" } });
  await eventually(() => expect(messages(server)).toHaveLength(2));
  expect(requests.map(({ keepalive }) => keepalive)).toEqual([false, true]);
});
