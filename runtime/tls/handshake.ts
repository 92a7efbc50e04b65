import type { SecureContext, TlsOptions } from "node:tls";
import type { Certificates } from "./certificates.ts";
import type { TlsSettings } from "./tls-settings.ts";

/** Returns the options of a TLS server. `current`: certificates of new connections. */
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

/** Whether a server opened with one setting can continue with the other: the handshake stays the same. */
export function isSameHandshake(
  before: TlsSettings | undefined,
  after: TlsSettings | undefined,
): boolean {
  if (before === undefined || after === undefined) return before === after;
  return (
    before.handshakeTimeout === after.handshakeTimeout &&
    before.alpn.join() === after.alpn.join() &&
    before.clients?.mode === after.clients?.mode &&
    isOfIdentity(before) === isOfIdentity(after)
  );
}

/** Whether clients are workloads of the gateway's trust domain. */
export function isOfIdentity({ clients }: TlsSettings): boolean {
  return clients !== undefined && "current" in clients.authorities;
}
