/**
 * The gateway has no identity from the SPIFFE Workload API, or an expired one. Everything that needs it is refused, and nothing
 * else. The message is for the operator.
 */
export class NoIdentity extends Error {
  override readonly name = "NoIdentity";
}
