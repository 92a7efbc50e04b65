import type { LeftPart } from "../imported-text.ts";
import { publicText } from "../proxy/texts.ts";

/** Where a directive stands. */
export interface DirectivePlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** A directive: its name, what stands behind it, and its block if it has one. */
export interface Directive extends DirectivePlace {
  readonly name: string;
  readonly words: readonly string[];
  readonly block?: readonly Directive[] | undefined;
}

/** A mistake by which a file can't be read. */
export class DirectiveProblem extends Error {
  constructor({ file, line }: DirectivePlace, text: string) {
    super(`${file}:${line}: ${text}`);
  }
}

/** Which directives an import has translated: the others are named, place by place. */
export class TakenDirectives {
  readonly #taken = new Set<Directive>();
  readonly #file: string;

  /** `file`: the one whose name goes without saying. */
  constructor(file: string) {
    this.#file = file;
  }

  /** It is translated, and with `whole` everything in it. */
  take(directive: Directive, extent: "alone" | "whole" = "whole"): void {
    this.#taken.add(directive);
    if (extent === "whole") for (const each of directive.block ?? []) this.take(each);
  }

  /** `line 12` */
  place({ file, line }: DirectivePlace): string {
    return file === this.#file ? `line ${line}` : `${file} line ${line}`;
  }

  /** What was not translated, in the order of the files. */
  left(directives: readonly Directive[]): readonly LeftPart[] {
    return directives.flatMap((each) => {
      const inside = this.left(each.block ?? []);
      if (this.#taken.has(each)) return inside;
      return [{ place: this.place(each), text: directiveText(each) }, ...inside];
    });
  }
}

/** `proxy_pass http://a:1`, without credentials. */
export function directiveText({ name, words }: Directive): string {
  return publicText(words.join(" "), name);
}
