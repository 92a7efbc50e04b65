import type { SecureContext, TlsOptions } from "node:tls";
import type { Certificates } from "./certificates.ts";
import type { TlsSettings } from "./tls-settings.ts";

/** What a TLS server is opened with. `current`: the certificates that new connections get. */
export function handshakeOptions(
  { clients, handshakeTimeout, alpn }: TlsSettings,
  current: () => Certificates | undefined,
): TlsOptions {
  return {
    handshakeTimeout,
    ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
    requestCert: clients !== undefined,
    rejectUnauthorized: clients?.mode === "required",
    SNICallback: (name, done: (error: Error | null, context?: SecureContext) => void) => {
      const context = current()?.contextFor(name);
      if (context instanceof Error) done(context);
      else done(null, context);
    },
  };
}

/** Whether a server that was opened with the one can go on with the other: what a handshake is made of stays. */
export function isSameHandshake(
  before: TlsSettings | undefined,
  after: TlsSettings | undefined,
): boolean {
  if (before === undefined || after === undefined) return before === after;
  return (
    before.handshakeTimeout === after.handshakeTimeout &&
    before.alpn.join() === after.alpn.join() &&
    before.clients?.mode === after.clients?.mode
  );
}
