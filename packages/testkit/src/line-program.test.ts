import { expect, it } from "vitest";
import { startLineProgram } from "./line-program.ts";

/** Returns its present and its earlier questions; ends at `null`. */
const ECHO = `
const { createInterface } = await import("node:readline");
let before = null;
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  if (question === null) process.exit(1);
  await new Promise((resolve) => setTimeout(resolve, question.waitMs));
  console.log(JSON.stringify([before, question]));
  before = question;
}
`;

const startEcho = () => startLineProgram(["--input-type=module", "--eval", ECHO], {});

it("NP1: answers each question, in the order in which they were asked", async () => {
  const echo = startEcho();
  const [slow, quick] = [{ waitMs: 20, text: "a\nb" }, { waitMs: 0 }];
  expect(await Promise.all([echo.ask(slow), echo.ask(quick)])).toEqual([
    [null, slow],
    [slow, quick],
  ]);
  await echo.close();
});

it("NP2: a question that the program ends without answering rejects, and so does each after it", async () => {
  const echo = startEcho();
  await expect(echo.ask(null)).rejects.toThrow("ended without an answer to null");
  await expect(echo.ask({ waitMs: 0 })).rejects.toThrow("ended without an answer");
  await echo.close();
});
