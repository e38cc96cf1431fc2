import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BINARY } from "./fake-control.ts";
import { runCommand } from "./test-terminal.ts";

/** The completions of the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runCommand(["complete", "--", ...words]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout
    .split("\n")
    .filter((line) => line.includes("\t"))
    .map((line) => line.split("\t")[0] ?? "");
}

describe("completion", () => {
  it.each([
    [["dead-l"], ["dead-letters"]],
    [["dead-letters", "re"], ["replay"]],
    [["dead-letters", "list", "--re"], ["--reason"]],
    [["deliveries", "--fo"], ["--follow"]],
    [
      ["dead-letters", "export", "--format", ""],
      ["ndjson", "csv", "parquet"],
    ],
    [["dead-letters", "export", "--format", "c"], ["csv"]],
    [["sources", "list", "--js"], ["--json"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "powershell"],
    ],
    [
      ["--json", "audi"],
      ["audiences", "audit"],
    ],
    [["nothing-such"], []],
  ])("after %j offers %j", async (words, expected) => {
    expect((await offered(...words)).toSorted()).toEqual(expected.toSorted());
  });

  it("does not offer what only shells ask", async () => {
    expect(await offered("compl")).toEqual(["completion"]);
  });

  it.each(["bash", "zsh", "fish", "powershell"])("has a script for %s that asks this command", async (shell) => {
    const { code, stdout } = await runCommand(["completion", shell]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/posthaste complete '?--/)]);
  });

  it("refuses another shell with 2", async () => {
    const { code, stderr } = await runCommand(["completion", "tcsh"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Allowed choices are bash, zsh, fish, powershell")]);
  });

  it("works in bash: Tab completes a command and its option", async () => {
    const folder = await mkdtemp(join(tmpdir(), "posthaste-completion-"));
    await writeFile(join(folder, "posthaste"), `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`);
    await chmod(join(folder, "posthaste"), 0o755);
    const tab = (line: string) => `
      COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}
      COMP_WORDS=($COMP_LINE); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      COMPREPLY=(); __posthaste_complete; echo "\${COMPREPLY[@]}"`;
    // As the package bash-completion has it.
    const words = `_get_comp_words_by_ref() {
      words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD
      cur="\${COMP_WORDS[COMP_CWORD]}"; prev="\${COMP_WORDS[COMP_CWORD - 1]}"
    }`;
    const lines = [words, "source <(posthaste completion bash)", tab("posthaste dead-l"), tab("posthaste audit --fo")];
    const { stdout } = spawnSync("bash", ["--norc", "-c", lines.join("\n")], {
      env: { PATH: `${folder}:${process.env.PATH}`, POSTHASTE_DATA_DIR: "/nonexistent" },
    });
    expect(
      stdout
        .toString()
        .trim()
        .split("\n")
        .map((line) => line.trim()),
    ).toEqual(["dead-letters", "--follow"]);
    await rm(folder, { recursive: true });
  });
});
