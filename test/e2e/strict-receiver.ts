/**
 * A customer's endpoint that refuses requests with a wrong signature, as its own code would: a Standard Webhooks
 * library that is given one secret, and a check of `X-Signature` by a list of them.
 */
import { createHmac } from "node:crypto";
import type { Answer, ReceivedRequest } from "@posthaste/testkit/receiver";

export interface StrictReceiver {
  /** Its answer to a request; 401 to one with a wrong signature. */
  readonly answer: (request: ReceivedRequest) => Answer;
  /** Puts another version in its place, which knows these. */
  readonly deploy: (secrets: KnownSecrets) => void;
  /** How many of the last that it took have an `X-Signature` by this secret, without another one between them. */
  readonly inARow: (secret: string) => number;
  /** The ids of the refused requests, with the faults. */
  readonly refused: readonly string[];
}

export interface KnownSecrets {
  /** The only one that `webhook-signature` is verified by. */
  readonly standard: string;
  /** Any of these for `X-Signature`, which holds one digest. */
  readonly plain: readonly string[];
}

export function createStrictReceiver(first: KnownSecrets): StrictReceiver {
  let known = first;
  let last = { secret: "", count: 0 };
  const refused: string[] = [];
  return {
    answer: (request) => {
      const wrong = [
        ...(isStandard(request, known.standard) ? [] : ["webhook-signature"]),
        ...(isPlain(request, known.plain) ? [] : ["X-Signature"]),
      ];
      if (wrong.length > 0) {
        refused.push(`${request.headers["x-message-id"]}: ${wrong.join(" and ")}`);
        return { status: 401 };
      }
      const secret = known.plain.find((each) => isPlain(request, [each])) ?? "";
      last = { secret, count: secret === last.secret ? last.count + 1 : 1 };
      return { status: 200 };
    },
    deploy: (secrets) => {
      known = secrets;
    },
    inARow: (secret) => (secret === last.secret ? last.count : 0),
    refused,
  };
}

function isStandard({ headers, body }: ReceivedRequest, secret: string): boolean {
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), body]);
  const expected = `v1,${createHmac("sha256", secret).update(signed).digest("base64")}`;
  return (headers["webhook-signature"] ?? "").split(" ").includes(expected);
}

function isPlain({ headers, body }: ReceivedRequest, secrets: readonly string[]): boolean {
  return secrets.some((secret) => createHmac("sha1", secret).update(body).digest("hex") === headers["x-signature"]);
}
