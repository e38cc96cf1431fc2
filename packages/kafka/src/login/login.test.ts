import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type KafkaLogin, refusedLogin, refusedMechanism, runLogin } from "./login.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "login-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Logs in at a broker with these answers, and returns the bytes sent to it. */
async function logIn(login: KafkaLogin, answers: readonly string[] = []): Promise<readonly string[]> {
  const sent: string[] = [];
  await runLogin(login, async (message) => {
    sent.push(message.toString());
    return Buffer.from(answers[sent.length - 1] ?? "");
  });
  return sent;
}

async function tokenFile(text: string): Promise<KafkaLogin> {
  const path = join(folder, "token");
  await writeFile(path, text);
  return { mechanism: "oauthbearer", tokenFile: path };
}

describe("a login", () => {
  it("by plain is one message", async () => {
    const login = { mechanism: "plain", username: "ingest", password: "pass word" } as const;
    expect(await logIn(login)).toEqual(["\0ingest\0pass word"]);
  });

  it("by oauthbearer reads the token each time", async () => {
    const login = await tokenFile("first\n");
    expect(await logIn(login)).toEqual(["n,,\x01auth=Bearer first\x01\x01"]);
    await tokenFile("second");
    expect(await logIn(login)).toEqual(["n,,\x01auth=Bearer second\x01\x01"]);
  });

  it("by oauthbearer is refused by an answer that holds a reason, and tells the broker that it was read", async () => {
    const login = await tokenFile("expired");
    const sent: string[] = [];
    const ended = runLogin(login, async (message) => {
      sent.push(message.toString());
      if (sent.length === 2) throw new Error("the broker ends the login");
      return Buffer.from('{"status":"invalid_token"}');
    });
    await expect(ended).rejects.toMatchObject({ code: "broker_refuses", retryable: true });
    await expect(ended).rejects.toThrow(/KAFKA_SASL_TOKEN_FILE.*token.*expired.*invalid_token/);
    expect(sent).toEqual(["n,,\x01auth=Bearer expired\x01\x01", "\x01"]);
  });

  it("by oauthbearer shows nothing of a token that the broker repeats, wherever its words are cut", async () => {
    const login = await tokenFile("hunter2".repeat(20));
    const ended = logIn(login, [`${"x".repeat(150)} ${"hunter2".repeat(20)}`]);
    await expect(ended).rejects.toThrow(/x{150} \*\*\*\)$/);
  });

  it.each([
    ["", "holds no token"],
    ["two words", "holds no token"],
  ])("by oauthbearer does not begin with the token %j", async (text, message) => {
    await expect(logIn(await tokenFile(text))).rejects.toThrow(message);
  });

  it("by oauthbearer names the file that is not there", async () => {
    const login = { mechanism: "oauthbearer", tokenFile: join(folder, "nothing") } as const;
    await expect(logIn(login)).rejects.toThrow(/KAFKA_SASL_TOKEN_FILE: .*nothing cannot be read \(ENOENT\)/);
  });

  it("that is refused is told with the settings to change, and never with the password", () => {
    const login = { mechanism: "scram-sha-512", username: "ingest", password: "pass word" } as const;
    const { message } = refusedLogin(login, "no such user");
    expect(message).toMatch(/KAFKA_SASL_USERNAME ingest.*scram-sha-512.*KAFKA_SASL_PASSWORD.*no such user/);
    expect(message).not.toContain("pass word");
    expect(refusedMechanism(login, ["PLAIN", "SCRAM-SHA-256"]).message).toMatch(
      /KAFKA_SASL_MECHANISM=scram-sha-512: set it to one of plain, scram-sha-256/,
    );
    expect(refusedMechanism(login, []).message).toMatch(/leave KAFKA_SASL_MECHANISM out/);
  });
});
