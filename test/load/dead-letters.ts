/**
 * npm run bench:dead-letters -- [--short]: a million dead letters (20,000 in short form) exported in each format by the
 * command line, and counted by a plan. Prints seconds, bytes, by how much control and the command grew after the first
 * tenth of the time, and whether DuckDB reads the same rows out of the Parquet file as out of the CSV one. Needs Linux,
 * whose `/proc` tells a process's memory. Ends with 1 when an aim does not hold.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { eventually } from "@posthaste/testkit/eventually";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { writeDeadLetters } from "../e2e/write-dead-letters.ts";
import { equalRows } from "./figures/equal-rows.ts";
import { processRssBytes } from "./figures/process-cpu.ts";
import { verdict } from "./figures/verdict.ts";

const DEAD_LETTERS = process.argv.includes("--short") ? 20_000 : 1_000_000;
/** By how much a process may grow after the first tenth. */
const GROWTH_AIM_MIB = 64;
const SAMPLE_MS = 100;
const BINARY = fileURLToPath(new URL("../../packages/cli/bin/posthaste.mjs", import.meta.url));

/** Samples the memory of processes until it is stopped; returns by how many MiB each grew after the first tenth. */
function sampleMemory(pids: readonly number[]): () => readonly number[] {
  const samples: (readonly number[])[] = [];
  const timer = setInterval(() => {
    try {
      samples.push(pids.map(processRssBytes));
    } catch {
      // One of them has ended: its memory cannot be asked for any more.
      clearInterval(timer);
    }
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    const early = Math.max(1, Math.ceil(samples.length / 10));
    return pids.map((_, index) => {
      const sizes = samples.map((sample) => sample[index] ?? 0);
      return Math.max(0, Math.max(...sizes) - Math.max(...sizes.slice(0, early))) / 1024 / 1024;
    });
  };
}

async function exportAs(format: string, { system }: Installation, folder: string): Promise<boolean> {
  const path = join(folder, `letters.${format}`);
  const startedMs = performance.now();
  const args = ["dead-letters", "export", "--format", format, "--output", path, "--url", system.controlUrl];
  const env = { PATH: process.env["PATH"], POSTHASTE_ADMIN_TOKEN: system.adminToken };
  const command = spawn(process.execPath, [BINARY, ...args], { env });
  const [said, exited] = [text(command.stderr), once(command, "exit")];
  const grown = sampleMemory([system.process("control").pid ?? 0, command.pid ?? 0]);
  const [code] = await exited;
  const growth = grown();
  const seconds = (performance.now() - startedMs) / 1000;
  if (code !== 0) {
    console.log(`${format}: exit ${code} after ${seconds.toFixed(1)} s: ${await said}`);
    return false;
  }
  const isFlat = growth.every((mib) => mib <= GROWTH_AIM_MIB);
  const megabytes = ((await stat(path)).size / 1e6).toFixed(0);
  const [control, cli] = growth.map((mib) => mib.toFixed(0));
  console.log(
    `${format}: ${seconds.toFixed(1)} s, ${megabytes} MB; grew by ${control} MiB in control, ${cli} in the command: ${verdict(isFlat)}`,
  );
  console.log(`  ${(await said).trim().split("\n").at(-1)}`);
  return isFlat;
}

async function tellEqualRows(folder: string): Promise<boolean> {
  const found = await equalRows(join(folder, "letters.csv"), join(folder, "letters.parquet"));
  if ("missing" in found) {
    console.log(`rows were not compared: ${found.missing}`);
    return true;
  }
  const isEqual = found.rows === DEAD_LETTERS && found.equal === DEAD_LETTERS;
  console.log(`by DuckDB: ${found.rows} rows, ${found.equal} of them equal in CSV and Parquet: ${verdict(isEqual)}`);
  return isEqual;
}

async function main(): Promise<boolean> {
  const installation = await startInstallation({ longLived: true, brokers: 1 });
  const folder = await mkdtemp(join(tmpdir(), "posthaste-export-"));
  try {
    const { control } = installation;
    const settings = { urls: [{ url: "http://127.0.0.1:9/" }] };
    const input = { type: "Webhooks", name: "dead", sourceIds: [], enabled: true, settings };
    const { id: destinationId } = (await control.call("POST", "/v1/destinations", input)) as { id: string };
    await writeDeadLetters(installation, { destinationId, sourceId: "src_1", name: "letter", count: DEAD_LETTERS });
    await eventually(
      async () => {
        const { complete } = (await control.call("GET", "/v1/dead-letters?limit=1")) as { complete: boolean };
        if (!complete) throw new Error("the dead letters are still being read");
      },
      { timeoutMs: 600_000, intervalMs: 500 },
    );
    let isWithin = true;
    for (const format of ["ndjson", "csv", "parquet"]) {
      if (!(await exportAs(format, installation, folder))) isWithin = false;
    }
    if (!(await tellEqualRows(folder))) isWithin = false;
    const startedMs = performance.now();
    const plan = await control.call("POST", "/v1/replays", { dryRun: true });
    const { matched } = plan as { matched: number };
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    console.log(`a plan: ${seconds} s, ${matched} counted: ${verdict(matched === DEAD_LETTERS)}`);
    return isWithin && matched === DEAD_LETTERS;
  } finally {
    await installation.close();
    await rm(folder, { recursive: true });
  }
}

if (!(await main())) process.exitCode = 1;
