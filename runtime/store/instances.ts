/** Objects that exist once for each owner, such as a store: a reload continues them, and routes of one gateway share them. */
export class Instances<Owner extends WeakKey, Instance> {
  readonly #known = new WeakMap<Owner, Instance>();

  /** Returns the instance of an owner. The first call makes it. */
  of(owner: Owner, make: () => Instance): Instance {
    const known = this.#known.get(owner);
    if (known !== undefined) return known;
    const made = make();
    this.#known.set(owner, made);
    return made;
  }
}
