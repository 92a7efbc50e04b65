import { RE2JS } from "re2js";

/** Something that an expression can ask of a string. */
export type StringFeature =
  | { readonly kind: "equals"; readonly text: string }
  | { readonly kind: "startsWith"; readonly text: string }
  | { readonly kind: "endsWith"; readonly text: string }
  | { readonly kind: "contains"; readonly text: string }
  /** So many characters or more, as a decimal number. */
  | { readonly kind: "isAsLongAs"; readonly text: string }
  /** RE2, anywhere in the string. */
  | { readonly kind: "matches"; readonly text: string };

/** Tells features apart. */
export function featureKey({ kind, text }: StringFeature): string {
  return `${kind} ${text}`;
}

/** So many features are asked one after the other sooner than they are put into tables. */
const FEW = 8;

/**
 * A function that says which of several features a string has, as `vectorText` writes it. Constants and prefixes are looked
 * up, so that thousands of them (the paths of a routing table) cost no more than the string is long.
 */
export function featureVector(features: readonly StringFeature[]): (value: string) => string {
  if (features.length > FEW) return lookedUpVector(features);
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
  const longest = Math.max(-1, ...[...prefixes.keys()].map(({ length }) => length));
  const others = features.flatMap((each, at) =>
    each.kind === "equals" || each.kind === "startsWith" ? [] : [{ has: featureTest(each), at }],
  );
  return (value) => {
    const had = [...(constants.get(value) ?? [])];
    for (let end = 0; end <= Math.min(longest, value.length); end += 1)
      had.push(...(prefixes.get(value.slice(0, end)) ?? []));
    for (const { has, at } of others) if (has(value)) had.push(at);
    return placesText(had);
  };
}

/** The features that a string has, of which there is a digit for each: those digits if they are few, else their places. */
export function vectorText(digits: string): string {
  if (digits.length <= FEW) return digits;
  const had: number[] = [];
  for (let at = digits.indexOf("1"); at >= 0; at = digits.indexOf("1", at + 1)) had.push(at);
  return placesText(had);
}

function placesText(had: number[]): string {
  return had.sort((a, b) => a - b).join();
}

/** Steps that it takes to ask for some features of a string of so many characters. */
export function featureSteps(features: readonly StringFeature[], length: number): number {
  const many = (wanted: StringFeature["kind"]) =>
    features.filter(({ kind }) => kind === wanted).length;
  const others = features.length > FEW ? 1 : features.length;
  const searched = many("matches") * 8 + many("isAsLongAs") + many("contains");
  return others + (length >> 3) + searched * (1 + (length >> 2));
}

/** Whether a string has a feature. */
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
      // a character has one or two units
      return (value) => value.length >= least && [...value].length >= least;
    }
    case "matches": {
      const pattern = RE2JS.compile(text);
      return (value) => pattern.test(value);
    }
  }
}
