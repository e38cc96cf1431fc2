/** The control service as a process. */
import { runService } from "@posthaste/runtime/run-service";
import packageJson from "../package.json" with { type: "json" };
import { startControl } from "./app.ts";
import { controlSettings } from "./config.ts";

await runService({
  name: "control",
  version: packageJson.version,
  settings: controlSettings,
  start: ({ config, host, logger, registry, traces, fail }) =>
    startControl({ config, host, version: packageJson.version, log: logger, registry, traces, fail }),
});
