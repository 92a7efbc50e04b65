import type {
  ExpressionCode,
  HoistedConstant,
  ImportedName,
} from "../../compiler/ir/expressions.ts";
import {
  type Code,
  code,
  type Hole,
  imported,
  importedType,
  name,
  verbatim,
  woven,
} from "./code.ts";

/**
 * The emitted expressions of one module. Their constants become constants of the module: equal ones once, different ones
 * of the same name with a number.
 */
export class Expressions {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #declarations: Code[] = [];

  /** `taken`: names that the module has for something else. */
  constructor(taken: readonly string[] = []) {
    for (const each of taken) this.#taken.add(each);
  }

  /** The expression as a hole. */
  use({ text, imports, constants }: ExpressionCode): Code {
    return tokens(
      text,
      imports,
      new Map(constants.map((each) => [each.name, this.#declare(each)])),
    );
  }

  /** The constants that the expressions so far need. */
  get declarations(): readonly Code[] {
    return this.#declarations;
  }

  #declare(constant: HoistedConstant): string {
    const key = JSON.stringify([constant.text, constant.type]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    let unique = constant.name;
    for (let count = 2; this.#taken.has(unique); count++) unique = `${constant.name}${count}`;
    this.#taken.add(unique);
    this.#names.set(key, unique);
    const annotation: Hole = constant.type === undefined ? [] : code`: ${verbatim(constant.type)}`;
    const value = tokens(constant.text, constant.imports, new Map());
    this.#declarations.push(code`const ${name(unique)}${annotation} = ${value};`);
    return unique;
  }
}

/** The constants as one paragraph of a module; nothing when there are none. */
export function constantsOf({ declarations }: Expressions): readonly Hole[] {
  return declarations.length === 0 ? [] : [declarations];
}

/** Text that the CEL compiler wrote: imported names become import symbols, constants get their names in the module. */
function tokens(
  text: string,
  imports: readonly ImportedName[],
  constants: ReadonlyMap<string, string>,
): Code {
  const symbols = new Map(
    imports.map(({ module, name: symbol, isType }) => [
      symbol,
      isType === true ? importedType(module, symbol) : imported(module, symbol),
    ]),
  );
  return woven(
    indented(text)
      .split(TOKENS)
      .map((token) => {
        const constant = constants.get(token);
        return constant === undefined ? (symbols.get(token) ?? token) : name(constant);
      }),
  );
}

/** Continuation lines, two blanks deeper for each bracket that is open. */
function indented(text: string): string {
  let depth = 0;
  return text
    .split("\n")
    .map((line, index) => {
      const brackets = line.replace(STRINGS, "").replace(/[^()[\]{}]/g, "");
      const leading = /^[)\]}]*/.exec(line)?.[0].length ?? 0;
      const indentation = "  ".repeat(Math.max(0, depth - leading));
      depth += brackets.replace(/[)\]}]/g, "").length - brackets.replace(/[([{]/g, "").length;
      return index === 0 ? line : `${indentation}${line}`;
    })
    .join("\n");
}

const STRINGS = /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** Strings and property names stay whole, so that an imported name inside them is no name. */
const TOKENS = /("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\??\.\s*[A-Za-z_$][\w$]*|[A-Za-z_$][\w$]*)/;
