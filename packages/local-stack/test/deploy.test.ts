/** What stands in the repository for running it as containers: who is given which secret, who reaches it, what gets into an image. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

interface ComposeService {
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
}

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

async function textOf(path: string): Promise<string> {
  return readFile(join(root, path), "utf8");
}

async function composeServices(): Promise<readonly (readonly [string, ComposeService])[]> {
  const { services } = parse(await textOf("deploy/compose.yaml"), { merge: true }) as {
    services: Record<string, ComposeService>;
  };
  return Object.entries(services);
}

describe("compose", () => {
  it("gives the admin token to control alone, and the secret keys to control and delivery alone", async () => {
    const services = await composeServices();
    const holding = (setting: string) =>
      services.filter(([, { environment = {} }]) => setting in environment).map(([name]) => name);
    expect(holding("POSTHASTE_ADMIN_TOKEN")).toEqual(["control"]);
    expect(holding("POSTHASTE_SECRET_KEYS")).toEqual(["delivery", "control"]);
    expect(holding("SCHEMA_REGISTRY_URL")).toEqual(["topics", "ingest", "router", "delivery", "control"]);
  });

  it("hands the networks and ports that webhooks may reach to delivery and control, as they are set, empty by default", async () => {
    const services = await composeServices();
    for (const setting of ["POSTHASTE_ALLOW_NETWORKS", "POSTHASTE_DENY_NETWORKS", "POSTHASTE_WEBHOOK_PORTS"]) {
      const holding = services.filter(([, { environment = {} }]) => setting in environment);
      expect(holding.map(([name]) => name)).toEqual(["delivery", "control"]);
      for (const [, { environment }] of holding) expect(environment?.[setting]).toBe(`\${${setting}:-}`);
    }
  });

  it("publishes its ports on this host alone", async () => {
    const published = (await composeServices()).flatMap(([, { ports = [] }]) => ports);
    expect(published).toEqual(["127.0.0.1:8080:8080", "127.0.0.1:8090:8090", "127.0.0.1:9090:9090"]);
  });
});

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
    expect(installs).toHaveLength(1);
    expect(installs?.[0]).toMatch(/^RUN npm ci --omit=dev --ignore-scripts --workspace=@posthaste\/\$\{SERVICE\}$/);
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
