import { defineConfig } from "vitest/config";
import { loneConfig, loneUnitConfig, unitConfig } from "./packages/tooling/vitest.ts";

export default defineConfig({
  test: {
    projects: [
      unitConfig(),
      loneUnitConfig(),
      loneConfig(),
      "packages/*/vitest.config.ts",
      "services/*/vitest.config.ts",
      "test/vitest.config.ts",
    ],
  },
});
