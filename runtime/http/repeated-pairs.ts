/** How a text holds pairs of a name and a value: a query string, the cookies of a header. */
export interface PairSyntax {
  readonly separator: string;
  /** The name of a pair as expressions read it; `undefined` if it has none. */
  readonly nameOf: (pair: string) => string | undefined;
}

/** Pairs of a query string; names are decoded. */
export const queryPairs: PairSyntax = {
  separator: "&",
  nameOf: (pair) => new URLSearchParams(pair).keys().next().value,
};

/** Cookies of a Cookie header. */
export const cookiePairs: PairSyntax = {
  separator: ";",
  nameOf: (pair) => {
    const equals = pair.indexOf("=");
    return equals === -1 ? undefined : pair.slice(0, equals).trim();
  },
};

/** Of the names that are read, those that a text has in several pairs that differ, with these pairs. */
export function repeatedPairs(
  text: string,
  read: readonly string[] | "any",
  { separator, nameOf }: PairSyntax,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  if (read.length === 0 || !text.includes(separator)) return found;
  for (const pair of text.split(separator)) {
    const name = nameOf(pair);
    if (name === undefined || (read !== "any" && !read.includes(name))) continue;
    const known = found.get(name);
    if (known === undefined) found.set(name, [pair]);
    else if (!known.includes(pair)) known.push(pair);
  }
  for (const [name, pairs] of found) if (pairs.length === 1) found.delete(name);
  return found;
}

/** A text with one pair instead of all of the same name. */
export function withOnlyPair(
  text: string,
  pair: string,
  { separator, nameOf }: PairSyntax,
): string {
  const name = nameOf(pair);
  const others = text.split(separator).filter((each) => nameOf(each) !== name);
  return [...others, pair].join(separator);
}
