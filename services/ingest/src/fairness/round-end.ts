/**
 * Waits for the end of a round of the event loop. The function that is answered asks for it: `atEnd` is called once at
 * the end of the round, however often it was asked for. It answers whether this was the first time.
 */
export function createRoundEnd(atEnd: () => void): () => boolean {
  let isAwaited = false;
  const end = (): void => {
    isAwaited = false;
    atEnd();
  };
  return () => {
    if (isAwaited) return false;
    isAwaited = true;
    setImmediate(end);
    return true;
  };
}
