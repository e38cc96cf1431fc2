import { loneConfig } from "./packages/tooling/vitest.ts";

export default loneConfig();
