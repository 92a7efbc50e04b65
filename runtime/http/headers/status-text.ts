/** Parses a status: three digits from 200 to 599 (RFC 9110 15); `undefined` for other strings. */
export function statusOfText(text: string): number | undefined {
  return /^[2-5]\d\d$/.test(text) ? Number(text) : undefined;
}
