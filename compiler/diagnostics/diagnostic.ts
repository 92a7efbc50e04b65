import { type MessageCode, type MessageParams, messageOf } from "./messages/index.ts";

/** A mistake and its place; line and column are computed when it is printed. */
export type Diagnostic = {
  [Code in MessageCode]: {
    readonly code: Code;
    readonly params: MessageParams<Code>;
    readonly at: Place;
    /** Other places that belong to the same mistake, each with a label: `first defined here`. */
    readonly related?: readonly RelatedPlace[];
    /** Set if the part counts as one that fails for every request, so that the others are served. */
    readonly isTolerated?: true;
  };
}[MessageCode];

/** A second place of a diagnostic. */
export interface RelatedPlace {
  readonly at: Place;
  readonly label: string;
}

/** Place in the configuration: plain data that does not depend on quoting, comments and layout. */
export interface Origin {
  /** File as the user named it, with `/`. */
  readonly file: string;
  /** Index of the YAML document in the file. */
  readonly document: number;
  /** Keys and indices from the document's root. */
  readonly path: ConfigPath;
  /** Kubernetes resource that it belongs to. */
  readonly resource?: ResourceName;
}

/** A Kubernetes resource in a document; its name identifies its origin, whatever file it is in. */
export interface ResourceName {
  /** Name of the resource: `HTTPRoute default/tools`. */
  readonly name: string;
  /** Number of path steps from the root of the document to the resource: 2 in a list, otherwise 0. */
  readonly depth: number;
}

/** Keys and indices that lead to a value. */
export type ConfigPath = readonly (string | number)[];

/** The smallest part of a file that a diagnostic points at. */
export interface Place extends Origin {
  /** The key, the value (default), or only the file. */
  readonly part?: "key" | "value" | "file";
  /** Offsets inside the decoded scalar: a part of an expression or a pattern. */
  readonly within?: readonly [start: number, end: number];
  /** Offsets in the file, for text that is not a node (a YAML syntax error). */
  readonly offsets?: readonly [start: number, end: number];
}

/** Result of a phase: its value, as far as it got, and all mistakes. */
export interface WithDiagnostics<Value> {
  readonly value: Value | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Collects the diagnostics of one phase. */
export class Diagnostics {
  readonly list: Diagnostic[];
  /** Whether expressions of policies that fail safely may have mistakes. */
  readonly isTolerant: boolean;
  readonly #isIgnored: (found: Diagnostic) => boolean;

  /** Creates a collector that drops diagnostics for which `isIgnored` returns true. */
  constructor(
    isIgnored: (found: Diagnostic) => boolean = () => false,
    isTolerant = false,
    list: Diagnostic[] = [],
  ) {
    this.list = list;
    this.isTolerant = isTolerant;
    this.#isIgnored = isIgnored;
  }

  /** Returns a collector with the same list that drops diagnostics with these codes. */
  except(codes: ReadonlySet<MessageCode>): Diagnostics {
    const isIgnored = (found: Diagnostic) => codes.has(found.code) || this.#isIgnored(found);
    return new Diagnostics(isIgnored, this.isTolerant, this.list);
  }

  /** Returns an empty collector for a part that is resolved separately. */
  separate(): Diagnostics {
    return new Diagnostics(undefined, this.isTolerant);
  }

  /** Adds a diagnostic whose code is only known as one of several. */
  add(found: Diagnostic): void {
    if (!this.#isIgnored(found)) this.list.push(found);
  }

  /** Adds a diagnostic; the type of its parameters depends on its code. */
  report<Code extends MessageCode>(
    code: Code,
    at: Place,
    params: MessageParams<Code>,
    related?: readonly RelatedPlace[],
  ): void {
    const found = { code, at, params, ...(related === undefined ? {} : { related }) };
    this.add(found as unknown as Diagnostic);
  }
}

/** Returns the place `steps` below an origin. */
export function childOf(origin: Origin, ...steps: ConfigPath): Place {
  const { file, document, path, resource } = origin;
  const place = { file, document, path: [...path, ...steps] };
  return resource === undefined ? place : { ...place, resource };
}

/** Returns the same place, pointing at the key instead of the value. */
export function keyPlace(place: Place): Place {
  return { ...place, part: "key" };
}

/** Returns the same string for the same place in the same file. */
export function placeKey({ file, document, path }: Place): string {
  return JSON.stringify([file, document, ...path]);
}

/** Whether two places are the same. */
export function isSamePlace(one: Place, other: Place): boolean {
  return one === other || placeKey(one) === placeKey(other);
}

/** Formats a path as users write it: `binds[0].listeners[1].name`. */
export function formatPath(path: ConfigPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** Whether a diagnostic stops a build. */
export function isError({ code, isTolerated }: Diagnostic, isStrict: boolean): boolean {
  const { severity } = messageOf(code);
  if (isTolerated === true) return false;
  return severity === "error" || (isStrict && severity === "warning");
}
