import fc from "fast-check";

/** Values that replace others. */
const JUNK: readonly unknown[] = [
  ...["", "x", "1s", "A_b", "*", "a".repeat(300)],
  ...[0, -1, 1.5, true, [], {}, ["a"], { a: "b" }],
];

/** A change of a document: where, and how. */
export interface Mutation {
  readonly place: number;
  readonly junk: number;
  readonly how: "remove" | "replace" | "repeat";
}

/** So many mutations, the same each time. */
export function mutations(count: number): readonly Mutation[] {
  const mutation = fc.record<Mutation>({
    place: fc.nat(),
    junk: fc.nat(JUNK.length - 1),
    how: fc.constantFrom("remove", "replace", "repeat"),
  });
  return fc.sample(mutation, { numRuns: count, seed: 1 });
}

/** A copy of a document whose `spec` has one change. */
export function mutated<Document extends { readonly spec?: unknown }>(
  document: Document,
  { place, junk, how }: Mutation,
): Document {
  const copy = structuredClone(document);
  const places = [...members(copy.spec)];
  const found = places[place % Math.max(1, places.length)];
  if (found === undefined) return copy;
  const [owner, key] = found;
  const value = structuredClone(JUNK[junk]);
  if (how === "replace") Reflect.set(owner, key, value);
  else if (how === "remove" && Array.isArray(owner)) owner.splice(Number(key), 1);
  else if (how === "remove") Reflect.deleteProperty(owner, key);
  else if (Array.isArray(owner)) owner.push(structuredClone(owner[Number(key)]));
  else Reflect.set(owner, `${key}Else`, value);
  return copy;
}

function* members(value: unknown): Generator<readonly [object, string]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    yield [value, key];
    yield* members(each);
  }
}
