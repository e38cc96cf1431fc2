/** The owners of the records of one window, each while it has records there. */
/** The owner for which a window counts records, such as a destination. */
export interface RecordOwner {
  readonly name: string;
  /** How many of the window's records belong to the owner. */
  records: number;
}

export class RecordOwners {
  readonly #byName = new Map<string, RecordOwner>();
  /** The owner of the last record: most records have the same owner as the one before, which saves a lookup. */
  #last: RecordOwner | undefined;

  get all(): Iterable<RecordOwner> {
    return this.#byName.values();
  }

  find(name: string): RecordOwner | undefined {
    if (this.#last?.name === name) return this.#last;
    return this.#byName.get(name);
  }

  hold(name: string): RecordOwner {
    let owner = this.find(name);
    if (owner === undefined) {
      owner = { name, records: 0 };
      this.#byName.set(name, owner);
    }
    owner.records += 1;
    this.#last = owner;
    return owner;
  }

  release(owner: RecordOwner): void {
    owner.records -= 1;
    if (owner.records > 0) return;
    this.#byName.delete(owner.name);
    if (this.#last === owner) this.#last = undefined;
  }
}
