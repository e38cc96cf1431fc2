import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SharedSecrets } from "./destination.ts";
import {
  NO_SECRETS,
  nameNextSecret,
  type RotationStep,
  retireSecret,
  secretStage,
  switchSecret,
  undoRotation,
} from "./secret-rotation.ts";

const active: SharedSecrets = { active: "a", next: null, previous: null };
const next: SharedSecrets = { active: "a", next: "b", previous: null };
const switched: SharedSecrets = { active: "b", next: null, previous: "a" };

const stateAfter = (step: RotationStep): SharedSecrets | string =>
  step.outcome === "accepted" ? step.secrets : step.reason;

describe("rotation of a shared secret", () => {
  it("goes from active to next to switched to active again", () => {
    expect(stateAfter(nameNextSecret(active, "b"))).toEqual(next);
    expect(stateAfter(switchSecret(next))).toEqual(switched);
    expect(stateAfter(retireSecret(switched))).toEqual({ active: "b", next: null, previous: null });
    expect([NO_SECRETS, active, next, switched].map(secretStage)).toEqual(["none", "active", "next", "switched"]);
  });

  it("undoes a switch to exactly where it was, and a naming to before it", () => {
    expect(stateAfter(undoRotation(switched))).toEqual(next);
    expect(stateAfter(undoRotation(next))).toEqual(active);
  });

  it("replaces a next secret that was named before", () => {
    expect(stateAfter(nameNextSecret(next, "c"))).toEqual({ active: "a", next: "c", previous: null });
  });

  it("refuses each step that the stage does not allow, saying why", () => {
    expect(stateAfter(nameNextSecret(NO_SECRETS, "b"))).toMatch(/no shared secret is set/);
    expect(stateAfter(nameNextSecret(switched, "c"))).toMatch(/retire the old secret or undo/);
    expect(stateAfter(nameNextSecret(active, "a"))).toMatch(/is the active one/);
    expect(stateAfter(switchSecret(active))).toMatch(/no next secret/);
    expect(stateAfter(switchSecret(switched))).toMatch(/no next secret/);
    expect(stateAfter(undoRotation(active))).toMatch(/no rotation/);
    expect(stateAfter(retireSecret(next))).toMatch(/no old secret/);
  });

  it("never loses the active secret and never holds three, whatever steps are tried in whatever order", () => {
    const step = fc.oneof(
      fc.string({ minLength: 1 }).map((secret) => (secrets: SharedSecrets) => nameNextSecret(secrets, secret)),
      fc.constantFrom(switchSecret, undoRotation, retireSecret),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const end = steps.reduce((secrets, take) => {
          const accepted = take(secrets);
          return accepted.outcome === "accepted" ? accepted.secrets : secrets;
        }, active);
        expect(end.active).not.toBeNull();
        expect(end.next === null || end.previous === null).toBe(true);
      }),
    );
  });
});
