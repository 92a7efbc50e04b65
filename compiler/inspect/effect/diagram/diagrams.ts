import { TooMuchWork, type Work } from "../work/work.ts";

/** A node of a diagram: its number. */
export type NodeId = number;

/** The classes that the variables of a path may be of, by level. */
export type Path = ReadonlyMap<number, readonly number[]>;

/** What two terminals become, kept for the pairs of nodes that were met. */
export interface Operation {
  readonly of: (a: string, b: string) => string;
  readonly known: Map<number, NodeId>;
}

/** More nodes than a set of diagrams may have. */
const MAX_NODES = 200_000;

/** More children of all nodes together: what takes the memory. */
const MAX_PLACES = 4_000_000;

/** More variables than a diagram may ask for: each is a call within the one before. */
const MAX_LEVELS = 2_000;

/** More classes than a variable may have. */
const MAX_CLASSES = 20_000;

/**
 * Multi-valued decision diagrams: a variable is a level with so many classes, and a node asks for the class of its
 * variable. Equal diagrams are one node. Terminals are texts. (Srinivasan et al., ICCAD 1990.)
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

  /** `work`: what is left to the question that they are made for. */
  constructor(work: Work) {
    this.#work = work;
  }

  /** The level of a new variable, below all others. */
  variable(size: number): number {
    if (this.#sizes.length >= MAX_LEVELS || size > MAX_CLASSES) throw new TooMuchWork(false);
    this.#sizes.push(size);
    return this.#sizes.length - 1;
  }

  /** The number of a variable's classes. */
  sizeOf(level: number): number {
    return this.#sizes[level] ?? 0;
  }

  /** The diagram that is the same for everything. */
  terminal(text: string): NodeId {
    const known = this.#terminals.get(text);
    if (known !== undefined) return known;
    const made = this.#push(Number.POSITIVE_INFINITY, [], text);
    this.#terminals.set(text, made);
    return made;
  }

  /** What a terminal says; undefined for a node that asks. */
  textOf(node: NodeId): string | undefined {
    return this.#texts[node];
  }

  /** The level that a node asks for; infinite for a terminal. */
  levelOf(node: NodeId): number {
    return this.#levels[node] ?? Number.POSITIVE_INFINITY;
  }

  /** What follows for each class of a node's variable. */
  childrenOf(node: NodeId): readonly NodeId[] {
    return this.#children[node] ?? [];
  }

  /** A choice by a variable; what follows may ask for variables above it, too. */
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

  /** One diagram where a test is `1`, else another. */
  select(test: NodeId, yes: NodeId, no: NodeId): NodeId {
    const first = this.apply(this.#onlyWhereOne, test, yes);
    const second = this.apply(this.#onlyElsewhere, test, no);
    return this.apply(this.#either, first, second);
  }

  /** The diagram of what an operation makes of two. */
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
      // A loop: this is where most of the time goes.
      for (let at = 0; at < this.sizeOf(level); at += 1)
        children.push(join(left?.[at] ?? x, right?.[at] ?? y));
      const made = this.#node(level, children);
      known.set(key, made);
      return made;
    };
    return join(a, b);
  }

  /** The diagram with other terminals. */
  map(operation: Operation, node: NodeId): NodeId {
    return this.apply(operation, node, this.terminal(""));
  }

  /** The terminal of something, by the class of each of its variables. */
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

  /** The diagram for what is known: `classOf` gives a class, or undefined for a variable that stays open. */
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

  /** Every terminal that is reached. */
  textsIn(node: NodeId): ReadonlySet<string> {
    const texts = new Set<string>();
    for (const each of this.nodesIn(node)) {
      const text = this.#texts[each];
      if (text !== undefined) texts.add(text);
    }
    return texts;
  }

  /** All nodes of a diagram. */
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

  /** The paths to terminals that are wanted, with every class that goes the same way. */
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

/** No terminal that anything else makes. */
const SKIPPED = "\u0000";

/** An operation on terminals, to be used again: what it made of two nodes is kept with it. */
export function operation(of: Operation["of"]): Operation {
  return { of, known: new Map() };
}
