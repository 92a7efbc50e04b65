import type { Enrollable, Enrolled } from "../process/enrollment.ts";
import type { IssuedIdentity } from "../tls/identity.ts";

/** A source of the gateway's own identity. */
export type IdentitySource = Enrollable<OpenIdentity>;

/** An identity that was issued, or is awaited. */
export interface OpenIdentity extends Enrolled {
  /** `undefined` before the first one, and after it was taken back. It may have expired. */
  readonly issued: IssuedIdentity | undefined;
}
