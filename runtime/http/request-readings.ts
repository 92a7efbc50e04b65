import type { ClientCertificate, RequestVariables } from "../cel/variables.ts";
import { type HeaderList, headerLines, headerMap, headerValue } from "./headers/header-list.ts";

/** A request whose headers may have several lines. */
export interface RepeatingRequest extends RequestVariables {
  readonly requestHeaders: HeaderList;
  readonly hasReadRepeated: boolean;
  readonly query: string;
}

/** Cookies and query parameters that expressions read by name; `any`: names known only at run time. */
export interface ParametersRead {
  readonly cookies: readonly string[] | "any";
  readonly query: readonly string[] | "any";
}

/** Maximum number of readings of one request that are evaluated. */
const MAX_READINGS = 1_000;

/**
 * Whether a request may be read in more than one way, considering what expressions have read of it. Call it after they ran: a
 * header with several lines is recorded when it is read.
 */
export function isRepeating(request: RepeatingRequest, parameters?: ParametersRead): boolean {
  if (request.hasReadRepeated) return true;
  if (parameters === undefined) return false;
  const { cookies, query } = parameters;
  if (repeatedPairs(request.query, query, queryPairs).size > 0) return true;
  const header = cookies.length > 0 ? request.header("cookie") : undefined;
  return header !== undefined && repeatedPairs(header, cookies, cookiePairs).size > 0;
}

/**
 * Evaluates all readings of a request that differ in what `evaluate` reads: each line of a header with several lines and the
 * joined value, each value of a parameter or cookie with several values. Stops when `evaluate` returns true. Returns
 * `undefined` if there are too many readings.
 */
export function someReading(
  request: RepeatingRequest,
  parameters: ParametersRead | undefined,
  evaluate: (reading: RequestVariables) => boolean,
): boolean | undefined {
  const choices = new Choices();
  for (let count = 0; count < MAX_READINGS; count++) {
    if (evaluate(new RequestReading(request, parameters, choices))) return true;
    if (!choices.advance()) return false;
  }
  return undefined;
}

/** The choices of one reading, in the order in which they were made. */
class Choices {
  readonly #made: { readonly subject: string; readonly options: number; taken: number }[] = [];

  /** Returns the option of a subject in this reading. */
  of(subject: string, options: number): number {
    const known = this.#made.find((each) => each.subject === subject);
    if (known !== undefined) return known.taken;
    this.#made.push({ subject, options, taken: 0 });
    return 0;
  }

  /** Advances to the next reading. Returns false after the last one. */
  advance(): boolean {
    for (let last = this.#made.at(-1); last !== undefined; last = this.#made.at(-1)) {
      last.taken += 1;
      if (last.taken < last.options) return true;
      this.#made.pop();
    }
    return false;
  }
}

/** A request as read by a server that uses one of several lines or values. */
class RequestReading implements RequestVariables {
  readonly #request: RepeatingRequest;
  readonly #parameters: ParametersRead | undefined;
  readonly #choices: Choices;

  constructor(request: RepeatingRequest, parameters: ParametersRead | undefined, choices: Choices) {
    this.#request = request;
    this.#parameters = parameters;
    this.#choices = choices;
  }

  header(name: string): string | undefined {
    const list = this.#request.requestHeaders;
    const joined = headerValue(list, name);
    if (joined === undefined) return undefined;
    const lines = headerLines(list, name);
    const taken = lines.length < 2 ? 0 : this.#choices.of(`header ${name}`, lines.length + 1);
    const value = lines[taken - 1] ?? joined;
    return name === "cookie"
      ? this.#chosen(value, this.#parameters?.cookies ?? [], cookiePairs)
      : value;
  }

  headerMap(): ReadonlyMap<string, string> {
    const joined = headerMap(this.#request.requestHeaders);
    return new HeadersOfReading(joined, (name) => this.header(name));
  }

  get pathAndQuery(): string {
    return this.#withQuery(this.#request.pathAndQuery);
  }

  get uri(): string {
    return this.#withQuery(this.#request.uri);
  }

  get method(): string {
    return this.#request.method;
  }

  get scheme(): string {
    return this.#request.scheme;
  }

  get host(): string {
    return this.#request.host;
  }

  get path(): string {
    return this.#request.path;
  }

  get version(): string {
    return this.#request.version;
  }

  get startTime(): number {
    return this.#request.startTime;
  }

  get remoteAddress(): string {
    return this.#request.remoteAddress;
  }

  get remotePort(): number {
    return this.#request.remotePort;
  }

  get peerAddress(): string {
    return this.#request.peerAddress;
  }

  get peerPort(): number {
    return this.#request.peerPort;
  }

  get localAddress(): string {
    return this.#request.localAddress;
  }

  get localPort(): number {
    return this.#request.localPort;
  }

  get serverName(): string | undefined {
    return this.#request.serverName;
  }

  get record(): RequestVariables["record"] {
    return this.#request.record;
  }

  get bufferedBody(): Uint8Array | undefined {
    return this.#request.bufferedBody;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.#request.clientCertificate;
  }

  #withQuery(target: string): string {
    const { query } = this.#request;
    const chosen = this.#chosen(query, this.#parameters?.query ?? [], queryPairs);
    return chosen === query ? target : `${target.slice(0, target.length - query.length)}${chosen}`;
  }

  /** Returns the string for this reading. The first reading has the whole string, of which expressions read the first value. */
  #chosen(text: string, read: readonly string[] | "any", syntax: PairSyntax): string {
    let chosen = text;
    for (const [name, pairs] of repeatedPairs(text, read, syntax)) {
      const taken = this.#choices.of(`${name} of ${text}`, pairs.length + 1);
      const pair = pairs[taken - 1];
      if (pair !== undefined) chosen = withOnlyPair(chosen, pair, syntax);
    }
    return chosen;
  }
}

/** The headers of a reading. A line is chosen when a header is read. */
class HeadersOfReading extends Map<string, string> {
  readonly #names: readonly string[];
  readonly #read: (name: string) => string | undefined;

  constructor(joined: ReadonlyMap<string, string>, read: (name: string) => string | undefined) {
    super();
    for (const name of joined.keys()) super.set(name, "");
    this.#names = [...joined.keys()];
    this.#read = read;
  }

  override get(name: string): string | undefined {
    return this.#read(name);
  }

  override entries(): MapIterator<[string, string]> {
    for (const name of this.#names) super.set(name, this.#read(name) ?? "");
    return super.entries();
  }

  override values(): MapIterator<string> {
    this.entries();
    return super.values();
  }

  override forEach(visit: (value: string, name: string, map: Map<string, string>) => void): void {
    for (const [name, value] of this.entries()) visit(value, name, this);
  }

  override [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries();
  }
}

/** Syntax of strings with pairs of a name and a value: a query string, or the cookies of a header. */
export interface PairSyntax {
  readonly separator: string;
  /** Returns the name of a pair as expressions read it; `undefined` if it has none. */
  readonly nameOf: (pair: string) => string | undefined;
}

/** Pairs of a query string; names are decoded. */
const queryPairs: PairSyntax = {
  separator: "&",
  nameOf: (pair) => new URLSearchParams(pair).keys().next().value,
};

/** Cookies of a Cookie header. */
const cookiePairs: PairSyntax = {
  separator: ";",
  nameOf: (pair) => {
    const equals = pair.indexOf("=");
    return equals === -1 ? undefined : pair.slice(0, equals).trim();
  },
};

/** Returns the names, of those that are read, that occur in several different pairs, with these pairs. */
function repeatedPairs(
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

/** Keeps one pair and removes the others of its name. */
function withOnlyPair(text: string, pair: string, { separator, nameOf }: PairSyntax): string {
  const name = nameOf(pair);
  const others = text.split(separator).filter((each) => nameOf(each) !== name);
  return [...others, pair].join(separator);
}
