/** Whether a figure is within its aim, as a word for a table. */
export function verdict(isWithin: boolean): string {
  return isWithin ? "within" : "**missed**";
}
