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

const after = (step: RotationStep): SharedSecrets | string => (step.outcome === "taken" ? step.secrets : step.reason);

describe("rotation of a shared secret", () => {
  it("goes from active to next to switched to active again", () => {
    expect(after(nameNextSecret(active, "b"))).toEqual(next);
    expect(after(switchSecret(next))).toEqual(switched);
    expect(after(retireSecret(switched))).toEqual({ active: "b", next: null, previous: null });
    expect([NO_SECRETS, active, next, switched].map(secretStage)).toEqual(["none", "active", "next", "switched"]);
  });

  it("undoes a switch to exactly where it was, and a naming to before it", () => {
    expect(after(undoRotation(switched))).toEqual(next);
    expect(after(undoRotation(next))).toEqual(active);
  });

  it("replaces a next secret that was named before", () => {
    expect(after(nameNextSecret(next, "c"))).toEqual({ active: "a", next: "c", previous: null });
  });

  it("refuses each step that the stage does not allow, saying why", () => {
    expect(after(nameNextSecret(NO_SECRETS, "b"))).toMatch(/no shared secret is set/);
    expect(after(nameNextSecret(switched, "c"))).toMatch(/retire the old secret or undo/);
    expect(after(nameNextSecret(active, "a"))).toMatch(/is the active one/);
    expect(after(switchSecret(active))).toMatch(/no next secret/);
    expect(after(switchSecret(switched))).toMatch(/no next secret/);
    expect(after(undoRotation(active))).toMatch(/no rotation/);
    expect(after(retireSecret(next))).toMatch(/no old secret/);
  });

  it("never loses the active secret and never holds three, whatever steps are tried in whatever order", () => {
    const step = fc.oneof(
      fc.string({ minLength: 1 }).map((secret) => (secrets: SharedSecrets) => nameNextSecret(secrets, secret)),
      fc.constantFrom(switchSecret, undoRotation, retireSecret),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const end = steps.reduce((secrets, take) => {
          const taken = take(secrets);
          return taken.outcome === "taken" ? taken.secrets : secrets;
        }, active);
        expect(end.active).not.toBeNull();
        expect(end.next === null || end.previous === null).toBe(true);
      }),
    );
  });
});
