import { projectConfig } from "@posthaste/tooling/vitest";

export default projectConfig("local-stack", { testTimeoutMs: 120_000 });
