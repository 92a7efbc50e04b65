import { decodeJwt } from "jose";
import { SECOND } from "../../process/units.ts";
import type { Expiring } from "../cloud/expiring-value.ts";

/** Reads a JWT's `exp` (RFC 7519). Throws if it is not a JWT. */
export function expiringJwt(token: string): Expiring<string> {
  const { exp = 0 } = decodeJwt(token);
  return { value: token, expires: exp * SECOND };
}
