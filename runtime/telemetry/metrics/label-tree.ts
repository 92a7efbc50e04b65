/** One level for each label: those that were asked for once are found again without a new string. */
interface Branch<Value> {
  readonly below: Map<string, Branch<Value>>;
  value: Value | undefined;
}

/** What is kept for each set of label values. */
export class LabelTree<Value> {
  readonly #create: (labels: readonly string[]) => Value;
  readonly #root: Branch<Value> = { below: new Map(), value: undefined };

  constructor(create: (labels: readonly string[]) => Value) {
    this.#create = create;
  }

  /** The one of these label values; it is made when it is asked for first. */
  at(labels: readonly string[]): Value {
    let branch = this.#root;
    for (const label of labels) {
      let next = branch.below.get(label);
      if (next === undefined) {
        next = { below: new Map(), value: undefined };
        branch.below.set(label, next);
      }
      branch = next;
    }
    branch.value ??= this.#create(labels);
    return branch.value;
  }
}
