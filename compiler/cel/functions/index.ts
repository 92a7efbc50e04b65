import type { FunctionDeclaration } from "./declaration.ts";
import { operators } from "./operators.ts";
import { standardFunctions } from "./standard.ts";

/** Every function, by library, in the order of the reference. */
export const libraries: readonly {
  readonly title: string;
  readonly functions: readonly FunctionDeclaration[];
}[] = [
  { title: "Operators", functions: operators },
  { title: "Standard functions", functions: standardFunctions },
];

const operatorSet: ReadonlySet<FunctionDeclaration> = new Set(operators);

const byName: ReadonlyMap<string, FunctionDeclaration> = new Map(
  libraries
    .flatMap(({ functions }) => functions)
    .filter((each) => !operatorSet.has(each))
    .map((each) => [each.name, each]),
);

const operatorByName: ReadonlyMap<string, FunctionDeclaration> = new Map(
  operators.map((each) => [each.name, each]),
);

/** A function by its name, with its namespace: `math.abs`. */
export function functionNamed(name: string): FunctionDeclaration | undefined {
  return byName.get(name);
}

/** An operator by its name in the table: `add`. */
export function operatorNamed(name: string): FunctionDeclaration | undefined {
  return operatorByName.get(name);
}

/** Every name of a function. */
export function functionNames(): readonly string[] {
  return [...byName.keys()];
}
