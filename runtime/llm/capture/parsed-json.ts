/** Parses JSON; returns the string itself if it is not valid, for example because a stream was cut. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
