// npm start: installs missing packages, builds the web pages where their sources changed, then runs the local command
// under Node 24.
import { isBuilt } from "../packages/console/build/sources.mjs";
import { exitCode, install, passSignals, spawnNode } from "./bootstrap.mjs";

install();
if (!isBuilt()) {
  console.log("building the console");
  const code = await exitCode(spawnNode(["packages/console/build/main.ts"]));
  if (code !== 0) process.exit(code);
}
// The command ends when its standard input closes, so it does not outlive this process.
const child = spawnNode(["packages/local-stack/src/main.ts", ...process.argv.slice(2)], {
  stdio: ["pipe", "inherit", "inherit"],
});
passSignals(child);

// Under npm (which needs the `exec` of the script line) the parent is npm; when that is killed nobody tells us.
if (process.env.npm_lifecycle_event === "start") {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) child.kill("SIGTERM");
  }, 1_000).unref();
}
process.exit(await exitCode(child));
