import { RE2JS } from "re2js";

/** A property of strings that an expression can test. */
export type StringFeature =
  | { readonly kind: "equals"; readonly text: string }
  | { readonly kind: "startsWith"; readonly text: string }
  | { readonly kind: "endsWith"; readonly text: string }
  | { readonly kind: "contains"; readonly text: string }
  /** Minimum number of characters, as a decimal number. */
  | { readonly kind: "isAsLongAs"; readonly text: string }
  /** RE2 pattern, anywhere in the string. */
  | { readonly kind: "matches"; readonly text: string };

/** Returns a unique string for a feature. */
export function featureKey({ kind, text }: StringFeature): string {
  return `${kind} ${text}`;
}

/** Maximum number of features for which individual tests are faster than lookup tables. */
const MAX_TESTS = 8;

/**
 * Returns a function that computes the feature vector of a string, in the format of `vectorText`. Constants and prefixes
 * are looked up, so that thousands of them (the paths of a routing table) cost only the length of the string.
 */
export function featureVector(features: readonly StringFeature[]): (value: string) => string {
  if (features.length > MAX_TESTS) return lookedUpVector(features);
  const tests = features.map(featureTest);
  return (value) => {
    let digits = "";
    for (const has of tests) digits += has(value) ? "1" : "0";
    return digits;
  };
}

function lookedUpVector(features: readonly StringFeature[]): (value: string) => string {
  const places = (kind: StringFeature["kind"]): ReadonlyMap<string, readonly number[]> => {
    const own = features.flatMap((each, at) =>
      each.kind === kind ? [{ text: each.text, at }] : [],
    );
    const groups = Map.groupBy(own, ({ text }) => text);
    return new Map([...groups].map(([text, same]) => [text, same.map(({ at }) => at)]));
  };
  const [constants, prefixes] = [places("equals"), places("startsWith")];
  const maxLength = Math.max(-1, ...[...prefixes.keys()].map(({ length }) => length));
  const others = features.flatMap((each, at) =>
    each.kind === "equals" || each.kind === "startsWith" ? [] : [{ has: featureTest(each), at }],
  );
  return (value) => {
    const had = [...(constants.get(value) ?? [])];
    for (let end = 0; end <= Math.min(maxLength, value.length); end += 1)
      had.push(...(prefixes.get(value.slice(0, end)) ?? []));
    for (const { has, at } of others) if (has(value)) had.push(at);
    return placesText(had);
  };
}

/** Formats a feature vector, given as one digit per feature: the digits if they are few, else the indexes of the ones. */
export function vectorText(digits: string): string {
  if (digits.length <= MAX_TESTS) return digits;
  const had: number[] = [];
  for (let at = digits.indexOf("1"); at >= 0; at = digits.indexOf("1", at + 1)) had.push(at);
  return placesText(had);
}

function placesText(had: number[]): string {
  return had.sort((a, b) => a - b).join();
}

/** Returns a function that estimates the steps for testing features of a string of a given length. */
export function featureSteps(features: readonly StringFeature[]): (length: number) => number {
  const many = (wanted: StringFeature["kind"]) =>
    features.filter(({ kind }) => kind === wanted).length;
  const others = features.length > MAX_TESTS ? 1 : features.length;
  // Counted once: a routing table has as many strings to test as features.
  const searched = many("matches") * 8 + many("isAsLongAs") + many("contains");
  return (length) => others + (length >> 3) + searched * (1 + (length >> 2));
}

/** Returns a test for a feature. */
function featureTest({ kind, text }: StringFeature): (value: string) => boolean {
  switch (kind) {
    case "equals":
      return (value) => value === text;
    case "startsWith":
      return (value) => value.startsWith(text);
    case "endsWith":
      return (value) => value.endsWith(text);
    case "contains":
      return (value) => value.includes(text);
    case "isAsLongAs": {
      const least = Number(text);
      // A character has one or two UTF-16 units.
      return (value) => value.length >= least && [...value].length >= least;
    }
    case "matches": {
      const pattern = RE2JS.compile(text);
      return (value) => pattern.test(value);
    }
  }
}
