/** A number with its noun: `1 dead letter`, `2 dead letters`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
