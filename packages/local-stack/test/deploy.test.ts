/** The repository's files for images: their content, and their pins. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFlagsOf, SERVICE_NAMES } from "../src/services/services.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

async function textOf(path: string): Promise<string> {
  return readFile(join(root, path), "utf8");
}

describe("an image", () => {
  it("holds none of the packages that only development uses", async () => {
    const { stdout } = await run("npm", ["ls", "--all", "--omit=dev", "--package-lock-only", "--parseable"], {
      cwd: root,
    });
    const installed = stdout.split("\n").map((path) => path.split("node_modules/").at(-1));
    expect(installed).toContain("fastify");
    const development = [
      ...[
        "testcontainers",
        "dockerode",
        "vitest",
        "vite",
        "esbuild",
        "rolldown",
        "typescript",
        "turbo",
        "knip",
        "yaml",
      ],
      ...["@biomejs/biome", "@stryker-mutator/core", "fast-check"],
    ];
    expect(development.filter((name) => installed.includes(name))).toEqual([]);
  });

  it("holds what its own service runs on, installed without development packages and without scripts", async () => {
    const installs = (await textOf("deploy/Dockerfile")).match(/^RUN .*\bnpm .*$/gm);
    // The tools that built the pages go with the install after it.
    expect(installs).toHaveLength(2);
    expect(installs?.[0]).toMatch(/^RUN if \[ \$\{SERVICE\} = control \]; then npm ci --ignore-scripts /);
    expect(installs?.[1]).toMatch(/^RUN npm ci --omit=dev --ignore-scripts --workspace=@posthaste\/\$\{SERVICE\}$/);
  });

  it.each(SERVICE_NAMES)("starts %s with the flags that it has without containers", async (name) => {
    const command = /^CMD (?<words>\[.*\])$/m.exec(await textOf("deploy/Dockerfile"))?.groups?.["words"] ?? "[]";
    const [shell, ...words] = JSON.parse(command) as [string, ...string[]];
    const bin = await mkdtemp(join(tmpdir(), "posthaste-bin-"));
    try {
      await writeFile(join(bin, "node"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
      const { stdout } = await run(shell, words, { env: { PATH: bin, SERVICE: name } });
      expect(stdout.trim().split("\n")).toEqual([...nodeFlagsOf(name), `services/${name}/src/main.ts`]);
    } finally {
      await rm(bin, { recursive: true });
    }
  });
});

describe("the check of pins", () => {
  const COMMIT = "3".repeat(40);
  const DIGEST = `sha256:${"d".repeat(64)}`;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "posthaste-pins-"));
    for (const path of [".github/workflows", "deploy"]) await mkdir(join(folder, path), { recursive: true });
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function check(action: string, base: string, image: string): Promise<{ code: unknown; said: string }> {
    await writeFile(join(folder, ".github/workflows/ci.yml"), `steps:\n  - uses: ./local\n  - uses: ${action}\n`);
    await writeFile(join(folder, "deploy/Dockerfile"), `FROM ${base} AS one\nFROM one\n`);
    await writeFile(join(folder, "deploy/compose.yaml"), `services:\n  a:\n    image: ${image}\n`);
    return run(process.execPath, [join(root, "scripts/check-pins.mjs"), folder]).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      (error: { code: unknown; stdout: string }) => ({ code: error.code, said: error.stdout }),
    );
  }

  it("takes an action at a commit and images at digests", async () => {
    const { code, said } = await check(`a/b@${COMMIT} # v4`, `node:24@${DIGEST}`, `"kafka:4@${DIGEST}"`);
    expect(said).toBe("2 actions, 2 images, 0 not pinned\n");
    expect(code).toBe(0);
  });

  it.each([
    ["actions/checkout@v4", ".github/workflows/ci.yml:3: actions/checkout@v4 is not at a commit"],
    ["actions/checkout@3333333", ".github/workflows/ci.yml:3: actions/checkout@3333333 is not at a commit"],
    ["docker://alpine:3", ".github/workflows/ci.yml:3: docker://alpine:3 is not at a commit"],
  ])("refuses the action %s", async (action, line) => {
    const { code, said } = await check(action, `node:24@${DIGEST}`, `kafka:4@${DIGEST}`);
    expect(said).toBe(`${line}\n2 actions, 2 images, 1 not pinned\n`);
    expect(code).toBe(1);
  });

  it("refuses a base image and an image of compose by their tags", async () => {
    const { code, said } = await check(`a/b@${COMMIT}`, "node:24-slim", "apache/kafka:4.1.0");
    expect(said.split("\n").slice(0, 2)).toEqual([
      "deploy/Dockerfile:1: node:24-slim is not at a digest",
      "deploy/compose.yaml:3: apache/kafka:4.1.0 is not at a digest",
    ]);
    expect(code).toBe(1);
  });

  it("finds nothing in this repository", async () => {
    const { stdout } = await run(process.execPath, [join(root, "scripts/check-pins.mjs")]);
    expect(stdout).toMatch(/^\d+ actions, 8 images, 0 not pinned\n$/);
  });
});

/** As Docker does: the last line that names a path, or a folder that it lies in, decides. */
function isIgnored(path: string, lines: readonly string[]): boolean {
  const places: string[] = [];
  for (let place = path; place !== "."; place = dirname(place)) places.push(place);
  const last = lines.findLast((line) => places.some((place) => patternOf(line.replace(/^!/, "")).test(place)));
  return last !== undefined && !last.startsWith("!");
}

/** An asterisk stands for any characters but a slash, a leading dot among them; two for any folders, or none. */
function patternOf(glob: string): RegExp {
  const source = glob.replaceAll(/\*\*\/|\*|\./g, (part) =>
    part === "**/" ? "(.+/)?" : part === "*" ? "[^/]*" : "\\.",
  );
  return new RegExp(`^${source}$`);
}

describe(".dockerignore", () => {
  it.each([
    ".posthaste/admin-token",
    ".posthaste-other/secret-keys",
    "packages/local-stack/.posthaste/admin-token",
    "services/control/.env",
    ".env.local",
    ".git/config",
    "node_modules/zod/package.json",
    "packages/core/node_modules/zod/package.json",
    "services/ingest/ingest.log",
    "docs/design.md",
    "test/e2e/installation.ts",
  ])("keeps %s out of an image", async (path) => {
    expect(isIgnored(path, await ignoreLines())).toBe(true);
  });

  it("leaves what deploy/Dockerfile copies", async () => {
    const copied = (await textOf("deploy/Dockerfile"))
      .split("\n")
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(" ").slice(1, -1));
    expect(copied).toContain("package-lock.json");
    const lines = await ignoreLines();
    expect(copied.filter((path) => isIgnored(path, lines))).toEqual([]);
    expect(isIgnored("services/control/src/main.ts", lines)).toBe(false);
  });
});

async function ignoreLines(): Promise<readonly string[]> {
  return (await textOf(".dockerignore")).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}
