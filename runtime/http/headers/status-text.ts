/** The status that a text says: three digits from 200 to 599 (RFC 9110 15); undefined: none. */
export function statusOfText(text: string): number | undefined {
  return /^[2-5]\d\d$/.test(text) ? Number(text) : undefined;
}
