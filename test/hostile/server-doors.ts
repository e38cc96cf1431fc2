/** The doors at which the product is the server: its ports, with and without a key, a token or a receiver's id. */
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { ServiceName } from "@posthaste/local-stack/services";
import { eventually } from "@posthaste/testkit/eventually";
import type { Installation } from "../e2e/installation.ts";
import { writeDeadLetters } from "../e2e/write-dead-letters.ts";
import { processCpuMs } from "../load/figures/process-cpu.ts";
import type { Door } from "./door.ts";
import { type Player, startPlayer } from "./player.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface ServerDoor {
  readonly service: ServiceName;
  readonly port: number;
  readonly heads: readonly string[];
  readonly honest: Asked;
}

const JSON_TYPE = "Content-Type: application/json";

function head(method: string, path: string, ...lines: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, "Host: x", ...lines].join("\r\n");
}

/** Makes the parts that the doors need, and returns the doors by name. */
export async function serverDoors(installation: Installation): Promise<ReadonlyMap<string, Door>> {
  const { control, system } = installation;
  const { writeKey } = await control.createSource("neighbour");
  const { writeKey: strangersKey } = await control.createSource("stranger");
  const receiver = (await control.call("POST", "/v1/test-receivers", {})) as { readonly id: string };
  const bearer = `Bearer ${system.adminToken}`;
  const basic = (key: string) => `Authorization: Basic ${btoa(`${key}:`)}`;
  const portOf = (url: string) => Number(new URL(url).port);
  const [ingest, controlPort] = [portOf(system.ingestUrl), portOf(system.controlUrl)];
  const token = `Authorization: ${bearer}`;
  const doors: Readonly<Record<string, ServerDoor>> = {
    ingest: {
      ...{ service: "ingest", port: ingest },
      heads: [
        ...["", basic("nobody"), basic(strangersKey)].flatMap((key) =>
          ["/v1/track", "/v1/batch"].map((path) => head("POST", path, ...(key === "" ? [] : [key]))),
        ),
        ...[head("GET", "/pixel/v1/track?userId=u"), head("POST", "/nowhere"), head("OPTIONS", "/v1/track")],
      ],
      honest: {
        ...{ method: "POST", path: "/v1/track", body: `{"userId":"u","event":"E"}` },
        headers: { authorization: `Basic ${btoa(`${writeKey}:`)}` },
      },
    },
    control: {
      ...{ service: "control", port: controlPort },
      heads: [
        ...["/v1/session", "/v1/sources", "/v1/nowhere"].map((path) => head("POST", path, JSON_TYPE)),
        head("POST", "/v1/sources", JSON_TYPE, "Authorization: Bearer nobody"),
        ...["/healthz", "/readyz", "/openapi.json", "/", "/v1/sources"].map((path) => head("GET", path)),
      ],
      honest: { method: "GET", path: "/v1/sources", headers: { authorization: bearer } },
    },
    "control-with-token": {
      ...{ service: "control", port: controlPort },
      heads: [
        ...["/v1/sources", "/v1/destinations", "/v1/nowhere"].map((path) => head("POST", path, JSON_TYPE, token)),
        head("PUT", "/v1/audiences/none/members", "Content-Type: application/x-ndjson", token),
        ...["/v1/sources", "/v1/deliveries", "/v1/dead-letters"].map((path) => head("GET", path, token)),
      ],
      honest: { method: "GET", path: "/v1/sources", headers: { authorization: bearer } },
    },
    receive: {
      ...{ service: "control", port: controlPort },
      heads: [
        head("POST", `/receive/${receiver.id}`),
        head("PUT", `/receive/${receiver.id}`, JSON_TYPE),
        head("POST", "/receive/nobody"),
      ],
      honest: {
        method: "POST",
        path: `/receive/${receiver.id}`,
        body: "{}",
        headers: { "content-type": "text/plain" },
      },
    },
    admin: {
      ...{ service: "ingest", port: portOf(system.metricsUrls.ingest) },
      heads: [...["/metrics", "/healthz", "/readyz"].map((path) => head("GET", path)), head("POST", "/metrics")],
      honest: { method: "GET", path: "/healthz" },
    },
  };
  return new Map(Object.entries(doors).map(([name, door]) => [name, toDoor(name, door, installation)]));
}

/** Dead letters of which an export reads some batches. */
const DEAD_LETTERS = 20_000;
const QUIET_MS = 2_000;

/** The door of long answers: exports of dead letters, beside the shortest answer that control has. */
export async function exportsDoor(installation: Installation): Promise<Door> {
  const { control, system } = installation;
  const settings = { urls: [{ url: "http://127.0.0.1:9/" }] };
  const made = { type: "Webhooks", name: "dead", sourceIds: [], settings };
  const { id: destinationId } = (await control.call("POST", "/v1/destinations", made)) as { readonly id: string };
  await writeDeadLetters(installation, { destinationId, sourceId: "s", name: "letter", count: DEAD_LETTERS });
  const controlMs = () => processCpuMs(system.process("control").pid ?? 0);
  await eventually(
    async () => {
      // The log of deliveries is still made of them for some seconds.
      const before = controlMs();
      await pause(QUIET_MS);
      if (controlMs() - before > QUIET_MS / 10) throw new Error("control still reads the dead letters");
    },
    { timeoutMs: 120_000, intervalMs: 100 },
  );
  const { token } = (await control.call("POST", "/v1/tokens", { name: "reader", scopes: ["read"] })) as {
    readonly token: string;
  };
  const heads = ["parquet", "csv", "ndjson"].map((format) =>
    head("GET", `/v1/dead-letters/export?format=${format}`, `Authorization: Bearer ${token}`),
  );
  const port = Number(new URL(system.controlUrl).port);
  const honest = { method: "GET", path: "/healthz" };
  return toDoor("exports", { service: "control", port, heads, honest }, installation);
}

function toDoor(name: string, { service, port, heads, honest }: ServerDoor, { system }: Installation): Door {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  let stranger: Promise<Player> | undefined;
  return {
    name,
    pid: () => system.process(service).pid ?? 0,
    play: async (stream) => {
      stranger ??= startPlayer();
      const player = await stranger;
      player.play({ port, heads, stream });
      return { stop: player.rest };
    },
    honest: () => isServed(agent, port, honest),
    restart: async () => {
      await system.process(service).kill();
      await system.process(service).start();
    },
  };
}

/** Whether the exchange came to a good end. */
function isServed(agent: Agent, port: number, { method, path, headers = {}, body }: Asked): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ agent, port, host: "127.0.0.1", method, path, headers }, (answer) => {
      answer.resume();
      answer.once("error", () => resolve(false));
      answer.once("end", () => resolve((answer.statusCode ?? 500) < 300));
    });
    asked.once("error", () => resolve(false));
    asked.end(body);
  });
}
