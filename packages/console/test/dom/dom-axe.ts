/** The violations of WCAG 2.2 AA in the document of the process, without the rules of layout and colours. */
import axe from "axe-core";

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const OF_LAYOUT = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"];

axe.configure({ noHtml: true });

export async function findStructureViolations(exclude: readonly string[]): Promise<readonly string[]> {
  const { violations } = await axe.run(
    { exclude: [...exclude] },
    {
      runOnly: WCAG,
      rules: Object.fromEntries(OF_LAYOUT.map((rule) => [rule, { enabled: false }])),
      resultTypes: ["violations"],
      elementRef: true,
    },
  );
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ element }) => element?.outerHTML ?? "").join(" ")}`,
  );
}
