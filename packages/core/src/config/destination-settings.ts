/**
 * The settings of a destination that the control API accepts: zod schemas, the one check of an operator's input. The
 * JSON Schema of the catalogue and of `/openapi.json` is made from them.
 */
import { z } from "zod";
import { MAX_WEBHOOK_URLS, PAYLOADS, RESPONSE_LOGS, SETTLE_RULES, WEBHOOKS } from "./destination.ts";
import { quotedUrl } from "./quoted-url.ts";
import { OPERATIONS_SOURCE } from "./source.ts";
import { nameInput, revisionInput } from "./source-settings.ts";
import { staticHeaderProblems } from "./static-headers.ts";

/** The mask that an answer has in place of a secret; sent back, it keeps the stored value. */
export const MASK = "***";

const MAX_URL_LENGTH = 2048;
/** A shorter secret can be guessed from one signed request, at one HMAC a guess. */
const MIN_SECRET_LENGTH = 16;
const MAX_SECRET_LENGTH = 1024;
const MAX_HEADERS = 50;
/** Receivers take some 8 KB of headers in all. */
const MAX_HEADER_NAME_LENGTH = 256;
const MAX_HEADER_VALUE_LENGTH = 8192;
const MAX_RATE = 100_000;
/** A delivery would wait out its window of four hours at less than a few of these. */
const MIN_RATE = 0.001;

/** A receiver's URL: http or https, in full, without user name or password. */
const urlInput = z
  .string()
  .max(MAX_URL_LENGTH, `a URL has at most ${MAX_URL_LENGTH} characters`)
  .superRefine((url, context) => {
    const problem = urlProblem(url);
    if (problem !== null)
      context.addIssue({ code: "custom", message: url === "" ? problem : `${quotedUrl(url)}: ${problem}` });
  })
  .meta({ format: "uri", description: "Full URL, http or https, without user name or password." });

const webhookUrlInput = z
  .strictObject({
    url: urlInput,
    headers: z
      .record(
        z.string(),
        z.string().max(MAX_HEADER_VALUE_LENGTH, `a header's value has at most ${MAX_HEADER_VALUE_LENGTH} characters`),
      )
      .refine(
        (headers) => Object.keys(headers).every((name) => name.length <= MAX_HEADER_NAME_LENGTH),
        `a header's name has at most ${MAX_HEADER_NAME_LENGTH} characters`,
      )
      .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `a URL has at most ${MAX_HEADERS} headers`)
      .default({})
      .describe(`Static headers of the requests to this URL. They read as "${MASK}"; sent back, that keeps the value.`),
  })
  .superRefine(({ url, headers }, context) => {
    for (const { name, problem } of staticHeaderProblems(headers)) {
      context.addIssue({
        code: "custom",
        path: ["headers", name],
        message: `${quotedUrl(url)}: header ${JSON.stringify(name)} ${problem}`,
      });
    }
  });

const EXPECTED_SECRET =
  `expected a text of ${MIN_SECRET_LENGTH} to ${MAX_SECRET_LENGTH} characters ` +
  "(a shorter one can be guessed from a single signed request)";

/** A shared secret that is being set. A secret that is stored already may be shorter. */
const secretText = z
  .string(EXPECTED_SECRET)
  .min(MIN_SECRET_LENGTH, EXPECTED_SECRET)
  .max(MAX_SECRET_LENGTH, EXPECTED_SECRET)
  .refine((secret) => !hasLoneSurrogate(secret), "half of a surrogate pair has no bytes to sign with");

const sharedSecretInput = z
  .union(
    [secretText, z.literal(MASK), z.strictObject({ set: z.boolean() }), z.null()],
    `${EXPECTED_SECRET}, null to remove it, or what was read: {"set": true}`,
  )
  .describe(
    "Signs every request. A text sets it, at once and in place of a rotation under way; null removes it. It reads as " +
      '{"set": true}; sent back, that keeps the value.',
  );

/** The settings of a Webhooks destination. */
export const destinationSettingsInput = z.strictObject({
  sharedSecret: sharedSecretInput.optional(),
  settle: z
    .enum(SETTLE_RULES, `expected one of ${SETTLE_RULES.join(", ")}`)
    .optional()
    .describe("any: one URL that answers 2xx settles a delivery. each: every URL is retried on its own. Default any."),
  rateLimitPerSecond: z
    .number("expected a number above 0, or null")
    .min(MIN_RATE, `expected ${MIN_RATE} at least, which is a request in 1,000 seconds, or null`)
    .max(MAX_RATE, `expected ${MAX_RATE} at the most`)
    .nullable()
    .optional()
    .describe("Requests per second at the most; null, the default, for no limit."),
  standardWebhooks: z
    .boolean()
    .optional()
    .describe("Also send the headers webhook-id, webhook-timestamp and webhook-signature. Default false."),
  responseLog: z
    .enum(RESPONSE_LOGS, `expected one of ${RESPONSE_LOGS.join(", ")}`)
    .optional()
    .describe(
      "Which response bodies the delivery log keeps the start of. failures: those of requests that failed. all: every one. " +
        "off: none. Default failures.",
    ),
  payload: z
    .enum(PAYLOADS, `expected one of ${PAYLOADS.join(", ")}`)
    .optional()
    .describe(
      "documented: bodies have the documented shapes. full: beside those they carry what the call had besides: a page's name " +
        "and category, a screen's properties and category, messageId, receivedAt, sentAt, originalTimestamp, " +
        "integrations. Of events that are routed from then on. Default documented.",
    ),
  urls: z
    .array(webhookUrlInput, `expected a list of 1 to ${MAX_WEBHOOK_URLS} URLs, each {"url": …}`)
    .min(1, "at least one URL is needed")
    .max(MAX_WEBHOOK_URLS, `a destination has at most ${MAX_WEBHOOK_URLS} URLs`)
    .superRefine((urls, context) => {
      urls.forEach(({ url }, index) => {
        if (urls.findIndex((other) => other.url === url) === index) return;
        context.addIssue({ code: "custom", path: [index, "url"], message: `${quotedUrl(url)} stands twice` });
      });
    })
    .describe(`Where events go: ${MAX_WEBHOOK_URLS} URLs at the most, all sent to at once.`),
});

const sourceIdsInput = z
  .array(z.string("expected the id of a source"), "expected a list of the ids of sources")
  .max(1000, "a destination has at most 1000 sources")
  .refine((ids) => new Set(ids).size === ids.length, "a source stands twice")
  .describe(`The sources whose events it gets; ${OPERATIONS_SOURCE.id} alone for operational events.`);

export const destinationInput = z.strictObject({
  type: z.literal(WEBHOOKS, `expected "${WEBHOOKS}"`),
  name: nameInput,
  sourceIds: sourceIdsInput.default([]),
  enabled: z.boolean().default(true),
  settings: destinationSettingsInput,
});
export type DestinationInput = z.output<typeof destinationInput>;

/** A change: an absent field stays as it is, `settings` is merged key by key, and a list is replaced as a whole. */
export const destinationPatch = z.strictObject({
  revision: revisionInput,
  type: destinationInput.shape.type.optional(),
  name: nameInput.optional(),
  sourceIds: sourceIdsInput.optional(),
  enabled: z.boolean().optional(),
  settings: destinationSettingsInput.partial().optional(),
});
export type DestinationPatch = z.output<typeof destinationPatch>;
export type SettingsPatch = NonNullable<DestinationPatch["settings"]>;

/**
 * The body that names the next shared secret. It takes no mask, since no next secret is stored that a mask could keep.
 */
export const nextSecretInput = z.strictObject({ sharedSecret: secretText });

/** Why a URL is refused, or null. */
function urlProblem(url: string): string | null {
  // A URL parser skips further slashes, and would find a host, or a user name, behind them.
  if (!/^https?:\/\/(?!\/)/i.test(url)) return "expected a full URL that begins with http:// or https://";
  // A URL parser drops tabs and line ends and reads a backslash as a slash: people would see another address than is
  // called.
  if (/[\s\\\p{Cc}]/u.test(url)) return "a URL holds no white space, control character or backslash";
  if (/^https?:\/\/[^/?#]*@/i.test(url)) return "a URL may not hold a user name or password: use a header";
  if (hasLoneSurrogate(url) || !z.url().safeParse(url).success) return "this is not a URL";
  if (/^https?:\/\/[^/?#]*:0+(?:[/?#]|$)/i.test(url))
    return "nothing can be reached at port 0: give a port from 1 to 65535";
  return null;
}

function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}
