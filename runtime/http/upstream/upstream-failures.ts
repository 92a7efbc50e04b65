import { ForbiddenDestination } from "../../net/connector.ts";
import { TunnelRefusal } from "../../net/tunnel.ts";
import type { UpstreamFailure } from "./upstream.ts";

/** What a connection that could not be opened is to the client. */
export function connectFailure(error: Error): UpstreamFailure {
  // The proxy is there, and does not what it is for.
  if (error instanceof TunnelRefusal) return { kind: "protocol", detail: error.message };
  const isForbidden = error instanceof ForbiddenDestination;
  return { kind: "connect", detail: error.message, ...(isForbidden && { isForbidden }) };
}

/** No response came in the time that the configuration gives. */
export const requestTimedOut: UpstreamFailure = {
  kind: "timeout",
  detail: "no response within the request timeout",
};

/** Interim (1xx) responses before one that counts; more are a flood. */
export const MAX_INTERIM_RESPONSES = 100;

/** More interim responses than anybody needs. */
export const interimFlood: UpstreamFailure = {
  kind: "protocol",
  detail: "interim responses without end",
};

/** RFC 9110 15: what is above is no status, and HTTP/2 could not send it on. */
export const MAX_STATUS = 599;

/** The status of the response is none. */
export const invalidStatus: UpstreamFailure = {
  kind: "protocol",
  detail: "a status above 599",
};

/** A header or a target that would not arrive as it is. */
export const unsendable: UpstreamFailure = {
  kind: "protocol",
  isOfRequest: true,
  detail: "a header or a target that HTTP/1.1 can't carry",
};

/** The rest of the body will not come. */
export const senderLeft: UpstreamFailure = {
  kind: "closed",
  isOfRequest: true,
  detail: "request body: the sender left",
};
