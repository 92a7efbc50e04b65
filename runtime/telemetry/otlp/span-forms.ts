import type { SpanHead, SpanKind } from "./span-head.ts";

/** An encoded span up to its attributes, with placeholders for ids and times. */
export interface SpanForm {
  readonly bytes: Uint8Array;
  /** Offsets of the times. */
  readonly start: number;
  readonly end: number;
}

/** Builds the form of the spans with a name. `isPart`: whether they have a parent, whose id needs a placeholder. */
export type MakeSpanForm = (
  name: string,
  kind: SpanKind,
  flags: string,
  isPart: boolean,
) => SpanForm;

/** Maximum number of cached forms; most spans have one of few names. */
const MAX_KEPT = 256;

/** A cache of span forms. */
export class SpanForms {
  readonly #make: MakeSpanForm;
  readonly #kept: readonly Forms[] = Array.from({ length: 6 }, () => new Forms());
  #count = 0;

  constructor(make: MakeSpanForm) {
    this.#make = make;
  }

  /** Returns the form of a span. */
  of({ flags, parentId }: SpanHead, name: string, kind: SpanKind): SpanForm {
    const isPart = parentId !== undefined;
    const kept = this.#kept[(kind - 1) * 2 + (isPart ? 1 : 0)];
    const known = kept?.of(name, flags);
    if (known !== undefined) return known;
    const made = this.#make(name, kind, flags, isPart);
    if (this.#count < MAX_KEPT) {
      this.#count += 1;
      kept?.keep(name, flags, made);
    }
    return made;
  }
}

/** Forms by flags and name. */
class Forms {
  readonly #byFlags = new Map<string, Map<string, SpanForm>>();
  /** The last result, as consecutive spans often have the same form. */
  #last: { readonly name: string; readonly flags: string; readonly form: SpanForm } | undefined;

  of(name: string, flags: string): SpanForm | undefined {
    const last = this.#last;
    if (last !== undefined && last.name === name && last.flags === flags) return last.form;
    const form = this.#byFlags.get(flags)?.get(name);
    if (form !== undefined) this.#last = { name, flags, form };
    return form;
  }

  keep(name: string, flags: string, form: SpanForm): void {
    const named = this.#byFlags.get(flags) ?? new Map();
    this.#byFlags.set(flags, named.set(name, form));
  }
}
