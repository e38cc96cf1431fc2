/**
 * Numbers over time, drawn. The drawing comes by itself, when a chart is there to be drawn.
 *
 * DG1  The drawing is said too: the picture has a sentence, and a table of the same numbers is a press away.
 */
import { lazy, Suspense, useState } from "react";
import { Button } from "../elements/button.tsx";
import { MomentText } from "../moment/moment-text.tsx";
import { useZone } from "../moment/zone.ts";
import styles from "./chart.module.css";
import { sentenceOf, shownValue, type TimeChartData } from "./time-series.ts";

const Drawing = lazy(async () => ({ default: (await import("./drawing.tsx")).Drawing }));

export function TimeChart({ data }: { readonly data: TimeChartData }) {
  const [isTable, setTable] = useState(false);
  const zone = useZone();
  const { title, series } = data;
  return (
    <figure className={styles["chart"]} aria-label={title}>
      <figcaption className={styles["head"]}>
        <strong>{title}</strong>
        <span className={styles["legend"]}>
          {series.map(({ name, colour }) => (
            <span key={name}>
              <i className={`${styles["key"]} ${styles[colour]}`} aria-hidden /> {name}
            </span>
          ))}
        </span>
        <Button look="quiet" aria-pressed={isTable} onPress={() => setTable(!isTable)}>
          Show as table
        </Button>
      </figcaption>
      {isTable ? (
        <Table data={data} />
      ) : (
        <div role="img" aria-label={sentenceOf(data)} className={styles["drawing"]}>
          <Suspense>
            <Drawing data={data} zone={zone} />
          </Suspense>
        </div>
      )}
    </figure>
  );
}

function Table({ data: { times, series, unit } }: { readonly data: TimeChartData }) {
  if (times.length === 0) return <p className={styles["none"]}>Nothing in this time.</p>;
  return (
    <table className={styles["table"]}>
      <thead>
        <tr>
          <th scope="col">From</th>
          {series.map(({ name }) => (
            <th key={name} scope="col">
              {name}
              {unit === "" ? "" : `,${unit}`}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times.map((time, at) => (
          <tr key={time}>
            <td>
              <MomentText at={time} isShort />
            </td>
            {series.map(({ name, values }) => {
              const value = values[at] ?? null;
              return <td key={name}>{value === null ? "–" : shownValue(value)}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
