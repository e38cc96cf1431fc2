import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findJavaParts } from "../src/parts/java-parts.ts";
import { StackError } from "../src/process/stack-error.ts";

/** A distribution of one file, `lib/registry-runner.jar`. */
const ARCHIVE = tarGz("lib/registry-runner.jar", "registry\n");

let folder: string;
let said: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-java-parts-"));
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "registry.tar.gz"), ARCHIVE);
  await install("tar", `exec tar "$@"`);
  said = [];
});

afterEach(() => rm(folder, { recursive: true }));

/** An archive of one file, as tar makes it. */
function tarGz(path: string, text: string): Buffer {
  const scratch = mkdtempSync(join(tmpdir(), "posthaste-archive-"));
  try {
    mkdirSync(join(scratch, dirname(path)), { recursive: true });
    writeFileSync(join(scratch, path), text);
    execFileSync("tar", ["-czf", "archive.tar.gz", path], { cwd: scratch });
    return readFileSync(join(scratch, "archive.tar.gz"));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** Puts a stand-in on a path that has nothing else but the shell's own tools. */
async function install(name: string, script: string): Promise<void> {
  const file = join(folder, "bin", name);
  await writeFile(file, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
  await chmod(file, 0o755);
}

const find = () =>
  findJavaParts({ env: environment(), log: (line) => said.push(line), sums: sumsOf({ "kafka/kafka.jar": "jar\n" }) });

const environment = () => ({ PATH: join(folder, "bin"), POSTHASTE_CACHE_DIR: join(folder, "cache") });

/** As sha512sum prints them; the archive's among them. */
function sumsOf(files: Readonly<Record<string, string | Buffer>>): string {
  const all = Object.entries({ ...files, "archives/registry.tar.gz": ARCHIVE });
  return all.map(([path, bytes]) => `${createHash("sha512").update(bytes).digest("hex")}  ${path}\n`).join("");
}

const JAVA_17 = `echo 'openjdk version "17.0.15" 2025-04-15' >&2`;
/** Counts its runs and fills the folder slowly, as a download does. */
const MAVEN = `
case "$1" in -v) exit 0;; esac
for word in "$@"; do case "$word" in -Dstack.dir=*) target=\${word#-Dstack.dir=};; esac; done
echo run >> "$POSTHASTE_CACHE_DIR/../runs"
for word in "$@"; do case "$word" in -Dmaven.repo.local=*) mkdir "\${word#-Dmaven.repo.local=}";; esac; done
mkdir -p "$target/kafka" "$target/archives"; sleep 0.2; echo jar > "$target/kafka/kafka.jar"
cp "$POSTHASTE_CACHE_DIR/../registry.tar.gz" "$target/archives/"`;

it("says in one line that Java lacks, with the command that mends it", async () => {
  await expect(find()).rejects.toThrow(
    /^Kafka needs Java 17 or newer \(none was found\): (sudo apt-get|brew) install .+$/,
  );
});

it("says which Java it found when that is too old", async () => {
  await install("java", `echo 'openjdk version "11.0.2"' >&2`);
  await expect(find()).rejects.toThrow(/^Kafka needs Java 17 or newer \(found 11\): .+$/);
});

it("says in one line that Maven lacks", async () => {
  await install("java", JAVA_17);
  await expect(find()).rejects.toThrow(
    /^Kafka is fetched by Maven, which was not found: (sudo apt-get|brew) install .+$/,
  );
});

it("fetches once, says so, and needs no Maven afterwards", async () => {
  await install("java", JAVA_17);
  await install("mvn", MAVEN);
  const first = await find();
  expect(said).toEqual(["fetching Apache Kafka and the schema registry (about 200 MB, once)"]);
  await rm(join(folder, "bin", "mvn"));
  expect(await find()).toEqual(first);
  expect(await readFile(join(first.kafka, "kafka.jar"), "utf8")).toBe("jar\n");
  expect(await readFile(join(first.registry, "lib/registry-runner.jar"), "utf8")).toBe("registry\n");
  expect(await readFile(join(folder, "runs"), "utf8")).toBe("run\n");
});

it("JP3: checks every file before it unpacks or hands out any, and deletes all when one is another", async () => {
  await install("java", JAVA_17);
  await install("mvn", `${MAVEN}\necho trojan > "$target/kafka/kafka.jar"`);
  const [good, bad] = ["jar\n", "trojan\n"].map((text) => createHash("sha512").update(text).digest("hex"));
  await expect(find()).rejects.toThrow(
    new StackError(
      "Maven fetched other files than those of packages/local-stack/java/sums.sha512; they were deleted. Something between " +
        "here and Maven Central (a mirror, a proxy) or the sums are wrong:\n" +
        `  kafka/kafka.jar: expected SHA-512 ${good}, got ${bad}`,
    ),
  );
  expect(await readdir(join(folder, "cache"))).toEqual([]);
  // Maven's own copy is among the deleted files, so that the next start fetches again.
  await install("mvn", MAVEN);
  expect(await readFile(join((await find()).kafka, "kafka.jar"), "utf8")).toBe("jar\n");
});

it("JP3: refuses a file that no sum names, and names one that lacks", async () => {
  await install("java", JAVA_17);
  await install("mvn", `${MAVEN}\nmv "$target/kafka/kafka.jar" "$target/kafka/other.jar"`);
  await expect(find()).rejects.toThrow(
    /wrong:\n {2}kafka\/kafka\.jar: not fetched\n {2}kafka\/other\.jar: fetched, though no sum names it$/,
  );
  await install("mvn", `${MAVEN}\necho other > "$target/archives/registry.tar.gz"`);
  await expect(find()).rejects.toThrow(/wrong:\n {2}archives\/registry\.tar\.gz: expected SHA-512/);
  expect(await readdir(join(folder, "cache"))).toEqual([]);
});

it("JP3: takes nothing but the files whose sums stand in the repository, each of a dependency of the pom", async () => {
  await install("java", JAVA_17);
  await install("mvn", MAVEN);
  const refusal: unknown = await findJavaParts({ env: environment(), log: () => {} }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(StackError);
  const lines = String(refusal).split("\n").slice(1);
  expect(lines).toContain("  kafka/kafka.jar: fetched, though no sum names it");
  expect(lines).toContain("  kafka/kafka_2.13-4.1.0.jar: not fetched");
  expect(lines).toContain("  archives/apicurio-registry-app-2.6.13.Final-all.tar.gz: not fetched");
});

it("JP1: two runs at once end with one whole folder and nothing beside it", async () => {
  await install("java", JAVA_17);
  await install("mvn", MAVEN);
  const [one, other] = await Promise.all([find(), find()]);
  expect(one).toEqual(other);
  expect(await readdir(join(folder, "cache"))).toHaveLength(1);
});

it("JP1: leaves nothing behind, and shows what Maven said, when the download fails", async () => {
  await install("java", JAVA_17);
  await install("mvn", `case "$1" in -v) exit 0;; esac; echo 'no route to the repository'; exit 1`);
  await expect(find()).rejects.toThrow(/Maven could not fetch Kafka:\nno route to the repository/);
  expect(await readdir(join(folder, "cache"))).toEqual([]);
});
