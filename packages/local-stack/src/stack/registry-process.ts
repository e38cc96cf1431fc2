/** Runs the schema registry (Apicurio, by its Confluent-compatible API) as a plain process. */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ClassArchive, classArchiveArguments } from "../parts/class-archive.ts";
import { GuardedProcess } from "../process/guarded-process.ts";
import { findFreePorts } from "../process/ports.ts";
import { StackError } from "../process/stack-error.ts";
import type { StackProcess } from "../process/stack-process.ts";

export interface RegistryProcessOptions {
  /** Folder of the unpacked distribution. */
  readonly distribution: string;
  readonly dataDir: string;
  readonly shortLived: boolean;
  readonly classes?: ClassArchive | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onUnexpectedExit: (name: string, reason: string) => void;
}

/** The path of the Confluent API under the registry's root. */
export const CONFLUENT_API_PATH = "/apis/ccompat/v7";

/** The process `schema-registry`, not started yet, and the URL of its Confluent API. */
export async function prepareRegistry(
  options: RegistryProcessOptions,
): Promise<{ readonly process: StackProcess; readonly url: string }> {
  const { distribution, dataDir, env } = options;
  const [port] = await findFreePorts(1);
  const url = `http://127.0.0.1:${port}${CONFLUENT_API_PATH}`;
  await mkdir(dataDir, { recursive: true });
  const registry = new GuardedProcess({
    name: "schema-registry",
    command: "java",
    args: [
      "-Xmx256m",
      ...(options.shortLived ? ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] : []),
      ...classArchiveArguments(options.classes),
      "-Dquarkus.http.host=127.0.0.1",
      `-Dquarkus.http.port=${port}`,
      // In its default, memory, the registry forgets every schema at its end, and ids would then name the wrong schema.
      `-Dquarkus.datasource.jdbc.url=jdbc:h2:file:${join(dataDir, "schema-registry")}`,
      "-jar",
      await findRunner(distribution),
    ],
    cwd: distribution,
    env,
    logFile: join(dataDir, "schema-registry.log"),
    isReady: async () => (await fetch(`${url}/subjects`)).ok,
    onUnexpectedExit: options.onUnexpectedExit,
  });
  return { process: registry, url };
}

async function findRunner(distribution: string): Promise<string> {
  const runner = (await readdir(distribution)).find((file) => file.endsWith("-runner.jar"));
  if (!runner) throw new StackError(`no registry in ${distribution}: delete that folder and start again`);
  return join(distribution, runner);
}
