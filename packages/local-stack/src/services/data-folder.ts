/**
 * The files that the local command keeps in its data folder beside the brokers' state: the admin token, the key of
 * secrets, and stack.json.
 */
import { randomBytes } from "node:crypto";
import { access, chmod, constants, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StackError } from "../process/stack-error.ts";

/** The content of stack.json, which lists the running processes, for tools and for the curious. */
export interface StackFile {
  readonly brokers: readonly string[];
  readonly schemaRegistry: string;
  readonly ingest: string;
  readonly control: string;
  /** The URL of each service's /metrics. */
  readonly metrics: Readonly<Record<string, string>>;
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
}

/** How long the last run's processes may take to end after their parent was killed. */
const LAST_RUN_GRACE_MS = 12_000;

/**
 * Only the folder's owner may read it: it holds the admin token, the key of secrets, and every event in the brokers'
 * logs.
 */
const FOLDER_MODE = 0o700;
const STICKY = 0o1000;

/**
 * Makes the folder where it is missing, and closes it to everybody but its owner. Throws StackError when this process
 * cannot write to the folder or close it, and for a folder that everybody uses, such as /tmp.
 */
export async function makeDataFolder(dataDir: string): Promise<void> {
  let isShared: boolean;
  try {
    await mkdir(dataDir, { recursive: true, mode: FOLDER_MODE });
    await access(dataDir, constants.W_OK);
    const { mode } = await stat(dataDir);
    isShared = (mode & STICKY) !== 0;
    if (!isShared && (mode & 0o777) !== FOLDER_MODE) await chmod(dataDir, FOLDER_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StackError(`POSTHASTE_DATA_DIR: expected a folder that can be written to, got ${dataDir} (${code})`);
  }
  if (isShared)
    throw new StackError(`POSTHASTE_DATA_DIR: expected a folder of its own, got ${dataDir}, which is shared`);
}

/** SQLite's code for a database that another connection has locked. */
const BUSY = 5;
/** A collected database would give its lock away. */
const locks = new Set<DatabaseSync>();

/**
 * Locks the folder for this process until the answer is called or the process ends, however it ends: the kernel holds
 * the lock of the database. Throws StackError where another process has it.
 */
export async function lockDataFolder(dataDir: string): Promise<() => void> {
  const pidFile = join(dataDir, "lock.pid");
  const database = new DatabaseSync(join(dataDir, "lock.sqlite"));
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { readonly errcode?: number }).errcode !== BUSY) throw error;
    const pid = await readFile(pidFile, "utf8").catch(() => "");
    const other = pid === "" ? "another npm start" : `another npm start, process ${pid.trim()}`;
    throw new StackError(`${dataDir} is in use by ${other}: end it, or set POSTHASTE_DATA_DIR and the ports`);
  }
  await writeFile(pidFile, `${process.pid}\n`);
  locks.add(database);
  return () => {
    locks.delete(database);
    database.close();
  };
}

/** Returns the admin token: the given token, else the kept token, else a new token, which is kept from then on. */
export async function keepAdminToken(dataDir: string, given: string | undefined): Promise<string> {
  if (given !== undefined) {
    await writeSecret(join(dataDir, "admin-token"), given);
    return given;
  }
  return keepSecret(join(dataDir, "admin-token"), makePassword);
}

/** Makes a token that nobody guesses, of characters that need no escape anywhere. */
export function makePassword(): string {
  return randomBytes(24).toString("base64url");
}

/** Returns the key that seals secrets in topics. It is made once, since sealed secrets must stay readable. */
export function keepSecretKeys(dataDir: string): Promise<string> {
  return keepSecret(join(dataDir, "secret-keys"), () => `local:${randomBytes(32).toString("base64")}`);
}

/** Writes stack.json whole or not at all: a reader never sees half of it. */
export async function writeStackFile(dataDir: string, content: StackFile): Promise<void> {
  const file = join(dataDir, "stack.json");
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`);
  await rename(`${file}.new`, file);
}

export async function removeStackFile(dataDir: string): Promise<void> {
  await rm(join(dataDir, "stack.json"), { force: true });
}

/**
 * Resolves when no process of an earlier run uses the folder: processes that a killed run left end by themselves within
 * seconds. Throws StackError when a run is alive.
 */
export async function waitForLastRun(
  dataDir: string,
  log: (line: string) => void,
  graceMs: number = LAST_RUN_GRACE_MS,
): Promise<void> {
  const text = await readFile(join(dataDir, "stack.json"), "utf8").catch(() => undefined);
  if (text === undefined) return;
  const last = JSON.parse(text) as StackFile;
  const deadline = performance.now() + graceMs;
  let reported = false;
  // This looks at the run's ports, since its process id may be somebody else's by now.
  while (await answers(last.control)) {
    if (performance.now() > deadline) {
      throw new StackError(
        `${dataDir} is in use by another npm start (control at ${last.control}); end it, or set POSTHASTE_DATA_DIR and the ports`,
      );
    }
    if (!reported) log("waiting for the last run to end");
    reported = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/**
 * Returns the secret in the file. Where there is none, it makes a secret and keeps it in a file for its owner alone.
 */
export async function keepSecret(file: string, make: () => string): Promise<string> {
  const kept = await readFile(file, "utf8").catch(() => "");
  if (kept.trim() !== "") return kept.trim();
  const made = make();
  await writeSecret(file, made);
  return made;
}

async function writeSecret(file: string, text: string): Promise<void> {
  await mkdir(join(file, ".."), { recursive: true, mode: FOLDER_MODE });
  await writeFile(file, `${text}\n`, { mode: 0o600 });
}
