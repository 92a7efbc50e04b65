import { ForbiddenDestination } from "../../net/connector.ts";
import { TunnelRefusal } from "../../net/tunnel.ts";
import type { UpstreamFailure } from "./upstream.ts";

/** Returns the failure for a connection that could not be opened. */
export function connectFailure(error: Error): UpstreamFailure {
  // The proxy responds, but refuses its task.
  if (error instanceof TunnelRefusal) return { kind: "protocol", detail: error.message };
  const isForbidden = error instanceof ForbiddenDestination;
  return {
    kind: "connect",
    detail: withoutAdvice(error.message),
    ...(isForbidden && { isForbidden }),
  };
}

/** Node.js adds advice about its own options to the problem of a certificate, which nobody can follow here. */
function withoutAdvice(message: string): string {
  return message.replace(/; if the root CA is installed locally.*/, "");
}

/** No response arrived within the request timeout. */
export const requestTimedOut: UpstreamFailure = {
  kind: "timeout",
  detail: "no response within the request timeout",
};

/** Maximum number of interim (1xx) responses; more are a flood. */
export const MAX_INTERIM_RESPONSES = 100;

/** More interim responses than allowed. */
export const interimFlood: UpstreamFailure = {
  kind: "protocol",
  detail: "too many interim responses",
};

/** RFC 9110 15: higher numbers are not statuses, and HTTP/2 could not forward them. */
export const MAX_STATUS = 599;

/** The status of the response is invalid. */
export const invalidStatus: UpstreamFailure = {
  kind: "protocol",
  detail: "a status above 599",
};

/** A header or target cannot be sent unchanged. */
export const unsendable: UpstreamFailure = {
  kind: "protocol",
  isOfRequest: true,
  detail: "a header or target that is not valid in HTTP/1.1",
};

/** The rest of the body will not arrive. */
export const senderLeft: UpstreamFailure = {
  kind: "closed",
  isOfRequest: true,
  detail: "request body: the sender left",
};
