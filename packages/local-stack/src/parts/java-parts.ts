/**
 * The files of Apache Kafka and of the schema registry on this machine. Maven fetches them once into a cache that all
 * clones share.
 *
 * JP1  A folder in the cache is whole (whole-folder.ts).
 * - The folder's name holds a digest of the pom and of the sums, so another version is another folder.
 * JP3  Every file is checked against its SHA-512 sum in the repository before it is unpacked or run. A wrong file is
 *      deleted with all files that came with it, Maven's own copy included.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { StackError } from "../process/stack-error.ts";
import { findWrongParts } from "./part-sums.ts";
import { type Filling, isFolder, makeWholeFolder } from "./whole-folder.ts";

const run = promisify(execFile);
const pomFile = fileURLToPath(new URL("../../java/pom.xml", import.meta.url));
const sumsFile = fileURLToPath(new URL("../../java/sums.sha512", import.meta.url));

/** The oldest Java that Kafka 4 and the registry run on. */
const JAVA_VERSION = 17;

export interface JavaParts {
  /** The folder that holds both. */
  readonly folder: string;
  /** Folder of jars. */
  readonly kafka: string;
  /** Folder of the registry's distribution. */
  readonly registry: string;
  /** The output of `java -version` of the Java that was found. */
  readonly java: string;
}

export interface JavaPartsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with a line for each step that takes long. */
  readonly log: (line: string) => void;
  /** The sums of the files, as sha512sum prints them; the repository's sums by default. */
  readonly sums?: string;
}

/**
 * Returns the files, and fetches them when they are not in the cache. Throws StackError with the command that helps
 * when Java or Maven is missing, and with the names of the files whose sums are wrong (JP3).
 */
export async function findJavaParts({ env, log, ...options }: JavaPartsOptions): Promise<JavaParts> {
  const java = await assertJava(env);
  const sums = options.sums ?? (await readFile(sumsFile, "utf8"));
  const digest = createHash("sha256")
    .update(await readFile(pomFile))
    .update(sums)
    .digest("hex")
    .slice(0, 12);
  const folder = join(cacheFolder(env), `java-${digest}`);
  if (!(await isFolder(folder))) {
    await assertMaven(env);
    log("fetching Apache Kafka and the schema registry (about 200 MB, once)");
    await makeWholeFolder(folder, (filling) => fetchParts(filling, { env, sums }));
  }
  return { folder, kafka: join(folder, "kafka"), registry: join(folder, "registry"), java };
}

/** `POSTHASTE_CACHE_DIR`, else `posthaste` in the user's cache folder. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env["POSTHASTE_CACHE_DIR"]) return env["POSTHASTE_CACHE_DIR"];
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "posthaste");
}

/** The major version in the output of `java -version`, or undefined for another text. */
export function javaMajorVersion(text: string): number | undefined {
  const match = /version "(\d+)(?:\.(\d+))?/.exec(text);
  if (!match) return undefined;
  // Java 8 calls itself 1.8.
  return match[1] === "1" ? Number(match[2]) : Number(match[1]);
}

/** Returns the output of `java -version`. */
async function assertJava(env: NodeJS.ProcessEnv): Promise<string> {
  const said = await run("java", ["-version"], { env }).then(
    ({ stdout, stderr }) => stdout + stderr,
    () => "",
  );
  const version = javaMajorVersion(said);
  if (version !== undefined && version >= JAVA_VERSION) return said;
  const found = version === undefined ? "none was found" : `found ${version}`;
  throw new StackError(`Kafka needs Java ${JAVA_VERSION} or newer (${found}): ${installCommand("java")}`);
}

async function assertMaven(env: NodeJS.ProcessEnv): Promise<void> {
  await run("mvn", ["-v"], { env }).catch(() => {
    throw new StackError(`Kafka is fetched by Maven, which was not found: ${installCommand("maven")}`);
  });
}

function installCommand(what: "java" | "maven"): string {
  if (process.platform === "darwin") return `brew install ${what === "java" ? "openjdk@17" : "maven"}`;
  return `sudo apt-get install -y ${what === "java" ? "openjdk-17-jre-headless" : "maven"}`;
}

interface Fetching {
  readonly env: NodeJS.ProcessEnv;
  readonly sums: string;
}

async function fetchParts({ kept, scratch }: Filling, { env, sums }: Fetching): Promise<void> {
  await runMaven(scratch, kept, env);
  const wrong = await findWrongParts(kept, sums);
  if (wrong.length > 0) {
    throw new StackError(
      `Maven fetched other files than those of packages/local-stack/java/sums.sha512; they were deleted. Something between here ` +
        `and Maven Central (a mirror, a proxy) or the sums are wrong:\n${wrong.map((line) => `  ${line}`).join("\n")}`,
    );
  }
  await unpackArchives(kept, env);
}

async function runMaven(scratch: string, parts: string, env: NodeJS.ProcessEnv): Promise<void> {
  // Maven writes beside the pom that it runs.
  await copyFile(pomFile, join(scratch, "pom.xml"));
  // A repository of its own: a wrong file in the user's would come again at every start.
  const places = [`-Dstack.dir=${parts}`, `-Dmaven.repo.local=${join(scratch, "repository")}`];
  await run("mvn", ["-q", "-B", "process-resources", ...places], {
    cwd: scratch,
    env,
    maxBuffer: 16 * 1024 * 1024,
  }).catch((error: { stdout?: string; stderr?: string }) => {
    throw new StackError(`Maven could not fetch Kafka:\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  });
}

async function unpackArchives(parts: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [archives, registry] = [join(parts, "archives"), join(parts, "registry")];
  await mkdir(registry);
  for (const archive of await readdir(archives)) {
    await run("tar", ["-xzf", join(archives, archive), "-C", registry], { env }).catch((error: { stderr?: string }) => {
      throw new StackError(`${archive} could not be unpacked by tar: ${error.stderr ?? String(error)}`);
    });
  }
  await rm(archives, { recursive: true });
}
