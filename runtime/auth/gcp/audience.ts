/** The audience of a service by its URL: its host, as Cloud Run has it. */
export function audienceOf(url: string): string {
  return `https://${new URL(url).hostname}`;
}
