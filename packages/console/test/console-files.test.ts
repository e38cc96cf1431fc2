/** The built pages as a server hands them out; BG1 of first-page.ts. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { answerFile, type ConsoleFiles, readConsoleFiles } from "../served/console-files.ts";

async function built(): Promise<ConsoleFiles> {
  const files = await readConsoleFiles();
  if (files === null) throw new Error("the pages were not built");
  return files;
}

describe("the built pages", () => {
  it("have nothing that moves by itself, so that who asks for less motion has it", async () => {
    const { assets } = await built();
    const styles = [...assets].filter(([path]) => path.endsWith(".css")).map(([, { body }]) => body.toString());
    expect(styles.length).toBeGreaterThan(1);
    expect(
      styles.flatMap((style) => style.match(/\b(?:animation|transition|scroll-behavior)[\w-]*:[^;}]*/g) ?? []),
    ).toEqual([]);
  });

  it("are one page, and what it loads, each by its hash and for good", async () => {
    const { index, assets } = await built();
    expect(index.headers["cache-control"]).toBe("no-cache");
    expect(assets.size).toBeGreaterThan(3);
    for (const [path, { headers }] of assets) {
      expect(path).toMatch(/^\/assets\/[\w.-]+-[\w-]{8}\.(?:js|css|svg|woff2)$/);
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    }
  });

  it("have nothing in the page itself that the policy would not run", async () => {
    const { index } = await built();
    const page = index.body.toString();
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/);
    expect(page).not.toMatch(/(?:src|href)="(?!\/assets\/)/);
  });

  it("BG1: begin with what is small, and imports nothing that is large", async () => {
    const { index, assets } = await built();
    const [, begin = ""] = /<script type="module" crossorigin src="([^"]+)"/.exec(index.body.toString()) ?? [];
    const script = assets.get(begin)?.body.toString() ?? "";
    const imported = [...script.matchAll(/\bfrom ?"\.\/([^"]+)"/g)].map(([, file]) => assets.get(`/assets/${file}`));
    const sizes = [script.length, ...imported.map((file) => file?.body.length ?? Number.NaN)];
    expect(script).toContain("/v1/session");
    expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThan(8192);
  });

  it("are answered zipped to who takes that, and not at all to who has them", async () => {
    const { index } = await built();
    const zipped = answerFile(index, { "accept-encoding": "br, gzip" });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(zipped.body ?? Buffer.alloc(0))).toEqual(index.body);
    const plain = answerFile(index, { "accept-encoding": "gzip;q=0, br" });
    expect([plain.headers["content-encoding"], plain.body]).toEqual([undefined, index.body]);
    const kept = answerFile(index, { "if-none-match": `"other", ${index.etag}` });
    expect([kept.status, kept.body]).toEqual([304, null]);
    expect(answerFile(index, { "if-none-match": '"other"' }).status).toBe(200);
  });

  it("are none where there is no folder of them, and refused where a file is of an unknown kind", async () => {
    const folder = await mkdtemp(join(tmpdir(), "posthaste-console-"));
    try {
      expect(await readConsoleFiles(join(folder, "none"))).toBeNull();
      await writeFile(join(folder, "index.html"), "<!doctype html>");
      await writeFile(join(folder, ".sources"), "hidden");
      expect((await readConsoleFiles(folder))?.assets.size).toBe(0);
      await writeFile(join(folder, "page.exe"), "");
      await expect(readConsoleFiles(folder)).rejects.toThrow("has no media type");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
