/** The vitest configuration that every package shares. */
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { LONE_TESTS } from "./lone-tests.ts";

const failOnConsole = fileURLToPath(new URL("./fail-on-console.ts", import.meta.url));
const shortProperties = fileURLToPath(new URL("./short-properties.ts", import.meta.url));
const kafkaGlobalSetup = fileURLToPath(new URL("./kafka-global-setup.ts", import.meta.url));

/**
 * Mutation testing runs the tests that need no broker, hundreds of times: the unit tests and those that `brokerless`
 * names.
 */
const withoutBroker = process.env["POSTHASTE_MUTATION"] === "true";
/**
 * In a run from the root of the clone, test files share processes, and what those import: a process of its own costs a
 * file a third of a second of CPU, of which there are hundreds. In a run from a package's own folder each file has its
 * own, and so it has for StrykerJS, which damages what is imported and needs it imported anew.
 */
const sharesProcesses =
  !withoutBroker && process.cwd() === fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
/**
 * Test files that run at once. Most of their time is waiting, and test-order.ts lets few of those that compute run at a
 * time, so two cores carry four. Vitest takes the number from each project's own configuration, never from the root's,
 * and one less than the cores where there is none: files of two cores would go one by one.
 */
const MAX_WORKERS = 4;
/** `expect.poll` waits as `eventually` of packages/testkit does; vitest's own second is over in a stand-still. */
const POLL_TIMEOUT_MS = 30_000;
/** A damage that makes a test wait for ever is noticed by this, before StrykerJS ends the whole process for it. */
const MUTATION_TEST_TIMEOUT_MS = 5000;

export interface ProjectOptions {
  /**
   * Tests talk to a real broker and registry: those of `KAFKA_BROKERS` and `SCHEMA_REGISTRY_URL`, else started for the
   * run.
   */
  readonly kafka?: boolean;
  readonly testTimeoutMs?: number;
  /** Files of `test/` that need no broker. */
  readonly brokerless?: readonly string[];
}

/** The configuration of one package's tests; `name` is what the report calls it. */
export function projectConfig(
  name: string,
  { kafka = false, testTimeoutMs = kafka ? 120_000 : 60_000, brokerless = [] }: ProjectOptions = {},
) {
  const timeoutMs = withoutBroker ? MUTATION_TEST_TIMEOUT_MS : testTimeoutMs;
  return defineConfig({
    // An array, since a string condition would replace the defaults.
    resolve: { conditions: ["@posthaste/source", "node", "import", "module", "default"] },
    ssr: { resolve: { conditions: ["@posthaste/source", "node", "import", "module", "default"] } },
    test: {
      name,
      include: withoutBroker ? ["src/**/*.test.ts", ...brokerless] : ["src/**/*.test.ts", "test/**/*.test.ts"],
      exclude: [...configDefaults.exclude, ...(sharesProcesses ? loneTestsOf(name) : [])],
      setupFiles: withoutBroker ? [failOnConsole, shortProperties] : [failOnConsole],
      globalSetup: kafka && !withoutBroker ? [kafkaGlobalSetup] : [],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      expect: { poll: { timeout: POLL_TIMEOUT_MS } },
      maxWorkers: MAX_WORKERS,
      isolate: !sharesProcesses,
    },
  });
}

/** The tests that need a process each, of all packages; their paths begin at the root of the clone. */
export function loneConfig() {
  const config = projectConfig("alone", { kafka: true });
  return { ...config, test: { ...config.test, include: [...LONE_TESTS], isolate: true } };
}

/** Those of a package or service, by their paths in it. */
function loneTestsOf(name: string): readonly string[] {
  return LONE_TESTS.flatMap((path) => {
    const [, folder, file] = /^(?:packages|services)\/([^/]+)\/(.+)$/.exec(path) ?? [];
    return folder === name && file !== undefined ? [file] : [];
  });
}
