import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, expect, it } from "vitest";
import { GuardedProcess, type GuardedProcessOptions } from "../src/process/guarded-process.ts";

const holdProcess = fileURLToPath(new URL("./hold-process.ts", import.meta.url));

let folder: string;
let processes: GuardedProcess[];
let exits: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-process-"));
  processes = [];
  exits = [];
});

afterEach(async () => {
  await Promise.all(processes.map((each) => each.kill()));
  await rm(folder, { recursive: true });
});

function sh(script: string, options: Partial<GuardedProcessOptions> = {}): GuardedProcess {
  const subject = new GuardedProcess({
    name: "subject",
    command: "sh",
    args: ["-c", script],
    env: process.env,
    logFile: join(folder, "subject.log"),
    isReady: async () => true,
    onUnexpectedExit: (name, reason) => exits.push(`${name}: ${reason}`),
    ...options,
  });
  processes.push(subject);
  return subject;
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

it("GP2: has the process's own id while it runs and none while it is down", async () => {
  const subject = sh("echo $$; exec sleep 600");
  expect(subject.pid).toBeUndefined();
  await subject.start();
  const printed = await eventually(async () => {
    const text = await readFile(subject.logFile, "utf8");
    expect(text).toMatch(/^\d+\n$/);
    return Number(text);
  });
  expect(subject.pid).toBe(printed);
  await subject.kill();
  expect(subject.pid).toBeUndefined();
  expect(isAlive(printed)).toBe(false);
});

it("starts again under its name after a kill, and nobody is told of an end that was asked for", async () => {
  const subject = sh("exec sleep 600");
  await subject.start();
  const first = subject.pid;
  await subject.kill();
  await subject.start();
  expect(isAlive(subject.pid)).toBe(true);
  expect(subject.pid).not.toBe(first);
  expect(exits).toEqual([]);
});

it("lets a process end itself cleanly when it is stopped", async () => {
  const subject = sh("trap 'echo clean; exit 0' TERM; echo up; while :; do sleep 0.05; done");
  await subject.start();
  await eventually(async () => expect(await readFile(subject.logFile, "utf8")).toBe("up\n"));
  await subject.stop();
  expect(await readFile(subject.logFile, "utf8")).toBe("up\nclean\n");
});

it("ends a process that does not heed SIGTERM when the deadline is over", async () => {
  const subject = sh("trap '' TERM; echo up; while :; do sleep 0.05; done");
  await subject.start();
  await eventually(async () => expect(await readFile(subject.logFile, "utf8")).toBe("up\n"));
  await subject.stop(100);
  expect(subject.pid).toBeUndefined();
});

it.runIf(process.platform === "linux")("hangs and resumes, and can be stopped while it hangs", async () => {
  const subject = sh("exec sleep 600");
  await subject.start();
  await subject.hang();
  await eventually(async () => expect(await isStopped(subject.pid)).toBe(true));
  await subject.resume();
  await eventually(async () => expect(await isStopped(subject.pid)).toBe(false));
  await subject.hang();
  await subject.stop();
  expect(subject.pid).toBeUndefined();
});

it("GP3: tells an end that nobody asked for", async () => {
  const subject = sh("read -r _ < go; exit 3", { cwd: folder });
  await once(spawn("mkfifo", [join(folder, "go")]), "exit");
  await subject.start();
  await once(spawn("sh", ["-c", "echo > go"], { cwd: folder }), "exit");
  await eventually(() => expect(exits).toEqual(["subject: exit code 3"]));
});

it("GP3: rejects the start with the end of the log when the process ends before it is ready", async () => {
  const subject = sh("echo the port is taken; exit 1", { isReady: async () => false });
  await expect(subject.start()).rejects.toThrow(
    /subject ended before it was ready \(exit code 1\).*the port is taken/s,
  );
  expect(exits).toEqual([]);
});

it("rejects the start, and ends the process, when it is not ready in time", async () => {
  const subject = sh("exec sleep 600", { isReady: async () => false, readyTimeoutMs: 100 });
  await expect(subject.start()).rejects.toThrow("subject was not ready after 0.1 s");
  await eventually(() => expect(subject.pid).toBeUndefined());
});

it("says that a command which does not exist ended", async () => {
  const subject = sh("", { command: "no-such-command", isReady: async () => false });
  await expect(subject.start()).rejects.toThrow(/exit code 127/);
});

it("GP1: nothing survives a SIGKILL of the parent", async () => {
  const holder = spawn(process.execPath, [holdProcess, join(folder, "sleeper.log")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: holder.stdout }), "line");
  const pid = Number(line);
  expect(isAlive(pid)).toBe(true);
  holder.kill("SIGKILL");
  await eventually(() => expect(isAlive(pid)).toBe(false));
});
