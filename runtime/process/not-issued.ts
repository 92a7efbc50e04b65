/** There is no certificate of an ACME server yet. Handshakes that need it are refused, and no others. The message is for the operator. */
export class NotIssued extends Error {
  override readonly name = "NotIssued";
}
