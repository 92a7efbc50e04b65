import type { ResolveContext } from "../policy.ts";
import { type CustomEntry, policyName } from "./entry.ts";
import type { CustomEntryConfig } from "./fields.ts";
import { type PolicyReading, readDeclaration } from "./read-policy.ts";

/** Returns the policies that provide values, by value. */
export function providedValues(
  entries: readonly Pick<CustomEntry, "name" | "provides">[],
): ReadonlyMap<string, string> {
  return new Map(
    entries.flatMap(({ name, provides }) =>
      Object.keys(provides ?? {}).map((value) => [value, name] as const),
    ),
  );
}

/** Returns the same for policies that are not resolved; `undefined` if a module has mistakes. */
export function declaredValues(
  entries: readonly CustomEntryConfig[],
  reading: PolicyReading,
): ReadonlyMap<string, string> | undefined {
  const declared = entries.flatMap(({ use, isPublished, origin }) => {
    const provides = readDeclaration({ use, isPublished }, origin, reading)?.provides;
    return provides === undefined ? [] : [{ name: policyName(use), provides }];
  });
  return declared.length < entries.length ? undefined : providedValues(declared);
}

/** Reports values that two policies of a route provide: which one rules read would depend on the request. */
export function reportProvidedTwice(
  entries: readonly CustomEntry[],
  { route, diagnostics }: ResolveContext,
): void {
  const before = route.identityFields.flatMap((each) => [...(each.providers ?? [])]);
  const providers = new Map<string, string>(before);
  for (const { name, provides, named } of entries) {
    for (const value of Object.keys(provides ?? {})) {
      const first = providers.get(value);
      if (first !== undefined)
        diagnostics.report("provided-twice", named, {
          value,
          first,
          second: name,
        });
      providers.set(value, name);
    }
  }
}
