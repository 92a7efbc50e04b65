import { RE2JS } from "re2js";

/** Something that an expression can ask of a string. */
export type StringFeature =
  | { readonly kind: "equals"; readonly text: string }
  | { readonly kind: "startsWith"; readonly text: string }
  | { readonly kind: "endsWith"; readonly text: string }
  | { readonly kind: "contains"; readonly text: string }
  /** RE2, anywhere in the string. */
  | { readonly kind: "matches"; readonly text: string };

/** Tells features apart. */
export function featureKey({ kind, text }: StringFeature): string {
  return `${kind} ${text}`;
}

/** A function that says whether a string has a feature. */
export function featureTest({ kind, text }: StringFeature): (value: string) => boolean {
  switch (kind) {
    case "equals":
      return (value) => value === text;
    case "startsWith":
      return (value) => value.startsWith(text);
    case "endsWith":
      return (value) => value.endsWith(text);
    case "contains":
      return (value) => value.includes(text);
    case "matches": {
      const pattern = RE2JS.compile(text);
      return (value) => pattern.test(value);
    }
  }
}

/** Which of several features a string has: a digit for each. */
export function featureVector(
  tests: readonly ((value: string) => boolean)[],
  value: string,
): string {
  return tests.map((has) => (has(value) ? "1" : "0")).join("");
}
