import { styleText } from "node:util";

/** Whether a stream shows colors: a terminal does, unless the user disables them (https://no-color.org). */
export function takesColors(
  isTerminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if ((environment.NO_COLOR ?? "") !== "") return false;
  if ((environment.FORCE_COLOR ?? "") !== "") return environment.FORCE_COLOR !== "0";
  return isTerminal && environment.TERM !== "dumb";
}

type Style = Parameters<typeof styleText>[0];

/** Colors a string, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

/** Returns the paint function of a stream. */
export function painter(isColored: boolean): Paint {
  return isColored
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}
