/** A benchmark's findings, each figure told as it is known. */
import { verdict } from "./verdict.ts";

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly isWithin: boolean;
  /** Its aim and its comparison, in words. */
  readonly beside?: string;
}

export class Figures {
  isWithin = true;

  push({ name, value, unit, isWithin, beside }: Figure): void {
    const aim = beside === undefined ? "" : ` (${beside})`;
    console.log(`${name}: ${value.toFixed(1)} ${unit}${aim}: ${verdict(isWithin)}`);
    this.isWithin &&= isWithin;
  }
}
