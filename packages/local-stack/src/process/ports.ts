/**
 * Finds free TCP ports on 127.0.0.1 for processes that must know their port before they start.
 *
 * Owns: a file for each port that this process found, until it ends.
 * PO1  Of two processes that look at the same moment no two find the same port, though neither listens on its own yet.
 */
import { rmSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The range of the ports lies below the range from which systems take outgoing ports. There, a client that tries again
 * and again to reach a broker that is down could be given the broker's own port, and the broker could then not start.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;

const FOUND = join(tmpdir(), "posthaste-ports");
const ownFiles = new Set<string>();

/**
 * Returns `count` different ports on which nothing listens now, and that nobody else found who runs still. Throws when
 * it cannot find them in reasonable time.
 */
export async function findFreePorts(count: number, random: () => number = Math.random): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let tries = 0; found.size < count; tries += 1) {
    if (tries > 100 + count) throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT}`);
    const port = FIRST_PORT + Math.floor(random() * (LAST_PORT - FIRST_PORT + 1));
    if (found.has(port)) continue;
    // In this order: a process that tries a port listens on it for a moment, in which its finder could not.
    if (!(await claim(port))) continue;
    if (await isPortFree(port)) found.add(port);
    else await release(port);
  }
  return [...found];
}

/** True when nothing listens on the port of 127.0.0.1. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** PO1. True also where no file can be written: then it is left to chance. */
async function claim(port: number): Promise<boolean> {
  const file = fileOf(port);
  try {
    await mkdir(FOUND, { recursive: true });
    await writeFile(file, String(process.pid), { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return true;
    // The file of a process that ended without removing it. Another port is taken now all the same: somebody else may
    // take this one.
    if (!isRunning(await readFile(file, "utf8").catch(() => ""))) await rm(file, { force: true });
    return false;
  }
  if (ownFiles.size === 0) process.once("exit", removeOwnFiles);
  ownFiles.add(file);
  return true;
}

async function release(port: number): Promise<void> {
  ownFiles.delete(fileOf(port));
  await rm(fileOf(port), { force: true });
}

function fileOf(port: number): string {
  return join(FOUND, String(port));
}

function isRunning(pid: string): boolean {
  // Somebody is about to write into it.
  if (pid === "") return true;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function removeOwnFiles(): void {
  for (const file of ownFiles) rmSync(file, { force: true });
}
