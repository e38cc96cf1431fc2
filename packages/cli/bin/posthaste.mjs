#!/usr/bin/env node
// Starts the command, which is TypeScript that Node runs as it stands from 22.18 on. An older Node hands over to the
// one that this project installs.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > 22 || (major === 22 && minor >= 18)) {
  const { enableCompileCache } = await import("node:module");
  // What was stripped and compiled is kept in the system's folder for such: --help takes half the time.
  enableCompileCache();
  await import("../src/main.ts");
} else {
  const { spawn } = await import("node:child_process");
  const { fileURLToPath } = await import("node:url");
  const node = fileURLToPath(new URL("../../../node_modules/.bin/node", import.meta.url));
  const self = fileURLToPath(import.meta.url);
  const child = spawn(node, [self, ...process.argv.slice(2)], { stdio: "inherit" });
  // The child has the terminal's Ctrl-C too, and says how it ended.
  process.on("SIGINT", () => {});
  child.on("error", () => {
    process.stderr.write(
      `posthaste: Node ${process.versions.node} is too old for it\n  npm install brings a newer one\n`,
    );
    process.exitCode = 1;
  });
  child.on("exit", (code) => {
    process.exitCode = code ?? 130;
  });
}
