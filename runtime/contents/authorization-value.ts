/**
 * Reads a value of Authorization (RFC 9110 11.6.2: scheme, space, credentials). A value without a scheme is a token (RFC 6750
 * 2.1). Throws an Error without the content.
 */
export function readAuthorization(text: string): string {
  const value = text.trim();
  if (!/^[\x21-\x7e\x80-\xff]+( +[\x21-\x7e\x80-\xff]+)*$/.test(value))
    throw new Error("is not a value of Authorization");
  return value.includes(" ") ? value : `Bearer ${value}`;
}
