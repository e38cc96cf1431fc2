/**
 * Returns a function that waits for the end of the current round of the event loop: `atEnd` is then called once,
 * however often the function was called in the round. The function answers true at its first call in a round.
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
