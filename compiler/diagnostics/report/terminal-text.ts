import { withoutHidden } from "../../../templates/code/quote.ts";

/**
 * Escapes a string for a terminal or a log: invisible characters and terminal controls become escapes (`\u202e`), which
 * JSON decodes. With `isColored`, the colors of gwc's own reports are preserved.
 */
export function terminalText(text: string, isColored: boolean): string {
  return withoutHidden(text).replace(isColored ? CONTROLS_BUT_COLORS : CONTROLS, escaped);
}

/** ASCII controls except tab, line feed, and a carriage return before a line feed. */
const CONTROLS = /[\0-\x08\v\f\x0e-\x1f]|\r(?!\n)/g;

/** The same without the styles of reports, none of which hides text. */
const CONTROLS_BUT_COLORS =
  /[\0-\x08\v\f\x0e-\x1a\x1c-\x1f]|\r(?!\n)|\x1b(?!\[(?:0|1|2|3|4|22|23|24|3[0-79]|9[0-7])m)/g;

function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
