import type { CertificateNode, TlsNode } from "../../ir/tls.ts";

/** TLS settings of a listener. */
interface TlsListener {
  readonly tls: CertificateNode | undefined;
  readonly handshake?: TlsNode;
}

/** Whether TLS settings differ between listeners of a port. */
export function isDivided(
  bind: { readonly listeners: readonly TlsListener[] } | undefined,
): boolean {
  return bind?.listeners.some(({ handshake }) => handshake !== undefined) === true;
}

/** Returns the TLS settings of a listener with its certificate; `ofPort` applies if it has none of its own. `undefined` without a certificate. */
export function tlsOf(
  { tls, handshake }: TlsListener,
  ofPort: TlsNode | undefined,
): object | undefined {
  return tls && { ...shownCertificate(tls), ...(handshake ?? ofPort) };
}

/** Returns the fields of a certificate as a reader knows them. */
function shownCertificate(tls: CertificateNode): object {
  if (!("kind" in tls)) return tls;
  return tls.kind === "acme" ? { acme: tls.names.join(", ") || "its hostname" } : tls;
}
