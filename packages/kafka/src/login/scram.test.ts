import { describe, expect, it } from "vitest";
import { runScram, type ScramLogin } from "./scram.ts";

/** The exchange in RFC 7677, section 3. */
const LOGIN: ScramLogin = { digest: "sha256", username: "user", password: "pencil", nonce: "rOprNGfwEbeRWgbNEkqO" };
const SERVER_FIRST = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
const SERVER_LAST = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

/** Logs in at a server with these answers, and returns the messages sent to it. */
async function logIn(answers: readonly string[], login: Partial<ScramLogin> = {}): Promise<readonly string[]> {
  const sent: string[] = [];
  await runScram({ ...LOGIN, ...login }, async (message) => {
    sent.push(message.toString());
    return Buffer.from(answers[sent.length - 1] ?? "");
  });
  return sent;
}

describe("SCRAM", () => {
  it("sends what RFC 7677 has in its example", async () => {
    expect(await logIn([SERVER_FIRST, SERVER_LAST])).toEqual([
      "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
      "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    ]);
  });

  it("sends a comma and an equals sign of the name as RFC 5802 wants them", async () => {
    const sent: string[] = [];
    const ended = runScram({ ...LOGIN, username: "a=b,c" }, async (message) => {
      sent.push(message.toString());
      throw new Error("enough");
    });
    await expect(ended).rejects.toThrow("enough");
    expect(sent).toEqual(["n,,n=a=3Db=2Cc,r=rOprNGfwEbeRWgbNEkqO"]);
  });

  it.each([
    ["a nonce that is not ours", ["r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"]],
    ["our nonce alone", ["r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"]],
    ["few iterations", [SERVER_FIRST.replace("i=4096", "i=4095")]],
    ["endless iterations", [SERVER_FIRST.replace("i=4096", "i=4000000000")]],
    ["a signature by another password", [SERVER_FIRST, SERVER_LAST.replace("v=6", "v=7")]],
    ["no signature", [SERVER_FIRST, ""]],
  ])("trusts no broker that answers with %s", async (_, answers) => {
    await expect(logIn(answers)).rejects.toMatchObject({ code: "broker_refuses", retryable: true });
  });
});
