import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findJavaParts } from "../src/java-parts.ts";

let folder: string;
let said: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-java-parts-"));
  await mkdir(join(folder, "bin"));
  said = [];
});

afterEach(() => rm(folder, { recursive: true }));

/** Puts a stand-in on a path that has nothing else but the shell's own tools. */
async function install(name: string, script: string): Promise<void> {
  const file = join(folder, "bin", name);
  await writeFile(file, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
  await chmod(file, 0o755);
}

const find = () =>
  findJavaParts({
    env: { PATH: join(folder, "bin"), POSTHASTE_CACHE_DIR: join(folder, "cache") },
    log: (line) => said.push(line),
  });

const JAVA_17 = `echo 'openjdk version "17.0.15" 2025-04-15' >&2`;
/** Counts its runs and fills the folder slowly, as a download does. */
const MAVEN = `
case "$1" in -v) exit 0;; esac
for word in "$@"; do case "$word" in -Dstack.dir=*) target=\${word#-Dstack.dir=};; esac; done
echo run >> "$POSTHASTE_CACHE_DIR/../runs"
mkdir -p "$target/kafka" "$target/registry"; sleep 0.2; echo jar > "$target/kafka/kafka.jar"`;

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
  expect(await readFile(join(folder, "runs"), "utf8")).toBe("run\n");
});

it("J1: two runs at once end with one whole folder and nothing beside it", async () => {
  await install("java", JAVA_17);
  await install("mvn", MAVEN);
  const [one, other] = await Promise.all([find(), find()]);
  expect(one).toEqual(other);
  expect(await readdir(join(folder, "cache"))).toHaveLength(1);
});

it("J1: leaves nothing behind, and shows what Maven said, when the download fails", async () => {
  await install("java", JAVA_17);
  await install("mvn", `case "$1" in -v) exit 0;; esac; echo 'no route to the repository'; exit 1`);
  await expect(find()).rejects.toThrow(/Maven could not fetch Kafka:\nno route to the repository/);
  expect(await readdir(join(folder, "cache"))).toEqual([]);
});
