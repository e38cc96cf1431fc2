/**
 * The stages of a shared secret's rotation. There are stages because `X-Signature` has one digest, and a receiver
 * cannot change its secret at the same moment as Posthaste:
 *
 *    none -> active -> next (active and next) -> switched (the next became active, the old one is kept) -> active
 *
 * `nameNextSecret` leads to *next*: the receiver learns the next secret, and test-sends that are signed by it show that
 * it has. `switchSecret` leads to *switched*, which `undoRotation` takes back until `retireSecret` ends the rotation.
 */
import type { SharedSecrets } from "./destination.ts";

export const SECRET_STAGES = ["none", "active", "next", "switched"] as const;
export type SecretStage = (typeof SECRET_STAGES)[number];

export const NO_SECRETS: SharedSecrets = { active: null, next: null, previous: null };

/** The result of a step: the secrets after it, or the reason of its refusal. */
export type RotationStep =
  | { readonly outcome: "accepted"; readonly secrets: SharedSecrets }
  | { readonly outcome: "refused"; readonly reason: string };

export function secretStage(secrets: SharedSecrets): SecretStage {
  if (secrets.active === null) return "none";
  if (secrets.previous !== null) return "switched";
  return secrets.next === null ? "active" : "next";
}

/** active or next -> next: names the secret that will follow, in place of one that was named before. */
export function nameNextSecret(secrets: SharedSecrets, next: string): RotationStep {
  switch (secretStage(secrets)) {
    case "none":
      return refused("no shared secret is set that another could follow: set settings.sharedSecret first");
    case "switched":
      return refused("the last rotation is not finished: retire the old secret or undo the switch first");
    case "active":
    case "next":
      if (next === secrets.active) return refused("the next secret is the active one");
      return accepted({ ...secrets, next });
  }
}

/** next -> switched: the next secret signs from now on, the old one is kept for undo. */
export function switchSecret(secrets: SharedSecrets): RotationStep {
  if (secrets.next === null) return refused("no next secret is named");
  return accepted({ active: secrets.next, next: null, previous: secrets.active });
}

/** switched -> next: the old secret signs again. next -> active: the next secret is forgotten. */
export function undoRotation(secrets: SharedSecrets): RotationStep {
  if (secrets.previous !== null) return accepted({ active: secrets.previous, next: secrets.active, previous: null });
  if (secrets.next !== null) return accepted({ ...secrets, next: null });
  return refused("no rotation is under way");
}

/** switched -> active: the old secret is forgotten; there is no undo after this. */
export function retireSecret(secrets: SharedSecrets): RotationStep {
  if (secrets.previous === null) return refused("no old secret is kept");
  return accepted({ ...secrets, previous: null });
}

function accepted(secrets: SharedSecrets): RotationStep {
  return { outcome: "accepted", secrets };
}

function refused(reason: string): RotationStep {
  return { outcome: "refused", reason };
}
