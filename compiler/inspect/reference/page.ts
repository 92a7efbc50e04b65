/**
 * A page of the reference, from which both `gwc explain` and the documents are rendered. Paragraphs are Markdown with
 * code spans and emphasis only.
 */
export interface Page {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** A part of a page. */
export type Part =
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "table"; readonly head: readonly string[]; readonly rows: readonly Row[] }
  /** Preformatted text: YAML, commands. */
  | { readonly kind: "example"; readonly language: string; readonly text: string };

/** Cells of a row, as many as the head has; line breaks in cells are preserved. */
export type Row = readonly string[];

/** Creates a paragraph. */
export function paragraph(text: string): Part {
  return { kind: "paragraph", text };
}

/** Creates a heading. */
export function heading(text: string): Part {
  return { kind: "heading", text };
}

/** Creates a table; empty if it has no rows. */
export function table(head: readonly string[], rows: readonly Row[]): readonly Part[] {
  return rows.length === 0 ? [] : [{ kind: "table", head, rows }];
}
