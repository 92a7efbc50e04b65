import { decodeJwt } from "jose";
import { SECOND } from "../../process/units.ts";
import type { Expiring } from "../cloud/expiring-value.ts";

/** A token that says itself when it ends (RFC 7519). Throws when it is none. */
export function expiringJwt(token: string): Expiring<string> {
  const { exp = 0 } = decodeJwt(token);
  return { value: token, expires: exp * SECOND };
}
