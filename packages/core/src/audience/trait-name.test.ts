import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { traitNameOf } from "./trait-name.ts";

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const words = fc.array(word, { minLength: 1, maxLength: 5 });
const divider = fc.constantFrom(" ", "-", "_", ".", " / ", "—", "!", " 🎉 ", "👩‍💻", "\t", "\u00a0", "::");
const anyText = fc.string({ unit: "binary", maxLength: 30 });

describe("traitNameOf", () => {
  it.each([
    ["VIP customers", "vip_customers"],
    ["Élèves à Besançon", "eleves_a_besancon"],
    ["Straße nach Łódź", "strasse_nach_lodz"],
    ["smørrebrød Æble", "smorrebrod_aeble"],
    ["highValueCustomers", "high_value_customers"],
    ["HTMLParser users", "html_parser_users"],
    ["Top10Users", "top10_users"],
    ["B2BUsers 2026", "b2b_users_2026"],
    ["Men's shoes", "mens_shoes"],
    ["  --churn   risk!! (30 days) ", "churn_risk_30_days"],
    ["🎉 Party people 👩‍💻", "party_people"],
    ["1️⃣ st", "1_st"],
    ["ﬁrst ① buyers", "first_1_buyers"],
    ["ISTANBUL İzmir", "istanbul_izmir"],
    ["Последний заказ", "последний_заказ"],
    ["हिन्दी पाठक", "हिन्दी_पाठक"],
    ["優良顧客 A", "優良顧客_a"],
    ["already_snake_case", "already_snake_case"],
    ["__proto__", "proto"],
  ])("makes %j %j", (name, trait) => {
    expect(traitNameOf(name)).toBe(trait);
  });

  it.each(["", " ", "!!!", "🎉", "___", "\u200d\ufe0f", "—"])("has nothing for %j", (name) => {
    expect(traitNameOf(name)).toBeNull();
  });

  it("gives words in small letters, divided by single underscores, whatever the text", () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const trait = traitNameOf(name);
        if (trait === null) {
          expect(name.normalize("NFKD")).not.toMatch(/[\p{L}\p{N}]/u);
          return;
        }
        expect(trait).toMatch(/^[\p{L}\p{N}\p{M}]+(_[\p{L}\p{N}\p{M}]+)*$/u);
        expect(trait).toBe(trait.toLowerCase());
      }),
      { numRuns: 1000 },
    );
  });

  it("changes nothing of what it made", () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const trait = traitNameOf(name);
        if (trait !== null) expect(traitNameOf(trait)).toBe(trait);
      }),
      { numRuns: 1000 },
    );
  });

  it("gives the same whatever stands between the words, before and behind them", () => {
    fc.assert(
      fc.property(words, divider, divider, (parts, between, around) => {
        expect(traitNameOf(`${around}${parts.join(between)}${around}`)).toBe(parts.join("_"));
      }),
    );
  });

  it("finds the words of camelCase and of capitals", () => {
    const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
    const spelt = fc.array(fc.stringMatching(/^[a-z]{2,6}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(spelt, (parts) => {
        expect(traitNameOf(parts.map(capital).join(""))).toBe(parts.join("_"));
        expect(traitNameOf(parts.join(" ").toUpperCase())).toBe(parts.join("_"));
      }),
    );
  });

  it("takes Latin letters without their marks, composed or not", () => {
    const marks = fc.array(fc.constantFrom("\u0301", "\u0308", "\u030c", "\u0327"), { maxLength: 2 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.stringMatching(/^[a-z]$/), marks), { minLength: 1 }), (letters) => {
        const decorated = letters.map(([letter, own]) => letter + own.join("")).join("");
        const plain = letters.map(([letter]) => letter).join("");
        expect(traitNameOf(decorated)).toBe(plain);
        expect(traitNameOf(decorated.normalize("NFC"))).toBe(plain);
      }),
    );
  });
});
