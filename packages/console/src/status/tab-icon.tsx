import { useEffect } from "react";
import failing from "./icon-failing.svg";
import open from "./icon-open.svg";
import { useWorstState } from "./status.ts";

/** The icon of the tab carries the worst state of any destination. */
export function TabIcon() {
  const worst = useWorstState();
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (link === null) return;
    link.dataset["healthy"] ??= link.href;
    const healthy = link.dataset["healthy"];
    link.href = worst === "open" ? open : worst === "failing" ? failing : healthy;
  }, [worst]);
  return null;
}
