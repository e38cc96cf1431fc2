import { projectConfig } from "@posthaste/tooling/vitest";

export default projectConfig("testbed", { kafka: true });
