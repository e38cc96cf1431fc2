import { describe, expect, it } from "vitest";
import { idOf } from "./names.ts";

const ENTRIES = [
  { id: "dst_1", name: "Billing" },
  { id: "dst_2", name: "billing" },
  { id: "dst_3", name: "Acme CRM" },
  { id: "dst_4", name: "Twice" },
  { id: "dst_5", name: "Twice" },
];
const found = (name: string) => idOf("destination", name, ENTRIES);

describe("a name in the place of an id", () => {
  it("is that of one thing, whose letters need not be as they are stored where that is clear", () => {
    expect([found("Billing"), found("billing"), found("acme crm")]).toEqual(["dst_1", "dst_2", "dst_3"]);
  });

  it("is refused where several have it, with their ids, and where none has", () => {
    expect(() => found("Twice")).toThrow("2 destinations have the name Twice");
    expect(() => found("BILLING")).toThrow(expect.objectContaining({ exitCode: 2, hint: "give the id: dst_1, dst_2" }));
    expect(() => found("Bill")).toThrow(
      expect.objectContaining({ exitCode: 3, message: "there is no destination with the id or the name Bill" }),
    );
  });
});
