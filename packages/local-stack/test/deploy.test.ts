/** What stands in the repository for running it as containers: who is given which secret, who reaches it, what gets into an image. */
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

interface ComposeService {
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
}

async function textOf(path: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");
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

  it("publishes its ports on this host alone", async () => {
    const published = (await composeServices()).flatMap(([, { ports = [] }]) => ports);
    expect(published).toEqual(["127.0.0.1:8080:8080", "127.0.0.1:8090:8090", "127.0.0.1:9090:9090"]);
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
