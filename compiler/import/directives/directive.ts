import type { ImportDraft, LeftPart, ReadImport } from "../imported-text.ts";
import { publicText } from "../proxy/texts.ts";

/** Location of a directive. */
export interface DirectivePlace {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
}

/** A directive: its name, its arguments, and its block if it has one. */
export interface Directive extends DirectivePlace {
  readonly name: string;
  readonly words: readonly string[];
  readonly block?: readonly Directive[] | undefined;
}

/** A syntax error that makes a file unreadable. */
export class DirectiveProblem extends Error {
  constructor({ file, line }: DirectivePlace, text: string) {
    super(`${file}:${line}: ${text}`);
  }
}

/** Tracks which directives an import has converted, so that the others are reported. */
export class TakenDirectives {
  readonly #taken = new Set<Directive>();
  readonly #file: string;

  /** `file` is the main file, whose name is omitted in places. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Marks a directive as converted; with `whole` also everything in its block. */
  take(directive: Directive, extent: "alone" | "whole" = "whole"): void {
    this.#taken.add(directive);
    if (extent === "whole") for (const each of directive.block ?? []) this.take(each);
  }

  /** `line 12` */
  place({ file, line }: DirectivePlace): string {
    return file === this.#file ? `line ${line}` : `${file} line ${line}`;
  }

  /** Marks a directive as skipped after all, because its value has no counterpart. */
  skip(directive: Directive): void {
    this.#taken.delete(directive);
  }

  /** Whether a directive was converted. */
  has(directive: Directive): boolean {
    return this.#taken.has(directive);
  }

  /** Lists directives with their places. */
  parts(directives: readonly Directive[]): readonly LeftPart[] {
    return directives.map((each) => ({ place: this.place(each), text: directiveText(each) }));
  }
}

/** Converts directives; returns the reason as a string if that is impossible. */
type Conversion = (
  directives: readonly Directive[],
  taken: TakenDirectives,
) => ImportDraft | string;

/**
 * Converts the directives of a file, and lists those that are not in the result: the ones that were not converted, and
 * the ones without which the result is the same. So no directive vanishes.
 */
export function convertDirectives(
  file: string,
  directives: readonly Directive[],
  convert: Conversion,
): ReadImport | string {
  const taken = new TakenDirectives(file);
  const draft = convert(directives, taken);
  if (typeof draft === "string") return draft;
  const result = JSON.stringify(draft);
  const all = allOf(directives);
  const idle = all.filter((each) => {
    if (!taken.has(each)) return false;
    const other = convert(without(directives, each), new TakenDirectives(file));
    return JSON.stringify(other) === result;
  });
  const left = all.filter((each) => !taken.has(each));
  return { draft, left: taken.parts(left), idle: taken.parts(idle) };
}

/** Returns the directives and those inside of them, in file order, without blocks that have no name. */
function allOf(directives: readonly Directive[]): readonly Directive[] {
  return directives.flatMap((each) => [
    ...(each.name === "" ? [] : [each]),
    ...allOf(each.block ?? []),
  ]);
}

function without(directives: readonly Directive[], removed: Directive): readonly Directive[] {
  return directives.flatMap((each) => {
    if (each === removed) return [];
    return each.block === undefined ? each : { ...each, block: without(each.block, removed) };
  });
}

/** Formats `proxy_pass http://a:1`, without credentials. */
function directiveText({ name, words }: Directive): string {
  return publicText(words.join(" "), name);
}
