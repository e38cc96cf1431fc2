/** The schema registry of deploy/compose.yaml as a process: its release, and its settings but for addresses. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse } from "yaml";
import { cacheFolder } from "../src/parts/java-parts.ts";
import { findWrongParts } from "../src/parts/part-sums.ts";
import { isFolder, makeWholeFolder } from "../src/parts/whole-folder.ts";
import { GuardedProcess } from "../src/process/guarded-process.ts";
import { findFreePorts } from "../src/process/ports.ts";

const VERSION = "3.0.9";
const ARCHIVE = `apicurio-registry-app-${VERSION}-all.tar.gz`;
const SUM =
  "1ed16d7284599c705a1ccbc551b307064990eb1f58c340e37eedc80716f24aba6216b85db35bc6c1651e44fdfd3598c4c6daa082f18e020e6b8f192036e609c0";
const COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";
const COMPOSE = fileURLToPath(new URL("../../../deploy/compose.yaml", import.meta.url));
/** The archive is whole. Maven wants its parent's pom all the same, which some mirrors lack. */
const PARENT = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>io.apicurio</groupId><artifactId>apicurio-registry</artifactId><version>${VERSION}</version><packaging>pom</packaging></project>
`;

const run = promisify(execFile);

/** The folder of the distribution, fetched by Maven once; a sentence where it cannot be had. */
export async function findComposeRegistry(): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const folder = join(cacheFolder(process.env), `registry-${VERSION}-${SUM.slice(0, 12)}`);
  if (await isFolder(folder)) return { folder };
  try {
    await makeWholeFolder(folder, async ({ kept, scratch }) => {
      const repository = join(scratch, "repository");
      const parent = join(repository, `io/apicurio/apicurio-registry/${VERSION}/apicurio-registry-${VERSION}.pom`);
      await mkdir(dirname(parent), { recursive: true });
      await writeFile(parent, PARENT);
      const archives = join(scratch, "archives");
      const artifact = `io.apicurio:apicurio-registry-app:${VERSION}:tar.gz:all`;
      const places = [`-DoutputDirectory=${archives}`, `-Dmaven.repo.local=${repository}`];
      await run("mvn", ["-q", "-B", COPY, `-Dartifact=${artifact}`, ...places], { cwd: scratch });
      const [wrong] = await findWrongParts(archives, `${SUM}  ${ARCHIVE}\n`);
      if (wrong !== undefined) throw new Error(wrong);
      await run("tar", ["-xzf", join(archives, ARCHIVE), "-C", kept]);
    });
    return { folder };
  } catch (error) {
    const { stdout = "" } = error as { readonly stdout?: string };
    return { missing: `Maven could not fetch ${ARCHIVE}: ${(stdout || String(error)).trim().split("\n")[0]}` };
  }
}

export interface ComposeRegistry {
  readonly process: GuardedProcess;
  readonly root: string;
}

/** Prepares it over a broker; `dataDir` gets its log alone. */
export async function prepareComposeRegistry(
  folder: string,
  { broker, dataDir }: { readonly broker: string; readonly dataDir: string },
): Promise<ComposeRegistry> {
  const { services } = parse(await readFile(COMPOSE, "utf8"), { merge: true }) as {
    readonly services: { readonly registry: { readonly image: string; readonly environment: Record<string, string> } };
  };
  const { image, environment } = services.registry;
  if (!image.endsWith(`:${VERSION}`)) throw new Error(`compose runs ${image}, and the test ${VERSION}`);
  const [port = 0] = await findFreePorts(1);
  const root = `http://127.0.0.1:${port}`;
  const process_ = new GuardedProcess({
    name: "compose-registry",
    command: "java",
    args: [
      "-Xmx256m",
      "-XX:TieredStopAtLevel=1",
      "-XX:+UseSerialGC",
      "-jar",
      `apicurio-registry-app-${VERSION}-runner.jar`,
    ],
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      ...environment,
      APICURIO_KAFKASQL_BOOTSTRAP_SERVERS: broker,
      QUARKUS_HTTP_HOST: "127.0.0.1",
      QUARKUS_HTTP_PORT: String(port),
    },
    logFile: join(dataDir, "compose-registry.log"),
    isReady: async () => (await fetch(`${root}/apis/ccompat/v7/subjects`)).ok,
  });
  return { process: process_, root };
}
