import { readClientSecret } from "../../contents/client-secret.ts";
import type { FetchRequest } from "../../http/upstream/fetch-request.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import { WatchedFile } from "../../process/watched-file.ts";

/** Authentication method of a client at a token endpoint (OpenID Connect Core 9). */
export type ClientMethod = "clientSecretBasic" | "clientSecretPost";

/** A client of an authorization server. */
export interface OAuthClient {
  readonly clientId: string;
  /** A string, or a function that returns the content of a watched file. */
  readonly clientSecret: ClientSecret;
}

/** Secret of a client; a function if a file holds it. */
export type ClientSecret = string | (() => string);

/** Watches a file with the secret of a client. Throws StartupError. */
export function clientSecretFile(path: string): ClientSecret {
  const followed = new WatchedFile(path, readClientSecret);
  return () => followed.current();
}

/** Builds a request to a token endpoint (RFC 6749 3.2); unauthenticated if `client` is `undefined`. */
export function tokenRequest(
  url: string,
  form: readonly (readonly [name: string, value: string])[],
  client: (OAuthClient & { readonly method: ClientMethod }) | undefined,
  server?: Upstream,
): FetchRequest {
  const fields = new URLSearchParams(form.map(([name, value]): [string, string] => [name, value]));
  const headers = [
    ...["content-type", "application/x-www-form-urlencoded"],
    ...["accept", "application/json"],
  ];
  if (client?.method === "clientSecretBasic") headers.push("authorization", basic(client));
  if (client?.method === "clientSecretPost") {
    fields.set("client_id", client.clientId);
    fields.set("client_secret", secretOf(client));
  }
  return { method: "POST", url, headers, body: Buffer.from(fields.toString()), server };
}

function secretOf({ clientSecret }: OAuthClient): string {
  return typeof clientSecret === "string" ? clientSecret : clientSecret();
}

/** Both parts are form-encoded before they are joined (RFC 6749 2.3.1). */
function basic(client: OAuthClient): string {
  const login = `${formEncoded(client.clientId)}:${formEncoded(secretOf(client))}`;
  return `Basic ${Buffer.from(login).toString("base64")}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
