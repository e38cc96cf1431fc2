import { projectConfig } from "@posthaste/tooling/vitest";

export default projectConfig("dead-letters", { kafka: true });
