/** How lines are written: `name=value` fields after a time, or one JSON object a line. */
export type LogFormat = "text" | "json";

/** Characters of a field's value: a client chooses paths and headers of some of them, and may choose them long. */
const MAX_VALUE = 4096;

/** A value, cut to the most that a field holds. */
export function shortened(value: string): string {
  return value.length <= MAX_VALUE ? value : `${value.slice(0, MAX_VALUE)}...`;
}

/** A value as it stands after `name=` in a text line: quoted when it could be read as something else. */
export function textValue(value: string): string {
  return PLAIN.test(value) ? value : quoted(value);
}

/** Letters, digits and what paths, hosts and addresses are made of: nothing that could end the value. */
const PLAIN = /^[\w./:@%+,;~*()[\]{}?!$&'<>|^-]+$/;

/** JSON's quoting, and escapes for what a terminal or a line reader could take as more than text. */
function quoted(value: string): string {
  return visible(JSON.stringify(value));
}

/** JSON text in which nothing is invisible: such characters stand in its strings only, where an escape may too. */
export function visible(json: string): string {
  return json.replace(INVISIBLE, escaped);
}

/**
 * What a reader does not see, or what reorders text: controls above ASCII, format and tag characters, line separators,
 * fillers, variation selectors, lone surrogates.
 */
const INVISIBLE =
  /[\u{7f}-\u{9f}\u{ad}\u{61c}\u{115f}\u{1160}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{2800}\u{3164}\u{d800}-\u{dfff}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|\u{34f}|\u{17b4}|\u{17b5}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0000}-\u{e0fff}]/gu;

function escaped(character: string): string {
  let text = "";
  for (let at = 0; at < character.length; at++)
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return text;
}

/** A JSON string. */
export function jsonValue(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : quoted(value);
}

/** Makes RFC 3339 times with milliseconds; a second's text is made once. */
export class TimeText {
  #second = -1;
  #text = "";

  /** `milliseconds` since the epoch. */
  format(milliseconds: number): string {
    const second = Math.floor(milliseconds / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toISOString().slice(0, 20);
    }
    const rest = milliseconds - second * 1000;
    return `${this.#text}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}Z`;
  }
}
