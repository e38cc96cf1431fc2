import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*/vitest.config.ts", "services/*/vitest.config.ts", "test/vitest.config.ts"],
    // Files that share one broker on two cores: more workers than cores only make the waits longer.
    maxWorkers: 2,
  },
});
