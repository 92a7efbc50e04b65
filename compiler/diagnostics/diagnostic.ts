import { type MessageCode, type MessageParams, messageOf } from "./messages/index.ts";

/** What a diagnostic says and where; line and column are derived when it is printed. */
export type Diagnostic = {
  [Code in MessageCode]: {
    readonly code: Code;
    readonly params: MessageParams<Code>;
    readonly at: Place;
    /** Other places that belong to the same mistake, each with what it is: `first defined here`. */
    readonly related?: readonly RelatedPlace[];
  };
}[MessageCode];

/** A second place of a diagnostic. */
export interface RelatedPlace {
  readonly at: Place;
  readonly label: string;
}

/** Where a thing stands in the configuration: plain data that survives re-quoting, comments and reordering. */
export interface Origin {
  /** The file as the user named it, with `/`. */
  readonly file: string;
  /** Index of the YAML document in the file. */
  readonly document: number;
  /** Keys and indices from the document's root. */
  readonly path: ConfigPath;
  /** The Kubernetes resource it belongs to. */
  readonly resource?: ResourceName;
}

/** A Kubernetes resource of a document: its name says where it comes from, whatever file it lies in. */
export interface ResourceName {
  /** `HTTPRoute default/tools` */
  readonly name: string;
  /** How many steps of a path lead from the document's root to the resource: 2 in a list, else 0. */
  readonly depth: number;
}

/** Keys and indices that lead to a value. */
export type ConfigPath = readonly (string | number)[];

/** The smallest text a diagnostic points at. */
export interface Place extends Origin {
  /** The key, the value (default), or nothing smaller than the file. */
  readonly part?: "key" | "value" | "file";
  /** Offsets inside the decoded scalar value: an expression's part, a pattern's part. */
  readonly within?: readonly [start: number, end: number];
  /** Offsets in the file itself, for text that is no node (a YAML syntax error). */
  readonly offsets?: readonly [start: number, end: number];
}

/** What a phase gives back: its value, as far as it got, and every mistake it met. */
export interface WithDiagnostics<Value> {
  readonly value: Value | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Collects the diagnostics of one phase. */
export class Diagnostics {
  readonly list: Diagnostic[];
  readonly #unheard: ReadonlySet<MessageCode>;

  constructor(list: Diagnostic[] = [], unheard: ReadonlySet<MessageCode> = new Set()) {
    this.list = list;
    this.#unheard = unheard;
  }

  /** Collects into the same list, but nothing with one of these codes. */
  except(codes: ReadonlySet<MessageCode>): Diagnostics {
    return new Diagnostics(this.list, new Set([...this.#unheard, ...codes]));
  }

  /** Adds a diagnostic whose code is known only as one of several. */
  add(found: Diagnostic): void {
    if (!this.#unheard.has(found.code)) this.list.push(found);
  }

  /** Adds a diagnostic; its parameters follow from its code. */
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

/** The place `steps` below an origin. */
export function childOf(origin: Origin, ...steps: ConfigPath): Place {
  const { file, document, path, resource } = origin;
  const place = { file, document, path: [...path, ...steps] };
  return resource === undefined ? place : { ...place, resource };
}

/** The same place, pointing at the key rather than the value. */
export function keyPlace(place: Place): Place {
  return { ...place, part: "key" };
}

/** The same text for the same place of the same file. */
export function placeKey({ file, document, path }: Place): string {
  return JSON.stringify([file, document, ...path]);
}

/** `binds[0].listeners[1].name`: a config path as users write it. */
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
export function isError({ code }: Diagnostic, isStrict: boolean): boolean {
  const { severity } = messageOf(code);
  return severity === "error" || (isStrict && severity === "warning");
}
