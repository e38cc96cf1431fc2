import type { DestinationHealth } from "../../api/api-types.ts";
import { Bars } from "../../chart/bars.tsx";
import { countOf } from "../../moment/numbers.ts";

/** Attempts of the last hour by five minutes: failed ones stand on delivered ones. */
export function HourLine({ lastHour: { delivered, failed } }: Pick<DestinationHealth, "lastHour">) {
  return (
    <Bars
      label={`the last hour by five minutes: ${reported("delivered", delivered)}, ${reported("failed", failed)}`}
      slots={delivered.length}
      bars={delivered.map((count, at) => [
        { tone: "good", count },
        { tone: "bad", count: failed[at] ?? 0 },
      ])}
    />
  );
}

/** `472 delivered, at most 48`. */
function reported(what: string, counts: readonly number[]): string {
  const sum = counts.reduce((all, count) => all + count, 0);
  return sum === 0 ? `none ${what}` : `${countOf(sum)} ${what}, at most ${countOf(Math.max(...counts))}`;
}
