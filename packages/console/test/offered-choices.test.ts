/** The actions that a page offers, and no others: SR2 of secret-part.tsx, TD2 of conflict-dialog.tsx. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";

interface Configured {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
}

const SOURCE = exampleOf("GET /v1/sources/{id}").body as Configured;
const DESTINATION = exampleOf("GET /v1/destinations/{id}").body as Configured;

startConsole();

describe("SR2: a destination's secret", () => {
  it.each([
    ["none", "Requests are not signed.", ["Sign by a new secret"]],
    ["active", "Requests are signed by one secret.", ["Rotate", "Replace it at once"]],
    [
      "next",
      "The next secret is named",
      [
        // The lines' own, which copies them, has no words.
        ...["", "Check: send a test signed by the next secret"],
        ...["Switch all the same", "Forget the next secret", "Replace it at once"],
      ],
    ],
    [
      "switched",
      "Requests are signed by the new secret",
      ["Retire the old secret", "Go back to the old one", "Replace it at once"],
    ],
  ])("at the stage %s has just these ways on", async (secretStage, words, ways) => {
    const page = await visit(`/destinations/${DESTINATION.id}?tab=secret`, {
      "GET /v1/destinations/{id}": { body: { ...DESTINATION, secretStage } },
    });
    const part = page.getByRole("tabpanel");
    await part.getByText(words).waitFor();
    await poll(() => part.getByRole("button").allInnerTexts()).toEqual(ways);
  });
});

describe("TD2: a form that somebody else saved meanwhile", () => {
  it("has theirs where that is chosen, goes on from it, and sends nothing of one's own", async () => {
    const theirs = { ...SOURCE, name: "Theirs", revision: SOURCE.revision + 7 };
    const answers = {
      "PATCH /v1/sources/{id}": problem(409, "the revision is no longer the newest"),
      "GET /v1/sources/{id}": { body: theirs },
    };
    const page = await visit(`/sources/${SOURCE.id}`);
    const name = page.getByLabel("Name");
    await name.fill("Mine");
    control.answer(answers);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Take theirs" }).click();
    await page.getByRole("heading", { name: "Theirs", exact: true }).waitFor();
    await poll(() => name.inputValue()).toBe("Theirs");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const saves = () =>
      control.requests.filter(({ operation }) => operation === "PATCH /v1/sources/{id}").map(({ body }) => body);
    expect(saves()).toMatchObject([{ revision: SOURCE.revision }]);
    await name.fill("Mine after theirs");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await poll(saves).toMatchObject([{ revision: SOURCE.revision }, { revision: theirs.revision }]);
  });
});
