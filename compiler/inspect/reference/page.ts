/**
 * A page of the reference: what `gwc explain` prints and what the documents hold is made of the same one. Texts are
 * Markdown paragraphs with code in backticks and nothing else.
 */
export interface Page {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** A piece of a page, from top to bottom. */
export type Part =
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "table"; readonly head: readonly string[]; readonly rows: readonly Row[] }
  /** Text that keeps its lines: YAML, a command. */
  | { readonly kind: "example"; readonly language: string; readonly text: string };

/** The cells of a row, as long as the head; a line break in a cell stays one. */
export type Row = readonly string[];

/** A paragraph. */
export function paragraph(text: string): Part {
  return { kind: "paragraph", text };
}

/** A heading below the title. */
export function heading(text: string): Part {
  return { kind: "heading", text };
}

/** A table; nothing when it has no rows. */
export function table(head: readonly string[], rows: readonly Row[]): readonly Part[] {
  return rows.length === 0 ? [] : [{ kind: "table", head, rows }];
}
