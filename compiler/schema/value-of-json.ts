/** Parses JSON; `undefined` if the string is not valid JSON. */
export function valueOfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
