import type { RequestData } from "../effect/data/request-data.ts";
import { CANONICAL_PATH } from "../effect/strings/string-classes.ts";
import { type AccessChain, rulesOfChain } from "./chain.ts";
import type { PairRegion } from "./pair-region.ts";
import { type RuleTemplate, ruleTemplate } from "./rule-template.ts";

/**
 * Two chains and their region, with placeholders for names. If two keys are equal, results for one pair of chains hold for
 * the other after renaming. Rules test names only by equality and as prefixes, so the classes of strings depend only on
 * which names are equal and which are prefixes of others.
 */
export interface ChainLikeness {
  readonly key: string;
  readonly names: readonly string[];
}

/** Maximum number of names, as all pairs are compared. */
const MAX_NAMES = 32;

/** Computes the likeness of two chains; `undefined` if they test more than names. */
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

/** A character that no name contains. */
const FOREIGN = "~";

/** Lists the words that are not names, but to which names may be related. */
function wordsOf(
  rules: readonly RuleTemplate[],
  matches: readonly { readonly headers: readonly { readonly name: string }[] }[],
): readonly string[] {
  const headers = matches.flatMap((each) => each.headers.map(({ name }) => name));
  return [...new Set([...rules.flatMap((each) => each.words), ...headers, "/", ""])];
}

const PATH = new RegExp(CANONICAL_PATH, "u");

/** Encodes which names and words are equal or prefixes of each other, and which names are paths or prefixes of paths. */
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

/** Replaces names in the string literals of an expression. */
export function withNames(text: string, from: ChainLikeness, to: ChainLikeness): string {
  const tokens = new Map(
    from.names.map((name, at) => [JSON.stringify(name), JSON.stringify(to.names[at] ?? name)]),
  );
  return text.replace(/"(?:[^"\\]|\\.)*"/g, (token) => tokens.get(token) ?? token);
}

/** Replaces names in the strings of data, where they may be prefixes. */
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
  const [match] = from.names
    .map((name, at) => ({ name, at }))
    .filter(({ name }) => text.startsWith(name))
    .toSorted((a, b) => b.name.length - a.name.length);
  return match === undefined ? text : `${to.names[match.at] ?? ""}${text.slice(match.name.length)}`;
}
