import { projectConfig } from "@posthaste/tooling/vitest";

export default projectConfig("operations", { kafka: true });
