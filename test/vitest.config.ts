import { fileURLToPath } from "node:url";
import { projectConfig } from "@posthaste/tooling/vitest";
import { mergeConfig } from "vitest/config";

export default mergeConfig(projectConfig("test", { kafka: true, testTimeoutMs: 240_000 }), {
  test: {
    // Control serves the console as it was built.
    globalSetup: [fileURLToPath(new URL("../packages/console/test/global-setup.ts", import.meta.url))],
    // No sources of its own: each folder here is a kind of test.
    include: ["{checks,e2e,faults,load,model,vectors}/**/*.test.ts"],
    // Most of these files start a whole installation, beside which a process of the file's own costs little.
    isolate: true,
  },
});
