import type { ts } from "ts-morph";
import { isAsync, policyObject } from "../../policies/custom/declaration.ts";
import type { TypeScript } from "../../policies/custom/typescript.ts";

/** A mistake in a module, in the form of TypeScript's diagnostics. */
export interface HookMistake {
  readonly start: number;
  readonly length: number;
  readonly messageText: string;
}

/**
 * Finds hooks that can return a promise without being declared `async`: generated code waits for async hooks only, so such a
 * promise fails the request.
 */
export function undeclaredPromises(
  source: ts.SourceFile,
  checker: ts.TypeChecker,
  typescript: TypeScript,
): readonly HookMistake[] {
  const properties = policyObject(source, typescript)?.properties ?? [];
  return properties.flatMap((property) => {
    const { name } = property;
    const made = typescript.isPropertyAssignment(property) ? property.initializer : property;
    if (name === undefined || isAsync(property, typescript)) return [];
    const returned = checker
      .getTypeAtLocation(made)
      .getCallSignatures()
      .map((each) => each.getReturnType());
    if (!returned.some((type) => hasPromise(type, checker))) return [];
    const messageText = `the hook "${name.getText(source)}" returns a promise: declare it "async" here, so that the gateway waits for it`;
    return [{ start: name.getStart(source), length: name.getWidth(source), messageText }];
  });
}

function hasPromise(type: ts.Type, checker: ts.TypeChecker): boolean {
  const parts = type.isUnion() ? type.types : [type];
  return parts.some((part) => checker.getAwaitedType(part) !== part);
}
