import { declareFunctions } from "./declaration.ts";

/** Functions of the language itself, less conversions and time. */
export const standardFunctions = declareFunctions({
  size: {
    helper: "collections/collections#size",
    doc: "Code points of a string, bytes, elements of a list, entries of a map.",
    signatures: [
      "size(string): int",
      "size(bytes): int",
      "size(list(A)): int",
      "size(map(A, B)): int",
      "string.size(): int",
      "bytes.size(): int",
      "list(A).size(): int",
      "map(A, B).size(): int",
    ],
    example: ['size("été")', "3"],
    range: [0, 4_294_967_296],
  },
  startsWith: {
    helper: "functions/strings#startsWith",
    doc: "Whether a string begins with another.",
    signatures: ["string.startsWith(string): bool"],
    example: ['"/api/v1".startsWith("/api")', "true"],
  },
  endsWith: {
    helper: "functions/strings#endsWith",
    doc: "Whether a string ends with another.",
    signatures: ["string.endsWith(string): bool"],
    example: ['"a@example.com".endsWith("@example.com")', "true"],
  },
  contains: {
    helper: "functions/strings#contains",
    doc: "Whether a string contains another.",
    signatures: ["string.contains(string): bool"],
    example: ['"gateway".contains("tew")', "true"],
  },
  matches: {
    helper: "functions/pattern#matchesAnywhere",
    doc: "Whether an RE2 pattern matches anywhere in a string; `^` and `$` anchor it.",
    signatures: ["string.matches(string): bool", "matches(string, string): bool"],
    example: ['"v1.20".matches("^v[0-9]+")', "true"],
  },
});
