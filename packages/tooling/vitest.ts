/** The vitest configurations: of one package from its folder, and of the rings from the root (docs/testing.md). */
import { matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { LONE_TESTS, LONG_TESTS, ofFolder, UNIT_TESTS } from "./test-files.ts";

const failOnConsole = fileURLToPath(new URL("./fail-on-console.ts", import.meta.url));
const shortProperties = fileURLToPath(new URL("./short-properties.ts", import.meta.url));
const kafkaGlobalSetup = fileURLToPath(new URL("./kafka-global-setup.ts", import.meta.url));

/** Mutation testing runs the unit tests of a package alone, hundreds of times. */
const isMutation = process.env["POSTHASTE_MUTATION"] === "true";
/**
 * In a run from the root the files of a project share processes and imported modules: a process costs a file a third
 * of a second of processor time. In a run from a package's folder each file has its own. StrykerJS damages imported
 * modules and needs them imported again.
 */
const isWhole = !isMutation && process.cwd() === fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
/** A third of the unit tests wait, for a socket or a timer of it: two cores carry three at once. */
export const UNIT_RUN = { maxWorkers: 3, sequence: { groupOrder: 0 } };
/** Tests over a broker mostly wait, so two cores carry five. Vitest reads the number from each project alone. */
const BROKER_WORKERS = 5;
/** The same patience as `eventually` of packages/testkit: a stand-still of the machine outlasts vitest's second. */
const POLL_TIMEOUT_MS = 30_000;
/** MiB. With V8's default of 16, a tenth of a test process's time goes to collecting its young objects. */
const YOUNG_MIB = 64;
/** A damage that makes a test wait for ever ends here, before StrykerJS ends the whole process for it. */
const MUTATION_TEST_TIMEOUT_MS = 5000;

export interface ProjectOptions {
  /** Tests need the broker and registry of `KAFKA_BROKERS` and `SCHEMA_REGISTRY_URL`; started for the run if unset. */
  readonly kafka?: boolean;
  readonly testTimeoutMs?: number;
}

/** The configuration of a package's tests; `name` is its folder. A run from the root has the unit tests elsewhere. */
export function projectConfig(name: string, options: ProjectOptions = {}) {
  const { kafka = false, testTimeoutMs = kafka ? 120_000 : 60_000 } = options;
  const units = ofFolder(name, UNIT_TESTS);
  const config = baseConfig(name, isMutation ? MUTATION_TEST_TIMEOUT_MS : testTimeoutMs);
  return defineConfig({
    ...config,
    test: {
      ...config.test,
      include: isMutation ? [...units] : isWhole ? ["test/**/*.test.ts"] : ["src/**/*.test.ts", "test/**/*.test.ts"],
      exclude: [
        ...configDefaults.exclude,
        ...longTests(),
        ...(isWhole ? [...units, ...ofFolder(name, LONE_TESTS)] : []),
      ],
      globalSetup: kafka && !isMutation ? [kafkaGlobalSetup] : [],
      maxWorkers: BROKER_WORKERS,
      sequence: { groupOrder: 1 },
    },
  });
}

/** The unit tests of all packages, in few processes, but for those that need a process each. */
export const unitConfig = () => unitTests("unit", { exclude: [...LONE_TESTS], isolate: false });

/** The unit tests that need a process each. */
export const loneUnitConfig = () => unitTests("unit-alone", { include: LONE_TESTS.filter(isUnit), isolate: true });

/** The tests over a broker that need a process each. */
export function loneConfig() {
  const config = projectConfig("alone", { kafka: true });
  return { ...config, test: { ...config.test, include: LONE_TESTS.filter((test) => !isUnit(test)), isolate: true } };
}

function unitTests(
  name: string,
  { exclude = [], ...others }: { exclude?: string[]; include?: string[]; isolate: boolean },
) {
  const config = baseConfig(name, 60_000);
  return defineConfig({
    ...config,
    test: {
      ...config.test,
      include: [...UNIT_TESTS],
      exclude: [...configDefaults.exclude, ...longTests(), ...exclude],
      ...UNIT_RUN,
      ...others,
    },
  });
}

function isUnit(test: string): boolean {
  return UNIT_TESTS.some((pattern) => matchesGlob(test, pattern));
}

function longTests(): readonly string[] {
  return process.env["POSTHASTE_LONG"] === "true" ? [] : [LONG_TESTS];
}

function baseConfig(name: string, timeoutMs: number) {
  // An array, since a string condition would replace the defaults.
  const conditions = ["@posthaste/source", "node", "import", "module", "default"];
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      setupFiles: isMutation ? [failOnConsole, shortProperties] : [failOnConsole],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      expect: { poll: { timeout: POLL_TIMEOUT_MS } },
      isolate: !isWhole,
      execArgv: [`--min-semi-space-size=${YOUNG_MIB}`, `--max-semi-space-size=${YOUNG_MIB}`],
    },
  };
}
