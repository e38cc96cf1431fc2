import { projectConfig } from "@posthaste/tooling/vitest";
import { mergeConfig } from "vitest/config";

export default mergeConfig(projectConfig("test", { kafka: true, testTimeoutMs: 180_000 }), {
  // No sources of its own: each folder here is a kind of test.
  test: { include: ["{checks,e2e,faults,load,model,vectors}/**/*.test.ts"] },
});
