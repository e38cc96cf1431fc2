import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { keepAdminToken, keepSecretKeys, lockDataFolder, makeDataFolder, waitForLastRun } from "./data-folder.ts";

let dataDir: string;
let server: Server | undefined;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "posthaste-data-"));
});

afterEach(async () => {
  server?.close();
  server = undefined;
  await rm(dataDir, { recursive: true });
});

it("makes the folder, and says which setting names one that cannot be made", async () => {
  const file = join(dataDir, "file");
  await makeDataFolder(join(dataDir, "a", "b"));
  expect((await stat(join(dataDir, "a", "b"))).isDirectory()).toBe(true);
  await writeFile(file, "");
  await expect(makeDataFolder(join(file, "x"))).rejects.toThrow(
    `POSTHASTE_DATA_DIR: expected a folder that can be written to, got ${join(file, "x")} (ENOTDIR)`,
  );
});

it("opens the folder to its owner alone, one that it makes and one that was there", async () => {
  const [made, found] = [join(dataDir, "made"), join(dataDir, "found")];
  await mkdir(found);
  await chmod(found, 0o755);
  for (const folder of [made, found]) {
    await makeDataFolder(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  }
});

it("refuses a folder that is everybody's, and leaves it as it is", async () => {
  await chmod(dataDir, 0o1777);
  await expect(makeDataFolder(dataDir)).rejects.toThrow(
    `POSTHASTE_DATA_DIR: expected a folder of its own, got ${dataDir}, which is shared`,
  );
  expect((await stat(dataDir)).mode & 0o7777).toBe(0o1777);
});

it("is locked by one run at a time; the next is told whose it is", async () => {
  const unlock = await lockDataFolder(dataDir);
  await expect(lockDataFolder(dataDir)).rejects.toThrow(
    `${dataDir} is in use by another npm start, process ${process.pid}: end it, or set POSTHASTE_DATA_DIR and the ports`,
  );
  unlock();
  (await lockDataFolder(dataDir))();
});

it("makes an admin token once and keeps it, readable by its owner alone", async () => {
  const token = await keepAdminToken(dataDir, undefined);
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(await keepAdminToken(dataDir, undefined)).toBe(token);
  expect((await stat(join(dataDir, "admin-token"))).mode & 0o077).toBe(0);
});

it("keeps a token that was given in place of the one it had", async () => {
  await keepAdminToken(dataDir, undefined);
  expect(await keepAdminToken(dataDir, "mine")).toBe("mine");
  expect(await keepAdminToken(dataDir, undefined)).toBe("mine");
});

it("keeps the key of secrets, so that what was sealed stays readable after a restart", async () => {
  const keys = await keepSecretKeys(dataDir);
  expect(Buffer.from(keys.split(":")[1] ?? "", "base64")).toHaveLength(32);
  expect(await keepSecretKeys(dataDir)).toBe(keys);
  expect(await readFile(join(dataDir, "secret-keys"), "utf8")).toBe(`${keys}\n`);
});

async function leaveStackFile(): Promise<void> {
  const listening = createServer();
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const control = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  await writeFile(join(dataDir, "stack.json"), JSON.stringify({ control }));
}

it("goes on at once in a fresh folder and in one whose last run has ended", async () => {
  const said: string[] = [];
  await waitForLastRun(dataDir, (line) => said.push(line));
  await leaveStackFile();
  server?.close();
  await waitForLastRun(dataDir, (line) => said.push(line));
  expect(said).toEqual([]);
});

it("waits, saying so once, for a last run that is still ending", async () => {
  await leaveStackFile();
  const said: string[] = [];
  await waitForLastRun(dataDir, (line) => {
    said.push(line);
    server?.close();
  });
  expect(said).toEqual(["waiting for the last run to end"]);
});

it("refuses a folder that a live run uses", async () => {
  await leaveStackFile();
  await expect(waitForLastRun(dataDir, () => {}, 100)).rejects.toThrow(/is in use by another npm start/);
});
