import { TooMuchWork, type Work } from "../work/work.ts";

/** Number of a node in a diagram. */
export type NodeId = number;

/** Classes of the variables on a path, by level. */
export type Path = ReadonlyMap<number, readonly number[]>;

/** An operation on two terminals, with cached results for pairs of nodes. */
export interface Operation {
  readonly of: (a: string, b: string) => string;
  readonly known: Map<number, NodeId>;
}

/** Maximum number of nodes in a set of diagrams. */
const MAX_NODES = 200_000;

/** Maximum number of children of all nodes together, which bounds memory. */
const MAX_PLACES = 4_000_000;

/** Maximum number of variables: each one is a level of recursion. */
const MAX_LEVELS = 2_000;

/** Maximum number of classes of a variable. */
const MAX_CLASSES = 20_000;

/**
 * Multi-valued decision diagrams: a variable is a level with a number of classes, and a node branches on the class of its
 * variable. Equal diagrams share a node. Terminals are strings. (Srinivasan et al., ICCAD 1990.)
 */
export class Diagrams {
  readonly #work: Work;
  #places = 0;
  readonly #sizes: number[] = [];
  readonly #levels: number[] = [];
  readonly #children: (readonly NodeId[])[] = [];
  readonly #terminals = new Map<string, NodeId>();
  readonly #texts: (string | undefined)[] = [];
  readonly #nodes = new Map<string, NodeId>();

  /** `work` has the remaining steps of the question that the diagrams answer. */
  constructor(work: Work) {
    this.#work = work;
  }

  /** Adds a variable below all others and returns its level. */
  variable(size: number): number {
    if (this.#sizes.length >= MAX_LEVELS || size > MAX_CLASSES) throw new TooMuchWork(false);
    this.#sizes.push(size);
    return this.#sizes.length - 1;
  }

  /** Returns the number of classes of a variable. */
  sizeOf(level: number): number {
    return this.#sizes[level] ?? 0;
  }

  /** Returns the constant diagram. */
  terminal(text: string): NodeId {
    const known = this.#terminals.get(text);
    if (known !== undefined) return known;
    const made = this.#push(Number.POSITIVE_INFINITY, [], text);
    this.#terminals.set(text, made);
    return made;
  }

  /** Returns the string of a terminal; `undefined` for other nodes. */
  textOf(node: NodeId): string | undefined {
    return this.#texts[node];
  }

  /** Returns the level of a node; infinite for a terminal. */
  levelOf(node: NodeId): number {
    return this.#levels[node] ?? Number.POSITIVE_INFINITY;
  }

  /** Returns the child for each class of a node's variable. */
  childrenOf(node: NodeId): readonly NodeId[] {
    return this.#children[node] ?? [];
  }

  /** Creates a branch on a variable; the children may also branch on variables above it. */
  choice(level: number, children: readonly NodeId[]): NodeId {
    if (children.every((child) => this.levelOf(child) > level)) return this.#node(level, children);
    return children.reduce((chosen, child, index) => {
      const is = this.#node(
        level,
        children.map((_, at) => this.terminal(at === index ? "1" : "0")),
      );
      return this.select(is, child, chosen);
    }, this.terminal(""));
  }

  /** Returns `yes` where a test is `1`, else `no`. */
  select(test: NodeId, yes: NodeId, no: NodeId): NodeId {
    const first = this.apply(this.#onlyWhereOne, test, yes);
    const second = this.apply(this.#onlyElsewhere, test, no);
    return this.apply(this.#either, first, second);
  }

  /** Applies an operation to two diagrams. */
  apply(operation: Operation, a: NodeId, b: NodeId): NodeId {
    const { of, known } = operation;
    const join = (x: NodeId, y: NodeId): NodeId => {
      this.#work.spend(1);
      const [first, second] = [this.#texts[x], this.#texts[y]];
      if (first !== undefined && second !== undefined) return this.terminal(of(first, second));
      const key = x * 0x2000000 + y;
      const found = known.get(key);
      if (found !== undefined) return found;
      const level = Math.min(this.levelOf(x), this.levelOf(y));
      const left = this.levelOf(x) === level ? this.childrenOf(x) : undefined;
      const right = this.levelOf(y) === level ? this.childrenOf(y) : undefined;
      this.#work.spend(2 + this.sizeOf(level));
      const children: NodeId[] = [];
      // A loop instead of `map`, because most of the time is spent here.
      for (let at = 0; at < this.sizeOf(level); at += 1)
        children.push(join(left?.[at] ?? x, right?.[at] ?? y));
      const made = this.#node(level, children);
      known.set(key, made);
      return made;
    };
    return join(a, b);
  }

  /** Applies an operation to the terminals of a diagram. */
  map(operation: Operation, node: NodeId): NodeId {
    return this.apply(operation, node, this.terminal(""));
  }

  /** Returns the terminal for the given class of each variable. */
  textFor(node: NodeId, classOf: (level: number) => number): string {
    let at = node;
    for (;;) {
      const text = this.#texts[at];
      if (text !== undefined) return text;
      const next = this.childrenOf(at)[classOf(this.levelOf(at))];
      if (next === undefined) throw new Error("a value that belongs to no class");
      at = next;
    }
  }

  /** Restricts variables to the classes that `classOf` returns; `undefined` leaves a variable open. */
  restrict(node: NodeId, classOf: (level: number) => readonly number[] | undefined): NodeId {
    const done = new Map<NodeId, NodeId>();
    const visit = (at: NodeId): NodeId => {
      if (this.#texts[at] !== undefined) return at;
      const known = done.get(at);
      if (known !== undefined) return known;
      const level = this.levelOf(at);
      this.#work.spend(2 + this.sizeOf(level));
      const open = classOf(level);
      const children = this.childrenOf(at);
      const [first] = open ?? [];
      const made =
        first === undefined
          ? this.#node(level, children.map(visit))
          : this.#node(
              level,
              children.map((child, index) =>
                visit(open?.includes(index) === true ? child : (children[first] ?? child)),
              ),
            );
      done.set(at, made);
      return made;
    };
    return visit(node);
  }

  /** Returns the strings of all reachable terminals. */
  textsIn(node: NodeId): ReadonlySet<string> {
    const texts = new Set<string>();
    for (const each of this.nodesIn(node)) {
      const text = this.#texts[each];
      if (text !== undefined) texts.add(text);
    }
    return texts;
  }

  /** Returns all nodes of a diagram. */
  nodesIn(node: NodeId): ReadonlySet<NodeId> {
    const seen = new Set<NodeId>();
    const open = [node];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      this.#work.spend(1 + this.childrenOf(at).length);
      open.push(...this.childrenOf(at));
    }
    return seen;
  }

  /** Yields the paths to wanted terminals, with all classes that lead to the same child. */
  *paths(
    node: NodeId,
    isWanted: (text: string) => boolean,
  ): Generator<{ readonly at: Path; readonly text: string }> {
    const leads = new Map<NodeId, boolean>();
    const reaches = (each: NodeId): boolean => {
      const known = leads.get(each);
      if (known !== undefined) return known;
      this.#work.spend(1 + this.childrenOf(each).length);
      const text = this.#texts[each];
      const found = text === undefined ? this.childrenOf(each).some(reaches) : isWanted(text);
      leads.set(each, found);
      return found;
    };
    yield* this.#pathsFrom(node, reaches, new Map());
  }

  *#pathsFrom(
    node: NodeId,
    reaches: (node: NodeId) => boolean,
    above: Path,
  ): Generator<{ readonly at: Path; readonly text: string }> {
    if (!reaches(node)) return;
    const text = this.#texts[node];
    if (text !== undefined) {
      yield { at: above, text };
      return;
    }
    const children = this.childrenOf(node);
    this.#work.spend(above.size + 2 * children.length);
    const groups = Map.groupBy(
      children.flatMap((child, index) => (reaches(child) ? [{ child, index }] : [])),
      ({ child }) => child,
    );
    for (const [child, group] of groups) {
      const at = new Map([...above, [this.levelOf(node), group.map(({ index }) => index)]]);
      yield* this.#pathsFrom(child, reaches, at);
    }
  }

  #node(level: number, children: readonly NodeId[]): NodeId {
    const [first = 0] = children;
    if (children.every((child) => child === first)) return first;
    this.#work.spend(2 + children.length);
    const key = `${level}:${children.join()}`;
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const made = this.#push(level, children, undefined);
    this.#nodes.set(key, made);
    return made;
  }

  #push(level: number, children: readonly NodeId[], text: string | undefined): NodeId {
    this.#places += children.length;
    if (this.#levels.length >= MAX_NODES || this.#places > MAX_PLACES) throw new TooMuchWork(false);
    this.#levels.push(level);
    this.#children.push(children);
    this.#texts.push(text);
    return this.#levels.length - 1;
  }

  readonly #onlyWhereOne = operation((test, text) => (test === "1" ? text : SKIPPED));
  readonly #onlyElsewhere = operation((test, text) => (test === "1" ? SKIPPED : text));
  readonly #either = operation((a, b) => (a === SKIPPED ? b : a));
}

/** Placeholder that no other terminal equals. */
const SKIPPED = "\u0000";

/** Creates a reusable operation on terminals with its own cache. */
export function operation(of: Operation["of"]): Operation {
  return { of, known: new Map() };
}
