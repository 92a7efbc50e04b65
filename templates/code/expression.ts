import { code, comment, verbatim } from "./code.ts";
import type { Code, ConstantType, Expression, HoistedConstant, Hole, Name } from "./hole.ts";
import { assigned } from "./layout.ts";
import { name } from "./names.ts";
import { printText } from "./print.ts";
import { renamed } from "./syntax.ts";

/** A constant that a module declares for its expressions. */
export interface DeclaredConstant {
  readonly name: Name;
  readonly type: ConstantType | undefined;
  readonly initializer: Expression;
}

/**
 * Emitted expressions of one module. Their constants become constants of the module: equal ones are declared once,
 * different ones of the same name get a number.
 */
export class Expressions {
  readonly #names = new Map<string, Name>();
  readonly #taken = new Set<string>();
  /** Last number used for a name; thousands of constants may have the same one. */
  readonly #counts = new Map<string, number>();
  readonly #constants: DeclaredConstant[] = [];

  /** `taken`: names that the module uses otherwise. */
  constructor(taken: readonly string[] = []) {
    for (const each of taken) this.#taken.add(each);
  }

  /** Returns the expression with its constants renamed for this module. */
  use(expression: Expression): Expression {
    return renamed(expression, (reference) => {
      if (reference.kind === "local") throw new Error(`"${reference.proposal}" was not named`);
      return this.#declare(reference);
    });
  }

  /** Constants of all expressions so far, each after those that it uses. */
  get constants(): readonly DeclaredConstant[] {
    return this.#constants;
  }

  #declare({ proposal, type, initializer: original }: HoistedConstant): Name {
    const initializer = this.use(original);
    const key = JSON.stringify([printText(initializer), type]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    let unique = proposal;
    let count = this.#counts.get(proposal) ?? 1;
    while (this.#taken.has(unique)) {
      count += 1;
      unique = `${proposal}${count}`;
    }
    this.#counts.set(proposal, count);
    this.#taken.add(unique);
    const declared = name(unique);
    this.#names.set(key, declared);
    this.#constants.push({ name: declared, type, initializer });
    return declared;
  }
}

/** Declares the constants as one paragraph, if there are any. */
export function constantsOf({ constants }: Expressions): readonly Hole[] {
  if (constants.length === 0) return [];
  return [[comment("Constants of the expressions below."), ...constants.map(declaration)]];
}

function declaration({ name: declared, type, initializer }: DeclaredConstant): Code {
  const annotation = type === undefined ? [] : verbatim(`: ${type}`);
  const start = code`const ${declared}${annotation} =`;
  return code`${assigned(start, initializer)};`;
}
