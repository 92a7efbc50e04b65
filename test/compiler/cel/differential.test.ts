import {
  type CelInput,
  celEnv,
  celUint,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  parse,
  plan,
} from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CelSlot, compileIn } from "../../../compiler/cel/compile.ts";
import { functionOf } from "../../../compiler/cel/evaluate/run-code.ts";
import { parseType } from "../../../compiler/cel/types/signature.ts";
import type { Declaration, Environment } from "../../../compiler/cel/variables/environment.ts";
import { canonical, double, Uint } from "../../../runtime/cel/values/values.ts";
import { name } from "../../../templates/code/names.ts";
import { isExpected } from "../../conformance/cel-spec-values.ts";
import { type Binding, bindings, expressions } from "./expressions.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 1_000 : 20_000;

const TYPES: Readonly<Record<keyof Binding, string>> = {
  x: "int",
  y: "int",
  u: "uint",
  d: "double",
  s: "string",
  b: "bool",
  l: "list(int)",
  m: "map(string, dyn)",
};

function environment(types: Readonly<Record<string, string>>): Environment {
  const declarations = new Map<string, Declaration>();
  for (const [path, type] of Object.entries(types)) {
    const text = `${path}_`;
    const code = { expression: name(text), ts: "unknown", mayFail: false } as const;
    const declared = parseType(type);
    declarations.set(path, { path, type: declared, code, variable: text, doc: "" });
  }
  return { description: "a test", declarations, elsewhere: () => [] };
}

const typed = environment(TYPES);
const untyped = environment(Object.fromEntries(Object.keys(TYPES).map((name) => [name, "dyn"])));

function ours(value: unknown): unknown {
  if (typeof value === "bigint") return canonical(value);
  if (typeof value === "number") return double(value);
  if (Array.isArray(value)) return value.map(ours);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, ours(item)]));
}

function theirs(value: unknown): CelInput {
  if (Array.isArray(value)) return value.map(theirs);
  if (typeof value !== "object" || value === null) return value as CelInput;
  return new Map(Object.entries(value).map(([key, item]) => [key, theirs(item)]));
}

/** A result of the other implementation as the runtime has it; undefined for an error. */
function normalize(value: unknown): unknown {
  if (isCelError(value)) return undefined;
  if (isCelUint(value)) return new Uint(canonical(value.value));
  if (isCelList(value)) return [...value].map(normalize);
  if (isCelMap(value)) {
    return new Map([...value.entries()].map(([key, item]) => [normalize(key), normalize(item)]));
  }
  return value instanceof Uint8Array ? value : ours(value);
}

function runOurs(text: string, binding: Binding, where: Environment, slot: CelSlot): unknown {
  const { expression } = compileIn(text, where, slot, "unchecked");
  if (expression === undefined) throw new Error(`not compiled: ${text}`);
  const values = Object.entries(binding).map(([name, value]) => [
    `${name}_`,
    name === "u" ? new Uint(canonical(binding.u)) : ours(value),
  ]);
  return functionOf(expression.code, expression.variables)(Object.fromEntries(values));
}

const reference = celEnv({ funcs: strings });

function runTheirs(text: string, binding: Binding): unknown {
  const input = Object.fromEntries(
    Object.entries(binding).map(([name, value]) => [
      name,
      name === "u" ? celUint(binding.u) : theirs(value),
    ]),
  );
  try {
    return normalize(plan(reference, parse(text))(input));
  } catch {
    return undefined;
  }
}

function isAgreed(actual: unknown, expected: unknown): boolean {
  return expected === undefined ? actual === undefined : isExpected(actual, expected);
}

describe("against another implementation", () => {
  it(`${RUNS} generated expressions give the same, typed and untyped, as values and as rules`, () => {
    let values = 0;
    fc.assert(
      fc.property(expressions, bindings, (text, binding) => {
        const expected = runTheirs(text, binding);
        if (expected !== undefined) values += 1;
        for (const where of [typed, untyped]) {
          const value = runOurs(text, binding, where, "value");
          if (!isAgreed(value, expected)) {
            expect.fail(`${text}\n gives ${String(value)}, expected ${String(expected)}`);
          }
          expect(runOurs(text, binding, where, "allow")).toBe(expected === true);
          expect(runOurs(text, binding, where, "deny")).toBe(expected !== false);
        }
      }),
      { numRuns: RUNS },
    );
    expect(values).toBeGreaterThan(RUNS / 4);
  }, 600_000);
});
