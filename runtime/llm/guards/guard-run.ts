import { Replacement } from "../../patterns/replacement.ts";
import type { PieceGuard, TextGuards } from "../chat/texts.ts";
import { JsonPieces } from "./json-pieces.ts";
import type { Guard } from "./prompt-guard.ts";
import type { GuardRejection, RegexGuard } from "./regex-guard.ts";

/** What guards made of the texts of a request, or of a response. */
export type GuardVerdict = "pass" | "mask" | "reject";

/** The guards over the texts of one request, or of one response. */
export class GuardRun implements TextGuards {
  readonly #guards: readonly RegexGuard[];
  /** How many matches each had. */
  readonly matches = new Map<Guard, number>();
  /** What clients get when a guard rejected: nothing of the texts goes on. */
  rejection: GuardRejection | undefined;

  constructor(guards: readonly RegexGuard[]) {
    this.#guards = guards;
  }

  replace(text: string): string {
    let replaced = text;
    for (const guard of this.#guards) {
      for (const { search, mask } of guard.patterns) {
        const { required } = search;
        if (required !== undefined && !replaced.includes(required)) continue;
        const replacement = new Replacement(search, mask);
        replaced = replacement.push(replaced) + replacement.end();
        this.#count(guard, replacement.matches);
        if (this.rejection !== undefined) return "";
      }
    }
    return replaced;
  }

  get matchCount(): number {
    return [...this.matches.values()].reduce((sum, each) => sum + each, 0);
  }

  /** What became of the texts. */
  get verdict(): GuardVerdict {
    if (this.rejection !== undefined) return "reject";
    return this.matches.size === 0 ? "pass" : "mask";
  }

  open(): PieceGuard {
    return new TextPieces(this.#guards, (mask) => mask, this.#count);
  }

  openJson(): PieceGuard {
    const bare = (mask: string) => JSON.stringify(mask);
    return new JsonPieces((isText) =>
      isText ? this.open() : new TextPieces(this.#guards, bare, this.#count),
    );
  }

  readonly #count = (guard: RegexGuard, matches: number): void => {
    if (matches === 0) return;
    this.matches.set(guard, (this.matches.get(guard) ?? 0) + matches);
    this.rejection ??= guard.rejection;
  };
}

/** One text that passes all patterns, one after the other. */
class TextPieces implements PieceGuard {
  readonly #steps: readonly { readonly guard: RegexGuard; readonly replacement: Replacement }[];
  readonly #count: (guard: RegexGuard, matches: number) => void;
  #isRejected = false;

  constructor(
    guards: readonly RegexGuard[],
    written: (mask: string) => string,
    count: (guard: RegexGuard, matches: number) => void,
  ) {
    this.#count = count;
    this.#steps = guards.flatMap((guard) =>
      guard.patterns.map(({ search, mask }) => ({
        guard,
        replacement: new Replacement(search, written(mask)),
      })),
    );
  }

  push(piece: string): string {
    return this.#pass(piece, (replacement, text) => replacement.push(text));
  }

  end(): string {
    return this.#pass("", (replacement, text) => replacement.push(text) + replacement.end());
  }

  #pass(piece: string, take: (replacement: Replacement, text: string) => string): string {
    let text = piece;
    for (const { guard, replacement } of this.#steps) {
      if (this.#isRejected) return "";
      const { matches } = replacement;
      text = take(replacement, text);
      if (replacement.matches === matches) continue;
      this.#count(guard, replacement.matches - matches);
      this.#isRejected = guard.rejection !== undefined;
    }
    return this.#isRejected ? "" : text;
  }
}
