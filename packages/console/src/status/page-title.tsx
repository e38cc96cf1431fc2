import { useWorstState, type WorstState } from "./status.ts";

const MARKS: Readonly<Record<WorstState, string>> = { open: "■ ", failing: "▲ ", healthy: "" };

/** The tab's title: the page's name, behind the mark of the worst state of any destination. */
export function PageTitle({ children }: { readonly children: string }) {
  return <title>{`${MARKS[useWorstState()]}${children} · Posthaste`}</title>;
}
