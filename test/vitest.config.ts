import { fileURLToPath } from "node:url";
import { projectConfig } from "@posthaste/tooling/vitest";
import { mergeConfig } from "vitest/config";

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default mergeConfig(projectConfig("test", { kafka: true, testTimeoutMs: 240_000 }), {
  test: {
    // Control serves the console as it was built.
    globalSetup: [fileOf("../packages/console/test/global-setup.ts"), fileOf("e2e/global-setup.ts")],
    // No sources of its own: each folder here is a kind of test.
    include: ["{checks,e2e,faults,load,model,vectors}/**/*.test.ts"],
  },
});
