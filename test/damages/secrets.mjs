/** Damages of the rules that protect secrets, and receivers from them (SECURITY.md). */
import { damagesOf } from "./damages-of.mjs";

const WEBHOOK = "packages/webhook/src";

const answers = damagesOf(`${WEBHOOK}/response.ts`, `${WEBHOOK}/response.test.ts`);
const masks = damagesOf(`${WEBHOOK}/mask.ts`, `${WEBHOOK}/response.test.ts`);
const guard = damagesOf(`${WEBHOOK}/address-guard.ts`, `${WEBHOOK}/address-guard.test.ts`);
const logs = damagesOf("packages/runtime/src/redact.ts", "packages/runtime/src/redact.test.ts");
const texts = damagesOf("packages/runtime/src/redact-text.ts", "packages/runtime/src/redact-text.test.ts");
const settings = damagesOf(
  "packages/core/src/config/destination-settings.ts",
  "packages/core/src/config/destination-settings.test.ts",
);

/** @type {typeof import("./damages.mjs").DAMAGES} */
export const SECRETS = [
  answers(
    "an answer shows the next secret",
    "for (const secret of [active, next, previous])",
    "for (const secret of [active, previous])",
  ),
  answers("an answer shows a secret in base64", "forms.add(whole);", ""),
  answers(
    "an answer shows the password of a Basic pair",
    "for (const known of [pair, password])",
    "for (const known of [pair])",
  ),
  answers("an answer shows the values of static headers", "addForms(forms, value);\n", "\n"),
  masks("an answer shows a secret with escapes", "ranges.push(...encodedRanges(text, search, escapes));", "{}"),
  masks("an answer shows the start of a secret at its cut", "if (begun !== -1) ", "if (false) "),
  masks("an answer shows the start of a secret before an escape that is cut", `.replace(CUT_ESCAPE, "")`, ""),
  guard("168.63.129.16 is let through", `[[ipaddr.IPv4.parse("168.63.129.16"), 32]]`, "[]"),
  guard("ISATAP is let through", "return tunnelled === null || mayReach(tunnelled);", "return true;"),
  guard("denied networks are let through", "if (isIn(denied, address)) return false;\n    if", "if"),
  guard("all ports are let through", "open.size === 0 || open.has(port)", "true"),
  logs("a log masks no texts", "const redacted = redactText(text);", "const redacted = text;"),
  texts("a log shows the start of a token at its cut", `.replace(CUT_INTRODUCED, "$1 ")`, ""),
  logs("a log masks no names", "return isPlain || !isSecretName(name) ?", "return true ?"),
  settings("short secrets are taken", "const MIN_SECRET_LENGTH = 16;", "const MIN_SECRET_LENGTH = 1;"),
  {
    damage: "a secret is sealed without its place",
    file: "packages/contracts/src/secret-box.ts",
    from: `return Buffer.from(JSON.stringify(place), "utf8");`,
    to: `return Buffer.from(place === undefined ? "" : "place", "utf8");`,
    tests: ["packages/contracts/src/secret-box.test.ts", "packages/contracts/src/destination-codec.test.ts"],
  },
  {
    damage: "the data folder is open to others",
    file: "packages/local-stack/src/services/data-folder.ts",
    from: "const FOLDER_MODE = 0o700;",
    to: "const FOLDER_MODE = 0o755;",
    tests: ["packages/local-stack/src/"],
  },
  {
    damage: "the delivery service gets the admin token",
    file: "packages/local-stack/src/services/services.ts",
    from: "return { [SECRET_KEYS]: secretKeys };",
    to: "return { [SECRET_KEYS]: secretKeys, [ADMIN_TOKEN]: adminToken };",
    tests: ["packages/local-stack/src/services/"],
  },
  {
    damage: "Maven's files are not compared with their sums",
    file: "packages/local-stack/src/parts/java-parts.ts",
    from: "const wrong = await findWrongParts(kept, sums);",
    to: "const wrong = (await findWrongParts(kept, sums)).slice(0, 0);",
    tests: ["packages/local-stack/test/java-parts.test.ts"],
  },
  {
    damage: "dedupe's seed is fixed",
    file: "services/router/src/dedupe.ts",
    from: "return { high: randomInt(2 ** 32), low: randomInt(2 ** 32) };",
    to: "return { high: 1, low: 2 };",
    tests: ["services/router/src/dedupe.test.ts"],
  },
];
