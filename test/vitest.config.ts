import { projectConfig } from "@posthaste/tooling/vitest";

export default projectConfig("test", { kafka: true, testTimeoutMs: 180_000 });
