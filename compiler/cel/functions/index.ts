import { conversions } from "./conversions.ts";
import { dataFunctions } from "./data.ts";
import type { FunctionDeclaration } from "./declaration.ts";
import { httpFunctions } from "./http.ts";
import { mathFunctions } from "./math.ts";
import { operators } from "./operators.ts";
import { optionals } from "./optionals.ts";
import { standardFunctions } from "./standard.ts";
import { stringFunctions } from "./strings.ts";
import { times } from "./times.ts";

/** All functions by library, in the order of the reference. */
export const libraries: readonly {
  readonly title: string;
  readonly functions: readonly FunctionDeclaration[];
}[] = [
  { title: "Operators", functions: operators },
  { title: "Standard functions", functions: standardFunctions },
  { title: "Conversions", functions: conversions },
  { title: "Time", functions: times },
  { title: "Strings", functions: stringFunctions },
  { title: "Math", functions: mathFunctions },
  { title: "Data", functions: dataFunctions },
  { title: "Addresses, headers and URIs", functions: httpFunctions },
  { title: "Optionals", functions: optionals },
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

/** Finds a function by its name, including its namespace: `math.abs`. */
export function functionNamed(name: string): FunctionDeclaration | undefined {
  return byName.get(name);
}

/** Finds an operator by its name in the table: `add`. */
export function operatorNamed(name: string): FunctionDeclaration | undefined {
  return operatorByName.get(name);
}

/** Returns the names of all functions. */
export function functionNames(): readonly string[] {
  return [...byName.keys()];
}
