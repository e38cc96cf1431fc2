/** The rows of a table that stand in the document (TB2 of table.tsx). */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useLayoutEffect, useState } from "react";

/** So many a browser lays out at once. */
const PLAIN_ROWS = 200;
/** Of a line; a card is measured when it stands there. */
const ROW_PX = 41;
/** Rows beyond either end of the window. */
const BEYOND = 20;

export interface ShownRows {
  readonly indexes: readonly number[];
  /** The height of the rows before and after them. */
  readonly beforePx: number;
  readonly afterPx: number;
  /** Takes the height of a row; null where every row stands there. */
  readonly measure: ((row: Element | null) => void) | null;
  readonly scrollTo: (index: number) => void;
}

export function useShownRows(count: number, body: RefObject<HTMLElement | null>): ShownRows {
  const isPlain = count <= PLAIN_ROWS;
  const [topPx, setTopPx] = useState(0);
  useLayoutEffect(() => {
    if (body.current !== null) setTopPx(body.current.getBoundingClientRect().top + window.scrollY);
  }, [body]);
  const virtualizer = useWindowVirtualizer({
    ...{ count: isPlain ? 0 : count, enabled: !isPlain, overscan: BEYOND, scrollMargin: topPx },
    estimateSize: () => ROW_PX,
  });
  if (isPlain) {
    const indexes = Array.from({ length: count }, (_, index) => index);
    return { indexes, beforePx: 0, afterPx: 0, measure: null, scrollTo: () => {} };
  }
  const items = virtualizer.getVirtualItems();
  return {
    indexes: items.map(({ index }) => index),
    beforePx: (items[0]?.start ?? topPx) - topPx,
    afterPx: virtualizer.getTotalSize() + topPx - (items.at(-1)?.end ?? topPx),
    measure: virtualizer.measureElement,
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}
