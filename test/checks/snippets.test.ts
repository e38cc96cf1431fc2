/**
 * The blocks of the pages that people copy from. Here are checked: that TypeScript and our client's Go compile, that an
 * npm command names a script, a test and a package that there are, that JSON parses. Other tests run the snippets
 * nearest to them: `services/control/test/docs.test.ts` the commands of docs/control-api.md,
 * `packages/webhook/test/docs.test.ts` the JavaScript, Go and Python of docs/webhooks.md, `test/e2e/browser.test.ts`
 * the lines of a web page in docs/ingest.md, `test/e2e/dead-letter-readers.test.ts` the programs of
 * docs/dead-letters.md, and `test/e2e/local-command.test.ts` the calls of README.md and docs/ingest.md.
 */
import { execFile, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readSnippets, root, type Snippet, snippetsOf } from "./snippets.ts";

const execute = promisify(execFile);
const snippets = readSnippets();
const inLanguage = (...languages: readonly string[]): readonly Snippet[] =>
  snippets.filter(({ language }) => languages.includes(language));
const placeOf = ({ page, line }: Snippet): string => `${page}:${line}`;

/** Languages of which each block is checked, here or where the header says. */
const CHECKED = ["sh", "ts", "js", "json", "diff", "go", "python", "java", "sql", "xml", ""];

/** The lines that a page's code needs and does not show. */
const PRELUDES: Readonly<Record<string, string>> = {
  "packages/webhook/README.md": `
    import type { Destination } from "@posthaste/core/config/destination";
    import { createWebhookSender } from "@posthaste/webhook/sender";
    import type { Registry } from "prom-client";
    declare const registry: Registry, destination: Destination, messageId: string, body: Buffer;
  `,
};

describe("a page", () => {
  it("has blocks, each in a language that is checked", () => {
    expect(snippets.length).toBeGreaterThan(20);
    expect(snippets.filter(({ language }) => !CHECKED.includes(language)).map(placeOf)).toEqual([]);
  });

  it("is read block by block, with the line of each", () => {
    expect(snippetsOf("a.md", "x\n```sh\nls\n```\n\n```\ny\n```\n")).toEqual([
      { page: "a.md", line: 2, language: "sh", code: "ls\n" },
      { page: "a.md", line: 6, language: "", code: "y\n" },
    ]);
  });
});

describe("TypeScript", () => {
  const pages = [...new Set(inLanguage("ts").map(({ page }) => page))];

  it.each(pages)("of %s compiles, a block upon those before it", async (page) => {
    const code = inLanguage("ts")
      .filter((snippet) => snippet.page === page)
      .map((snippet) => snippet.code);
    expect(await faultsOf([PRELUDES[page] ?? "", ...code].join("\n"))).toBe("");
  });

  it("that names what is not there does not", async () => {
    expect(await faultsOf('import { Nobody } from "@posthaste/client";\nnew Nobody();\n')).toContain("Nobody");
  });

  it("is what a change to our client comes to", () => {
    const [change] = inLanguage("diff").filter(({ page }) => page === "packages/client/README.md");
    const added = (change?.code ?? "").split("\n").filter((line) => line.startsWith("+"));
    const shown = inLanguage("ts").find(({ page }) => page === "packages/client/README.md");
    expect(added.length).toBeGreaterThan(0);
    for (const line of added) expect(shown?.code).toContain(line.slice(1));
  });

  /** The compiler's faults of a module; empty for none. */
  async function faultsOf(code: string): Promise<string> {
    const folder = await mkdtemp(join(root, "test", ".snippet-"));
    try {
      await writeFile(join(folder, "snippet.ts"), code);
      const compilerOptions = {
        lib: ["ES2024", "DOM"],
        types: ["node"],
        noUnusedLocals: false,
        noUnusedParameters: false,
      };
      const config = { extends: "../../tsconfig.base.json", compilerOptions, include: ["snippet.ts"] };
      await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
      const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
      const { stdout } = await execute(process.execPath, [compiler, "--noEmit", "-p", folder]).catch(
        (error: { stdout: string }) => error,
      );
      return stdout;
    } finally {
      await rm(folder, { recursive: true });
    }
  }
});

describe("Go", () => {
  it("imports our client by the name of its module", () => {
    const [, module] = /^module (\S+)$/m.exec(readFileSync(join(root, "packages/client-go/go.mod"), "utf8")) ?? [];
    const code = snippets.filter(({ page }) => page === "packages/client-go/README.md").map((each) => each.code);
    const named = [...code.join("\n").matchAll(/posthaste\.example\/[\w-]+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(2);
    expect(new Set(named)).toEqual(new Set([module]));
  });

  const hasGo = spawnSync("go", ["version"]).status === 0;
  if (!hasGo) process.stdout.write("the pages' Go is not compiled: there is no go here\n");

  it.skipIf(!hasGo)("of packages/client-go/README.md compiles in its module", { timeout: 120_000 }, async () => {
    const shown = inLanguage("go").filter(({ page }) => page === "packages/client-go/README.md");
    expect(shown).not.toEqual([]);
    for (const { code } of shown) expect(await goFaultsOf(code)).toBe("");
  });

  it.skipIf(!hasGo)("that names what is not there does not", { timeout: 120_000 }, async () => {
    const code = 'import analytics "posthaste.example/client-go"\n\nerr := analytics.Nobody()\n';
    expect(await goFaultsOf(code)).toContain("Nobody");
  });

  /** The faults that `go vet` finds in a program that makes these imports and then does the rest; empty for none. */
  async function goFaultsOf(code: string): Promise<string> {
    const isImport = (line: string) => line.startsWith("import ");
    const lines = code.split("\n");
    const rest = lines.filter((line) => !isImport(line));
    const program = ["package main", ...lines.filter(isImport), "func main() {", ...rest, "_ = err", "}", ""];
    const folder = await mkdtemp(join(root, "packages", "client-go", ".snippet-"));
    try {
      await writeFile(join(folder, "main.go"), program.join("\n"));
      const vetted = execute("go", ["vet", "."], { cwd: folder });
      return (await vetted.catch((error: { stderr: string }) => error)).stderr;
    } finally {
      await rm(folder, { recursive: true });
    }
  }
});

describe("JSON", () => {
  it.each(inLanguage("json").map((snippet) => [placeOf(snippet), snippet.code]))("of %s parses", (_, code) => {
    expect(JSON.parse(code)).toBeTypeOf("object");
  });
});

describe("an npm command", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const commands = inLanguage("sh").flatMap((snippet) =>
    snippet.code
      .split("\n")
      .map((line) => /\bnpm (?:run --silent |run )?(\S+)(?: -- (.*?))?(?:\s+#.*)?$/.exec(line))
      .flatMap((match) => (match ? [{ place: placeOf(snippet), script: match[1] ?? "", rest: match[2] ?? "" }] : []))
      .filter(({ script }) => script !== "pack" && script !== "install"),
  );

  it.each(commands)("is a script that there is: $script ($place)", ({ script }) => {
    expect(Object.keys(scripts)).toContain(script);
  });

  it.each(commands.filter(({ rest }) => rest !== ""))(
    "names tests that there are: $script $rest",
    ({ script, rest }) => {
      const name = rest.split(" ").find((word) => !word.startsWith("-"));
      // Rounds, words of a damage, and lines of the long ring name no test.
      const isWord = ["test:stress", "test:damages", "test:long"].includes(script) && !name?.includes("/");
      if (name === undefined || isWord) return;
      const path = script === "test:long" ? `${name}{,.test.ts,.long.test.ts}` : `{,packages/,services/}${name}`;
      expect(globSync(path, { cwd: root })).not.toEqual([]);
    },
  );

  it("packs a workspace of ours under the name that the next line installs", () => {
    const [shown] = inLanguage("sh").filter(({ page }) => page === "packages/client/README.md");
    const manifest: unknown = JSON.parse(readFileSync(join(root, "packages/client/package.json"), "utf8"));
    const { name, version } = manifest as { readonly name: string; readonly version: string };
    expect(shown?.code).toContain(`npm pack -w ${name}\n`);
    expect(shown?.code).toContain(`/${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  });
});
