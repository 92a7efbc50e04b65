import { RE2JS } from "re2js";
import type { Work } from "../work/work.ts";
import { LengthMachine, type Machine } from "./machine.ts";
import { PrefixMachine } from "./prefix-machine.ts";
import { RegexMachine } from "./regex-machine.ts";
import { isWordRune, NEWLINE, OPERATION, regexProgram, takesRune } from "./regex-program.ts";
import {
  featureKey,
  featureSteps,
  featureVector,
  type StringFeature,
  vectorText,
} from "./string-feature.ts";

/** Possible combinations of features, each with an example string. */
export interface StringClasses {
  /** Examples by feature vector. */
  readonly examples: ReadonlyMap<string, string>;
  /** Whether all combinations were found, so that the search was not aborted. */
  readonly isComplete: boolean;
}

/** Possible strings of a value. */
export interface StringDomain {
  /** Pattern that all of them match; `undefined` for any string. */
  readonly pattern: string | undefined;
  /** Readable strings, which are tried first. */
  readonly plain: readonly string[];
}

/** Maximum number of states to search. */
const MAX_STATES = 20_000;

/**
 * Cached classes: rules of many routes test methods, headers and claims in the same way. A cache hit costs the same steps
 * as the computation, so that results do not depend on earlier questions.
 */
const known = new Map<string, { readonly classes: StringClasses; readonly steps: number }>();

/** Maximum number of features for caching: more belong to a routing table, which is analyzed once. */
const MAX_KNOWN_FEATURES = 16;

/** Returns the possible combinations of features of a string in a domain. */
export function stringClasses(
  features: readonly StringFeature[],
  domain: StringDomain,
  work: Work,
): StringClasses {
  if (features.length > MAX_KNOWN_FEATURES) return computedClasses(features, domain, work);
  const key = JSON.stringify([features.map(featureKey), domain]);
  const found = known.get(key);
  if (found !== undefined) {
    work.spend(found.steps);
    return found.classes;
  }
  const before = work.spent;
  const classes = computedClasses(features, domain, work);
  known.set(key, { classes, steps: work.spent - before });
  return classes;
}

function computedClasses(
  features: readonly StringFeature[],
  domain: StringDomain,
  work: Work,
): StringClasses {
  const vectorOf = featureVector(features);
  const stepsOf = featureSteps(features);
  // Domains are our own patterns, which mean the same in JavaScript and run faster there.
  const pattern = domain.pattern === undefined ? undefined : new RegExp(domain.pattern, "u");
  const examples = new Map<string, string>();
  const offer = (text: string): void => {
    work.spend(stepsOf(text.length));
    if (pattern !== undefined && !pattern.test(text)) return;
    const vector = vectorOf(text);
    if (!examples.has(vector)) examples.set(vector, text);
  };
  for (const text of [...domain.plain, ...readableTexts(features)]) offer(text);
  if (areConstantsOnly(features, domain)) {
    for (const text of constantEnds(features)) offer(text);
    return { examples, isComplete: true };
  }
  const isComplete = search(features, domain.pattern, examples, work);
  return { examples, isComplete };
}

/** A character that usually no constant contains. */
const FOREIGN = "~";

/** Whether appending FOREIGN to any prefix of a constant leaves the trie and stays in the domain. */
function areConstantsOnly(features: readonly StringFeature[], { pattern }: StringDomain): boolean {
  return (
    (pattern === undefined || pattern === CANONICAL_PATH) &&
    features.every(({ kind, text }) => isConstant(kind) && !text.includes(FOREIGN))
  );
}

/** Lists all states of a trie of constants: the end of each, and one step off it. */
function constantEnds(features: readonly StringFeature[]): readonly string[] {
  const away = features.map(({ text }) => `${text}${FOREIGN}`);
  return [FOREIGN, `/${FOREIGN}`, ...features.map(({ text }) => text), ...away];
}

/** Matches canonical paths, as rules and routes read them (runtime/http/routing/path.ts). */
export const CANONICAL_PATH = "^/(?:[!-.0-\\[\\]-~]+/)*[!-.0-\\[\\]-~]*$";

function isConstant(kind: StringFeature["kind"]): boolean {
  return kind === "equals" || kind === "startsWith";
}

/** Lists the constants and strings near them; for prefixes and the like, extended ones come first. */
function readableTexts(features: readonly StringFeature[]): readonly string[] {
  const literal = features.filter(({ kind }) => kind !== "matches" && kind !== "isAsLongAs");
  const [whole, parts] = [true, false].map((isWhole) =>
    literal.filter(({ kind }) => (kind === "equals") === isWhole),
  );
  const near = [...(parts ?? []), ...(whole ?? [])].flatMap(({ kind, text }) =>
    kind === "endsWith" ? [`x${text}`, `${text}x`] : [`${text}x`, `x${text}`],
  );
  const texts = (some: readonly StringFeature[] = []) => some.map(({ text }) => text);
  return [...texts(whole), ...near, ...texts(parts)];
}

/** A combined state of all machines and the path to it. */
interface Reached {
  readonly states: readonly number[];
  readonly before: Reached | undefined;
  readonly symbol: number;
}

/** Walks all machines in parallel, breadth first for short examples; returns false if there are too many states. */
function search(
  features: readonly StringFeature[],
  domain: string | undefined,
  examples: Map<string, string>,
  work: Work,
): boolean {
  const constants = features.filter(({ kind }) => isConstant(kind));
  const lengths = features.filter(({ kind }) => kind === "isAsLongAs");
  const others = features.filter(({ kind }) => !isConstant(kind) && kind !== "isAsLongAs");
  const patterns = others.map(patternOf);
  const alphabet = alphabetOf(
    constants.map(({ text }) => text),
    domain === undefined ? patterns : [...patterns, domain],
    work,
  );
  const machines: readonly Machine[] = [
    new PrefixMachine(constants, alphabet, work),
    new LengthMachine(lengths),
    ...patterns.map((pattern) => new RegexMachine(pattern, alphabet, work)),
  ];
  const within = domain === undefined ? undefined : new RegexMachine(domain, alphabet, work);
  const all = within === undefined ? machines : [...machines, within];
  const places = features.map((each) => [...constants, ...lengths, ...others].indexOf(each));
  const record = (reached: Reached): void => {
    if (within?.accepted(reached.states.at(-1) ?? 0) === "0") return;
    const found = machines.map((machine, at) => machine.accepted(reached.states[at] ?? 0)).join("");
    const vector = vectorText(places.map((place) => found[place]).join(""));
    if (!examples.has(vector)) examples.set(vector, textOf(reached, alphabet));
  };
  const first: Reached = { states: all.map(({ start }) => start), before: undefined, symbol: -1 };
  const seen = new Set([first.states.join()]);
  const open: Reached[] = [first];
  for (const reached of open) {
    work.spend(features.length + alphabet.length * (2 + all.length));
    record(reached);
    for (let symbol = 0; symbol < alphabet.length; symbol += 1) {
      const states = reached.states.map((state, at) => all[at]?.step(state, symbol) ?? state);
      const key = states.join();
      if (seen.has(key)) continue;
      if (seen.size >= MAX_STATES) return false;
      seen.add(key);
      open.push({ states, before: reached, symbol });
    }
  }
  return true;
}

function patternOf({ kind, text }: StringFeature): string {
  if (kind === "matches") return text;
  const literal = `(?s)${RE2JS.quote(text)}`;
  return kind === "endsWith" ? `${literal}$` : literal;
}

function textOf(reached: Reached, alphabet: readonly number[]): string {
  const characters: string[] = [];
  for (let at: Reached | undefined = reached; at?.before !== undefined; at = at.before)
    characters.push(String.fromCodePoint(alphabet[at.symbol] ?? 0));
  return characters.reverse().join("");
}

/**
 * Returns a character for each class that neither constants nor patterns distinguish, the most readable first.
 */
function alphabetOf(
  constants: readonly string[],
  patterns: readonly string[],
  work: Work,
): readonly number[] {
  const instructions = patterns.flatMap((pattern) =>
    regexProgram(pattern).inst.filter(({ op }) => op >= OPERATION.firstRune),
  );
  const single = new Set(constants.flatMap((text) => [...text].map(runeOf)));
  const edges = edgesOf(
    single,
    instructions.map(({ runes }) => runes),
  );
  const ranges = instructions.reduce((sum, { runes }) => sum + Math.log2(2 + runes.length), 0);
  work.spend(edges.length * (8 + ranges));
  const classes = new Map<string, number>();
  edges.forEach((low, index) => {
    const high = (edges[index + 1] ?? 0x110000) - 1;
    if (low >= 0xd800 && high <= 0xdfff) return;
    const rune = readable(low, high);
    const key = [
      single.has(rune) ? rune : "",
      rune === NEWLINE,
      isWordRune(rune),
      instructions.map((each) => (takesRune(each, rune) ? 1 : 0)).join(""),
    ].join("|");
    const known = classes.get(key);
    if (known === undefined || rank(rune) < rank(known)) classes.set(key, rune);
  });
  return [...classes.values()].sort((a, b) => rank(a) - rank(b));
}

/** Returns the sorted boundaries between classes. */
function edgesOf(single: ReadonlySet<number>, ranges: readonly Int32Array[]): readonly number[] {
  const edges = new Set([0, 10, 11, 48, 58, 65, 91, 95, 96, 97, 123, 128, 0x10000]);
  const add = (rune: number): void => {
    edges.add(rune);
    edges.add(rune + 1);
  };
  for (const rune of single) add(rune);
  for (const runes of ranges) {
    for (let at = 0; at + 1 < runes.length; at += 2) {
      edges.add(runes[at] ?? 0);
      edges.add((runes[at + 1] ?? 0) + 1);
    }
    if (runes.length === 1) for (const rune of runes) for (const each of folded(rune)) add(each);
  }
  return [...edges].filter((edge) => edge <= 0x10ffff).sort((a, b) => a - b);
}

/** Returns a character and those with the same case folding, which include the Kelvin sign for K and the long s for S (Unicode CaseFolding). */
function folded(rune: number): readonly number[] {
  const text = String.fromCodePoint(rune);
  const cases = [rune, runeOf(text.toLowerCase()), runeOf(text.toUpperCase())];
  if (/k/i.test(text)) cases.push(0x212a);
  if (/s/i.test(text)) cases.push(0x17f);
  return cases;
}

function runeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Returns a readable character of a range, if it has one. */
function readable(low: number, high: number): number {
  const wanted = [0x78, 0x61, 0x2d, 0x20, 0xe9].find((rune) => rune >= low && rune <= high);
  return wanted ?? (low >= 0xd800 && low <= 0xdfff ? 0xe000 : low);
}

/** Ranks characters by readability: letters first, control characters last. */
function rank(rune: number): number {
  if (rune >= 0x61 && rune <= 0x7a) return 0;
  if (rune >= 0x30 && rune <= 0x39) return 1;
  if (rune === 0x2d || rune === 0x2e || rune === 0x2f) return 2;
  if (rune >= 0x41 && rune <= 0x5a) return 3;
  if (rune > 0x20 && rune < 0x7f) return 4;
  if (rune === 0x20) return 5;
  return rune > 0xa0 ? 6 : 7;
}
