/** RFC 9110 9.2.1, as far as such requests have no body. */
export function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
