/** Returns the audience of a service from its URL: its host, as Cloud Run defines it. */
export function audienceOf(url: string): string {
  return `https://${new URL(url).hostname}`;
}
