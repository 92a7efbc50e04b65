import type { RequestData } from "../effect/data/request-data.ts";
import { CANONICAL_PATH } from "../effect/strings/string-classes.ts";
import { type AccessChain, rulesOfChain } from "./chain.ts";
import type { PairRegion } from "./pair-region.ts";
import { type RuleTemplate, ruleTemplate } from "./rule-template.ts";

/**
 * Two chains, and where their requests come from, with places for the names in them. Where the keys are equal, the names
 * of one can be put into the places of the other's: what is true of one pair of chains is then true of the other. Names
 * are asked for in two ways alone, whether a string is one and whether it begins with one, so that the classes of strings
 * follow from which names are equal and which begin with which (Effective access: of constants and prefixes each end, and
 * one step away from it, are all there is).
 */
export interface ChainLikeness {
  readonly key: string;
  readonly names: readonly string[];
}

/** More names than this are compared with one another no more. */
const MAX_NAMES = 32;

/** Undefined: there is something else in the chains than names. */
export function chainLikeness(
  chains: readonly [AccessChain, AccessChain],
  phase: string,
  region: PairRegion | undefined,
): ChainLikeness | undefined {
  const rules = chains.flatMap(rulesOfChain).map(({ text }) => ruleTemplate(text));
  const ways = (region ?? []).map(({ meets, misses }) => [meets, misses]);
  const matches = ways.flat(2);
  const whole = rules.filter((each) => each !== undefined);
  if (whole.length < rules.length || matches.some(({ path }) => path.kind === "regex"))
    return undefined;
  const paths = matches.flatMap(({ path }) => [path.value, `${path.value}/`]);
  const names = [...whole.flatMap((each) => each.names), ...paths];
  if (names.length > MAX_NAMES || names.some((name) => name.includes(FOREIGN))) return undefined;
  const words = wordsOf(whole, matches);
  const structure = [
    phase,
    chains.map(({ identities, stages }) => [
      identities.map(({ variable, isRequired }) => [variable, isRequired]),
      stages.map((stage) => [stage.phase, stage.rules.map(({ action }) => action)]),
    ]),
    whole.map(({ text }) => text),
    ways.map((way) =>
      way.map((side) => side.map(({ path, method, headers }) => [path.kind, method, headers])),
    ),
    words,
  ];
  return { key: `${JSON.stringify(structure)} ${relations(names, words)}`, names };
}

/** A character that leads from every name out of all of them. */
const FOREIGN = "~";

/** What is no name: a name that is equal to it, or one that begins with it, is another case. */
function wordsOf(
  rules: readonly RuleTemplate[],
  matches: readonly { readonly headers: readonly { readonly name: string }[] }[],
): readonly string[] {
  const headers = matches.flatMap((each) => each.headers.map(({ name }) => name));
  return [...new Set([...rules.flatMap((each) => each.words), ...headers, "/", ""])];
}

const PATH = new RegExp(CANONICAL_PATH, "u");

/** Which names and words are equal or begin with one another, and which names can be paths, or begin some. */
function relations(names: readonly string[], words: readonly string[]): string {
  const all = [...names, ...words];
  const pairs = names.flatMap((name) =>
    all.map((other) =>
      name === other ? "=" : name.startsWith(other) ? ">" : other.startsWith(name) ? "<" : ".",
    ),
  );
  const paths = names.map((name) =>
    [PATH.test(name), PATH.test(name + FOREIGN)].map(Number).join(""),
  );
  return `${pairs.join("")} ${paths.join(" ")}`;
}

/** A text in which names stand as literals, with others in their places. */
export function withNames(text: string, from: ChainLikeness, to: ChainLikeness): string {
  const tokens = new Map(
    from.names.map((name, at) => [JSON.stringify(name), JSON.stringify(to.names[at] ?? name)]),
  );
  return text.replace(/"(?:[^"\\]|\\.)*"/g, (token) => tokens.get(token) ?? token);
}

/** Data in which strings are names, or begin with some, with others in their places. */
export function dataWithNames(
  data: RequestData,
  from: ChainLikeness,
  to: ChainLikeness,
): RequestData {
  const valueWith = (value: unknown): unknown => {
    if (typeof value === "string") return stringWithNames(value, from, to);
    if (Array.isArray(value)) return value.map(valueWith);
    return typeof value === "object" && value !== null ? fieldsWith(value) : value;
  };
  const fieldsWith = (fields: object): RequestData =>
    Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, valueWith(value)]));
  return fieldsWith(data);
}

function stringWithNames(text: string, from: ChainLikeness, to: ChainLikeness): string {
  const [longest] = from.names
    .map((name, at) => ({ name, at }))
    .filter(({ name }) => text.startsWith(name))
    .toSorted((a, b) => b.name.length - a.name.length);
  return longest === undefined
    ? text
    : `${to.names[longest.at] ?? ""}${text.slice(longest.name.length)}`;
}
