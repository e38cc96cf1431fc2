/** The result of a search, as lines. */
import { aimsOf, boundsOf, costBy, MEASURES, passedBounds } from "./bounds.ts";
import type { Dearest, Found } from "./dearest.ts";
import { KINDS } from "./form.ts";

/** A table with the dearest form of each kind and measure, and the forms themselves. */
export function reportOf(dearest: Dearest): readonly string[] {
  const lines = [
    "| kind | by | ms a KB | MB a KB | ms | KB sent | answered | aim |",
    "|---|---|---|---|---|---|---|---|",
  ];
  const forms: string[] = [];
  for (const kind of KINDS) {
    for (const measure of MEASURES) {
      const found = dearest.of(kind, measure);
      if (found === undefined) continue;
      const { form, cost } = found;
      const aim = aimsOf(form)[measure];
      const isWithin = costBy(measure, cost) <= aim;
      const cells = [
        ...MEASURES.map((each) => costBy(each, cost).toFixed(2)),
        cost.wireKb.toFixed(2),
        cost.status ?? "cut off",
        isWithin ? `within ${aim}` : `**over ${aim}**`,
      ];
      lines.push(`| ${[kind, measure, ...cells].join(" | ")} |`);
      forms.push(`${kind}, ${measure}: ${JSON.stringify(form)}`);
    }
  }
  return [...lines, "", ...forms];
}

/** The fault of a form's cost; empty for none. */
export function complaint(found: Found, tolerance: number): string {
  const bounds = boundsOf(found.form);
  return passedBounds(found.form, found.cost, tolerance)
    .map((measure) => `${costBy(measure, found.cost).toFixed(2)} ${measure}, the bound is ${bounds[measure]}`)
    .join("; ");
}
