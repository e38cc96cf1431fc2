import { defineConfig } from "vitest/config";
import { BusySpread } from "./packages/tooling/test-order.ts";

export default defineConfig({
  test: {
    projects: [
      "packages/*/vitest.config.ts",
      "services/*/vitest.config.ts",
      "test/vitest.config.ts",
      "vitest.alone.config.ts",
    ],
    // How many files run at once is each project's (packages/tooling/vitest.ts): vitest does not hand on what stands here.
    sequence: { sequencer: BusySpread },
  },
});
