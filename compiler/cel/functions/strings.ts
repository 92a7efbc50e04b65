import { declareFunctions } from "./declaration.ts";

/** The strings extension, and two functions that existing configurations use. Indices count code points. */
export const stringFunctions = declareFunctions({
  charAt: {
    helper: "functions/strings#charAt",
    doc: "The character at an index; empty at the end.",
    signatures: ["string.charAt(int): string"],
    example: ['"hello".charAt(4)', '"o"'],
  },
  indexOf: {
    helper: "functions/strings#indexOf",
    doc: "The index of the first occurrence of a substring, optionally from an index on; -1 if there is none.",
    signatures: ["string.indexOf(string): int", "string.indexOf(string, int): int"],
    example: ['"hello mellow".indexOf("ello", 2)', "7"],
  },
  lastIndexOf: {
    helper: "functions/strings#lastIndexOf",
    doc: "The index of the last occurrence of a substring, optionally up to an index; -1 if there is none.",
    signatures: ["string.lastIndexOf(string): int", "string.lastIndexOf(string, int): int"],
    example: ['"hello mellow".lastIndexOf("ello")', "7"],
  },
  substring: {
    helper: "functions/strings#substring",
    doc: "The substring from an index, optionally up to another index.",
    signatures: ["string.substring(int): string", "string.substring(int, int): string"],
    example: ['"tacocat".substring(0, 4)', '"taco"'],
  },
  lowerAscii: {
    helper: "functions/strings#lowerAscii",
    doc: "The string with A to Z in lower case.",
    signatures: ["string.lowerAscii(): string"],
    example: ['"TacoCÆt".lowerAscii()', '"tacocÆt"'],
  },
  upperAscii: {
    helper: "functions/strings#upperAscii",
    doc: "The string with a to z in upper case.",
    signatures: ["string.upperAscii(): string"],
    example: ['"taco".upperAscii()', '"TACO"'],
  },
  replace: {
    helper: "functions/strings#replace",
    doc: "The string with a substring replaced, everywhere or a limited number of times.",
    signatures: [
      "string.replace(string, string): string",
      "string.replace(string, string, int): string",
    ],
    example: ['"hello hello".replace("he", "we", 1)', '"wello hello"'],
  },
  split: {
    helper: "functions/strings#split",
    doc: "The parts between separators, optionally limited in number. Without a separator: the members of a header.",
    signatures: [
      "string.split(string): list(string)",
      "string.split(string, int): list(string)",
      "string.split(): list(string)",
    ],
    example: ['"a,b,c".split(",", 2)', '["a", "b,c"]'],
  },
  join: {
    helper: "functions/strings#join",
    doc: "The strings of a list, joined with an optional separator.",
    signatures: [
      "list(string).join(): string",
      "list(string).join(string): string",
      "string.join(): string",
    ],
    example: ['["a", "b"].join("-")', '"a-b"'],
  },
  trim: {
    helper: "functions/strings#trim",
    doc: "The string without whitespace at both ends.",
    signatures: ["string.trim(): string"],
    example: ['"  a ".trim()', '"a"'],
  },
  reverse: {
    helper: "functions/strings#reverse",
    doc: "Its characters in reverse order.",
    signatures: ["string.reverse(): string"],
    example: ['"abc".reverse()', '"cba"'],
  },
  format: {
    helper: "functions/format#format",
    doc: "The string with `%s %d %f %e %b %o %x %X` replaced by the values of a list.",
    signatures: ["string.format(list(dyn)): string"],
    example: ['"%s has %d".format(["a", 2])', '"a has 2"'],
  },
  "strings.quote": {
    helper: "functions/strings#quote",
    doc: "The string as a quoted literal.",
    signatures: ["strings.quote(string): string"],
    example: ["strings.quote('a\"b').size()", "6"],
  },
  stripPrefix: {
    helper: "functions/strings#stripPrefix",
    doc: "The string without a prefix, if it has that.",
    signatures: ["string.stripPrefix(string): string"],
    example: ['"/api/x".stripPrefix("/api")', '"/x"'],
  },
  stripSuffix: {
    helper: "functions/strings#stripSuffix",
    doc: "The string without a suffix, if it has that.",
    signatures: ["string.stripSuffix(string): string"],
    example: ['"a.json".stripSuffix(".json")', '"a"'],
  },
  regexReplace: {
    helper: "functions/pattern#regexReplace",
    doc: "The string with every match of an RE2 pattern replaced; `$1` is the first group.",
    signatures: ["string.regexReplace(string, string): string"],
    example: ['"a1b22".regexReplace("[0-9]+", "#")', '"a#b#"'],
  },
});
