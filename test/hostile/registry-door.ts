/**
 * The doors at which services are clients of a hostile schema registry: ingest, which waits for it at its start, and
 * control, which runs and whose doctor asks it. A stream's bytes are the registry's answers. The honest neighbour asks
 * for the service's `/healthz`.
 */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { findFreePorts } from "@posthaste/local-stack/ports";
import { ByteProxy } from "@posthaste/testkit/byte-proxy";
import { eventually } from "@posthaste/testkit/eventually";
import type { Installation } from "../e2e/installation.ts";
import { ANSWER_HEADS, PLAIN_ANSWER } from "./answers.ts";
import type { Door } from "./door.ts";
import { type Player, startPlayer } from "./player.ts";

const ASKED_EVERY_MS = 100;
const PATIENT = { timeoutMs: 60_000, intervalMs: 100 };

/** Ingest starts, and asks again and again until the registry answers. */
export async function registryAtStartDoor({ system, dataDir: parent }: Installation): Promise<Door> {
  const stranger = await startPlayer();
  const [adminPort = 0, ingestPort = 0] = await findFreePorts(2);
  const dataDir = await mkdtemp(join(parent, "registry-"));
  const schemaRegistry = `http://127.0.0.1:${stranger.port}`;
  const starting = system.another("ingest", { adminPort, ingestPort, dataDir, schemaRegistry });
  const honest = () => isWell(`http://127.0.0.1:${adminPort}/healthz`);
  let isOver = false;
  // It never is ready, so a start ends with a failure when the process is killed, after minutes at the latest.
  const begin = () => void starting.start().catch(() => !isOver && begin());
  const untilWell = () => eventually(async () => assertWell(await honest()), PATIENT);
  stranger.play({ heads: ANSWER_HEADS, stream: PLAIN_ANSWER });
  begin();
  await untilWell();
  return {
    name: "registry-at-start",
    pid: () => starting.pid ?? 0,
    play: playOf(stranger),
    honest,
    restart: async () => {
      await starting.kill();
      await untilWell();
    },
    close: async () => {
      isOver = true;
      await starting.kill();
    },
  };
}

/** Control runs, and its doctor asks a registry that has become hostile. */
export async function registryDoor({ system, dataDir: parent }: Installation): Promise<Door> {
  const stranger = await startPlayer();
  const honestRegistry = system.stack.schemaRegistry;
  const proxy = new ByteProxy(honestRegistry);
  await proxy.listen();
  const [adminPort = 0, controlPort = 0] = await findFreePorts(2);
  const dataDir = await mkdtemp(join(parent, "registry-"));
  const schemaRegistry = `${proxy.url}${new URL(honestRegistry).pathname}`;
  const options = { adminPort, controlPort, dataDir, schemaRegistry };
  const running = system.another("control", options);
  stranger.play({ heads: ANSWER_HEADS, stream: PLAIN_ANSWER });
  const url = `http://127.0.0.1:${controlPort}`;
  const start = async () => {
    proxy.lead(honestRegistry);
    await running.start();
    await eventually(async () => assertWell(await isWell(`${url}/readyz`)), PATIENT);
    proxy.lead(`http://127.0.0.1:${stranger.port}`);
    proxy.cut();
  };
  await start();
  const asking = setInterval(() => {
    const headers = { authorization: `Bearer ${system.adminToken}` };
    void isWell(`${url}/v1/doctor?only=registry,schemas`, headers);
  }, ASKED_EVERY_MS);
  return {
    name: "registry",
    pid: () => running.pid ?? 0,
    play: playOf(stranger),
    honest: () => isWell(`${url}/healthz`),
    restart: async () => {
      await running.kill();
      await start();
    },
    close: async () => {
      clearInterval(asking);
      await running.kill();
      await proxy.close();
    },
  };
}

function playOf(stranger: Player): Door["play"] {
  return async (stream) => {
    stranger.play({ heads: ANSWER_HEADS, stream });
    return {
      stop: async () => {
        const played = await stranger.rest();
        stranger.play({ heads: ANSWER_HEADS, stream: PLAIN_ANSWER });
        return played;
      },
    };
  };
}

async function isWell(url: string, headers: Record<string, string> = {}): Promise<boolean> {
  const answer = await fetch(url, { headers }).catch(() => null);
  await answer?.arrayBuffer();
  return answer?.ok === true;
}

function assertWell(isWell: boolean): void {
  if (!isWell) throw new Error("the service does not answer yet");
}
