/** The vitest configuration that every package shares. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const failOnConsole = fileURLToPath(new URL("./fail-on-console.ts", import.meta.url));
const shortProperties = fileURLToPath(new URL("./short-properties.ts", import.meta.url));
const kafkaGlobalSetup = fileURLToPath(new URL("./kafka-global-setup.ts", import.meta.url));

/**
 * Mutation testing runs the tests that need no broker, hundreds of times: the unit tests and those that `brokerless`
 * names.
 */
const withoutBroker = process.env["POSTHASTE_MUTATION"] === "true";
/**
 * Test files that run at once. Most of their time is waiting for brokers, so two cores carry three. Vitest takes the
 * number from each project's own configuration, never from the root's, and one less than the cores where there is none:
 * files of two cores would go one by one.
 */
const MAX_WORKERS = 3;
/** A damage that makes a test wait for ever is noticed by this, before StrykerJS ends the whole process for it. */
const MUTATION_TEST_TIMEOUT_MS = 5000;

export interface ProjectOptions {
  /**
   * Tests talk to a real broker and registry: those of `KAFKA_BROKERS` and `SCHEMA_REGISTRY_URL`, else started for the
   * run.
   */
  readonly kafka?: boolean;
  readonly testTimeoutMs?: number;
  /**
   * Nothing in it holds a state between files, so that they may share what they import: quicker where files are many
   * and short.
   */
  readonly pure?: boolean;
  /** Files of `test/` that need no broker. */
  readonly brokerless?: readonly string[];
}

/** The configuration of one package's tests; `name` is what the report calls it. */
export function projectConfig(
  name: string,
  { kafka = false, testTimeoutMs = kafka ? 60_000 : 10_000, pure = false, brokerless = [] }: ProjectOptions = {},
) {
  const timeoutMs = withoutBroker ? MUTATION_TEST_TIMEOUT_MS : testTimeoutMs;
  return defineConfig({
    // An array, since a string condition would replace the defaults.
    resolve: { conditions: ["@posthaste/source", "node", "import", "module", "default"] },
    ssr: { resolve: { conditions: ["@posthaste/source", "node", "import", "module", "default"] } },
    test: {
      name,
      include: withoutBroker ? ["src/**/*.test.ts", ...brokerless] : ["src/**/*.test.ts", "test/**/*.test.ts"],
      setupFiles: withoutBroker ? [failOnConsole, shortProperties] : [failOnConsole],
      globalSetup: kafka && !withoutBroker ? [kafkaGlobalSetup] : [],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      maxWorkers: MAX_WORKERS,
      // StrykerJS damages what is imported, and needs it imported anew.
      isolate: withoutBroker || !pure,
    },
  });
}
