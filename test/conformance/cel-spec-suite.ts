import {
  getConformanceSuite,
  type IncrementalTest,
  type IncrementalTestSuite,
} from "@bufbuild/cel-spec/testdata/tests.js";
import { type CelSlot, type CompileResult, compileIn } from "../../compiler/cel/compile.ts";
import { functionOf } from "../../compiler/cel/evaluate/run-code.ts";
import { DYN } from "../../compiler/cel/types/types.ts";
import type { Declaration, Environment } from "../../compiler/cel/variables/environment.ts";
import { name } from "../../templates/code/names.ts";
import { fromSpec, ProtoError, typeFromSpec } from "./cel-spec-values.ts";

/** One case of the official suite, ready to run. */
export interface SpecCase {
  readonly name: string;
  readonly expression: string;
  readonly environment: Environment;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The value; undefined when an error is expected. */
  readonly expected: unknown;
  /** The type that cel-go infers. */
  readonly type: string | undefined;
  readonly isUnchecked: boolean;
}

/** Words of protocol buffer messages and enums, which gateways do not have. */
const PROTO =
  /TestAllTypes|GlobalEnum|NestedTestAllTypes|proto[23]|protobuf\.(Any|Struct|Value|ListValue|\w+Value|FieldMask|Empty|NullValue|Timestamp ?\{|Duration ?\{)|cel\.expr|google\.type|\b(Any|Struct|Value|ListValue|Timestamp|Duration|\w+Value|NullValue) ?\{/;

/** The cases of a file of the official suite, those with protocol buffers left out. */
export function casesOf(file: string): readonly SpecCase[] {
  const suite = getConformanceSuite().suites.find(({ name }) => name === file);
  if (suite === undefined) throw new Error(`no file "${file}" in the suite`);
  return allTests(suite, file).flatMap(([name, test]) => caseOf(name, test) ?? []);
}

function allTests(
  suite: IncrementalTestSuite,
  path: string,
): readonly (readonly [string, IncrementalTest])[] {
  return [
    ...suite.tests.map((test) => [`${path}/${test.name}`, test] as const),
    ...suite.suites.flatMap((inner) => allTests(inner, `${path}/${inner.name}`)),
  ];
}

function caseOf(name: string, test: IncrementalTest): SpecCase | undefined {
  const { original } = test;
  if (PROTO.test(original.expr) || original.checkOnly) return undefined;
  try {
    const declarations = new Map<string, Declaration>();
    const variables: Record<string, unknown> = {};
    for (const { name: path, declKind } of original.typeEnv) {
      const type =
        declKind.case === "ident" && declKind.value.type !== undefined
          ? typeFromSpec(declKind.value.type)
          : DYN;
      if (declKind.case === "ident") declare(declarations, path, type, original.container);
    }
    for (const [path, value] of Object.entries(original.bindings)) {
      if (value.kind.case !== "value") throw new ProtoError("a binding that is no value");
      if (!declarations.has(path)) declare(declarations, path, DYN, original.container);
      variables[variableName(path)] = fromSpec(value.kind.value);
    }
    return {
      name,
      expression: original.expr,
      environment: { description: "a test", declarations, elsewhere: () => [] },
      variables,
      expected: expectedOf(test),
      type: test.type,
      isUnchecked: original.disableCheck,
    };
  } catch (error) {
    if (error instanceof ProtoError) return undefined;
    throw error;
  }
}

/** Names are resolved in a container as `container.name` first; gateways have no containers. */
function declare(
  declarations: Map<string, Declaration>,
  path: string,
  type: Declaration["type"],
  container: string,
): void {
  const text = variableName(path);
  const code = { expression: name(text), ts: "unknown", mayFail: true } as const;
  const declaration = { path, type, code, variable: text, doc: "" };
  if (!declarations.has(path)) declarations.set(path, declaration);
  if (container !== "" && path.startsWith(`${container}.`)) {
    declarations.set(path.slice(container.length + 1), declaration);
  }
}

function variableName(path: string): string {
  return `${path.replaceAll(".", "_")}_`;
}

function expectedOf(test: IncrementalTest): unknown {
  const { resultMatcher } = test.original;
  switch (resultMatcher.case) {
    case "value":
      return fromSpec(resultMatcher.value);
    case "typedResult":
      return resultMatcher.value.result === undefined
        ? undefined
        : fromSpec(resultMatcher.value.result);
    case "evalError":
    case "anyEvalErrors":
      return undefined;
    case undefined:
      return true;
    default:
      throw new ProtoError("an unknown result");
  }
}

/** Evaluates an expression in one of the emission's modes; also `undefined` if it does not compile. */
export function evaluate(test: SpecCase, slot: CelSlot): unknown {
  const { expression } = compileCase(test, slot);
  if (expression === undefined) return undefined;
  return functionOf(expression.code, expression.variables)(test.variables);
}

/**
 * Compiles a case as the suite says: with the checker's verdict, or without. A rule is compiled without, for a deny rule
 * that can never deny is refused.
 */
export function compileCase(test: SpecCase, slot: CelSlot): CompileResult {
  const mode = test.isUnchecked || slot !== "value" ? "unchecked" : "checked";
  return compileIn(test.expression, test.environment, slot, mode);
}
