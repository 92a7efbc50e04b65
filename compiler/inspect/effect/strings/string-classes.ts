import { RE2JS } from "re2js";
import type { Work } from "../work/work.ts";
import { alphabetOf } from "./alphabet.ts";
import { LengthMachine, type Machine } from "./machine.ts";
import { PrefixMachine } from "./prefix-machine.ts";
import { RegexMachine } from "./regex-machine.ts";
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
  // Domains are our own patterns, which mean the same in JavaScript and run faster there.
  const pattern = domain.pattern === undefined ? undefined : new RegExp(domain.pattern, "u");
  const examples = new Map<string, string>();
  const offer = (text: string): void => {
    work.spend(featureSteps(features, text.length));
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
