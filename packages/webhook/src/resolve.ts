export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name, in the order of preference; rejects with a Node error whose code is a resolver's. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;
