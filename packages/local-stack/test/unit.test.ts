import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createUnit, type Unit, type UnitOptions } from "../src/unit.ts";

const holdUnit = fileURLToPath(new URL("./hold-unit.ts", import.meta.url));

let folder: string;
let units: Unit[];
let exits: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-unit-"));
  units = [];
  exits = [];
});

afterEach(async () => {
  await Promise.all(units.map((unit) => unit.kill()));
  await rm(folder, { recursive: true });
});

function sh(script: string, options: Partial<UnitOptions> = {}): Unit {
  const unit = createUnit({
    name: "subject",
    command: "sh",
    args: ["-c", script],
    env: process.env,
    logFile: join(folder, "subject.log"),
    isReady: async () => true,
    onUnexpectedExit: (name, reason) => exits.push(`${name}: ${reason}`),
    ...options,
  });
  units.push(unit);
  return unit;
}

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function isStopped(pid: number | undefined): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8");
  return status.slice(status.lastIndexOf(")") + 2, status.lastIndexOf(")") + 3) === "T";
}

it("U2: has the process's own id while it runs and none while it is down", async () => {
  const unit = sh("echo $$; exec sleep 600");
  expect(unit.pid).toBeUndefined();
  await unit.start();
  const printed = await eventually(async () => {
    const text = await readFile(unit.logFile, "utf8");
    expect(text).toMatch(/^\d+\n$/);
    return Number(text);
  });
  expect(unit.pid).toBe(printed);
  await unit.kill();
  expect(unit.pid).toBeUndefined();
  expect(isAlive(printed)).toBe(false);
});

it("starts again under its name after a kill, and nobody is told of an end that was asked for", async () => {
  const unit = sh("exec sleep 600");
  await unit.start();
  const first = unit.pid;
  await unit.kill();
  await unit.start();
  expect(isAlive(unit.pid)).toBe(true);
  expect(unit.pid).not.toBe(first);
  expect(exits).toEqual([]);
});

it("lets a process end itself cleanly when it is stopped", async () => {
  const unit = sh("trap 'echo clean; exit 0' TERM; echo up; while :; do sleep 0.05; done");
  await unit.start();
  await eventually(async () => expect(await readFile(unit.logFile, "utf8")).toBe("up\n"));
  await unit.stop();
  expect(await readFile(unit.logFile, "utf8")).toBe("up\nclean\n");
});

it("ends a process that does not heed SIGTERM when the deadline is over", async () => {
  const unit = sh("trap '' TERM; echo up; while :; do sleep 0.05; done");
  await unit.start();
  await eventually(async () => expect(await readFile(unit.logFile, "utf8")).toBe("up\n"));
  await unit.stop(100);
  expect(unit.pid).toBeUndefined();
});

it.runIf(process.platform === "linux")("hangs and resumes, and can be stopped while it hangs", async () => {
  const unit = sh("exec sleep 600");
  await unit.start();
  await unit.hang();
  await eventually(async () => expect(await isStopped(unit.pid)).toBe(true));
  await unit.resume();
  await eventually(async () => expect(await isStopped(unit.pid)).toBe(false));
  await unit.hang();
  await unit.stop();
  expect(unit.pid).toBeUndefined();
});

it("U3: tells an end that nobody asked for", async () => {
  const unit = sh("read -r _ < go; exit 3", { cwd: folder });
  await once(spawn("mkfifo", [join(folder, "go")]), "exit");
  await unit.start();
  await once(spawn("sh", ["-c", "echo > go"], { cwd: folder }), "exit");
  await eventually(() => expect(exits).toEqual(["subject: exit code 3"]));
});

it("U3: rejects the start with the end of the log when the process ends before it is ready", async () => {
  const unit = sh("echo the port is taken; exit 1", { isReady: async () => false });
  await expect(unit.start()).rejects.toThrow(/subject ended before it was ready \(exit code 1\).*the port is taken/s);
  expect(exits).toEqual([]);
});

it("rejects the start, and ends the process, when it is not ready in time", async () => {
  const unit = sh("exec sleep 600", { isReady: async () => false, readyTimeoutMs: 100 });
  await expect(unit.start()).rejects.toThrow("subject was not ready after 0.1 s");
  await eventually(() => expect(unit.pid).toBeUndefined());
});

it("says that a command which does not exist ended", async () => {
  const unit = sh("", { command: "no-such-command", isReady: async () => false });
  await expect(unit.start()).rejects.toThrow(/exit code 127/);
});

it("U1: nothing survives a SIGKILL of the parent", async () => {
  const holder = spawn(process.execPath, [holdUnit, join(folder, "sleeper.log")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: holder.stdout }), "line");
  const pid = Number(line);
  expect(isAlive(pid)).toBe(true);
  holder.kill("SIGKILL");
  await eventually(() => expect(isAlive(pid)).toBe(false));
});
