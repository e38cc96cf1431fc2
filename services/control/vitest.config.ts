import { projectConfig } from "@posthaste/tooling/vitest";

export default projectConfig("control", { kafka: true });
