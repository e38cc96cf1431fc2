import { projectConfig } from "@posthaste/tooling/vitest";

export default projectConfig("ingest", { kafka: true });
