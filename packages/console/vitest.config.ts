import { fileURLToPath } from "node:url";
import { projectConfig } from "@posthaste/tooling/vitest";
import { mergeConfig } from "vitest/config";

export default mergeConfig(projectConfig("console", { testTimeoutMs: 120_000 }), {
  test: { globalSetup: [fileURLToPath(new URL("./test/global-setup.ts", import.meta.url))] },
});
