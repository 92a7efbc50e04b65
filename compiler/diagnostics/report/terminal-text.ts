import { withoutHidden } from "../../../templates/code/quote.ts";

/**
 * A text for a terminal or a log: each character that is not seen, or that a terminal takes for a command, is an escape
 * (`\u202e`), which JSON reads back. `isColored`: the colours of gwc's own reports stay.
 */
export function terminalText(text: string, isColored: boolean): string {
  return withoutHidden(text).replace(isColored ? CONTROLS_BUT_COLORS : CONTROLS, escaped);
}

/** Controls of ASCII but tab, line feed, and a carriage return before that. */
const CONTROLS = /[\0-\x08\v\f\x0e-\x1f]|\r(?!\n)/g;

/** The same without the styles that reports are painted with: none of them hides text. */
const CONTROLS_BUT_COLORS =
  /[\0-\x08\v\f\x0e-\x1a\x1c-\x1f]|\r(?!\n)|\x1b(?!\[(?:0|1|2|3|4|22|23|24|3[0-79]|9[0-7])m)/g;

function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
