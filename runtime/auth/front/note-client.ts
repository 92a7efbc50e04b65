import { type Exchange, logFields } from "../../http/exchange.ts";

/** Event of a client, for the log and the audit log. */
export type ClientEvent = "registered" | "allowed" | "declined" | "redeemed";

/** Notes an event of a client. `name` is its own choice; `redirectUri` says where its codes go. */
export function noteClient(
  { record }: Exchange,
  event: ClientEvent,
  name: string | undefined,
  redirectUri: string | undefined,
): void {
  const fields = logFields(record).set("oauth.client.event", event);
  if (name !== undefined) fields.set("oauth.client.name", name);
  if (redirectUri !== undefined) fields.set("oauth.client.redirect", redirectPlace(redirectUri));
}

/** Returns the part of a redirect URI that says who gets the codes: its scheme and host. */
export function redirectPlace(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return `${protocol}//${host}`;
}
