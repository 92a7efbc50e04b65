import type { LeftPart } from "../imported-text.ts";
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

  /** Lists the directives that were not converted, in file order. */
  left(directives: readonly Directive[]): readonly LeftPart[] {
    return directives.flatMap((each) => {
      const inside = this.left(each.block ?? []);
      if (this.#taken.has(each)) return inside;
      return [{ place: this.place(each), text: directiveText(each) }, ...inside];
    });
  }
}

/** Formats `proxy_pass http://a:1`, without credentials. */
export function directiveText({ name, words }: Directive): string {
  return publicText(words.join(" "), name);
}
