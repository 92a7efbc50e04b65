import type { CertificateFiles, TlsNode } from "../../ir/tls.ts";

/** A listener as far as its TLS goes. */
interface TlsListener {
  readonly tls: CertificateFiles | undefined;
  readonly handshake?: TlsNode;
}

/** Whether TLS is not the same for all listeners of a port. */
export function isDivided(
  bind: { readonly listeners: readonly TlsListener[] } | undefined,
): boolean {
  return bind?.listeners.some(({ handshake }) => handshake !== undefined) === true;
}

/** TLS of a listener with its certificate; `ofPort`: TLS that it has without its own. Undefined without a certificate. */
export function tlsOf(
  { tls, handshake }: TlsListener,
  ofPort: TlsNode | undefined,
): object | undefined {
  return tls && { ...tls, ...(handshake ?? ofPort) };
}
