import { randomUUID } from "node:crypto";
import { type Exchange, logFields } from "../http/exchange.ts";

/** Assigns an id to a request. */
export type RequestIds = (exchange: Exchange) => void;

/** The valid ids: they appear in many logs. */
const WELL_FORMED = /^[\w.:/+=@-]{1,128}$/;

/**
 * Uses the id in a request's header (lower case), or creates one if it is absent or malformed. The id is forwarded to
 * upstreams and recorded in telemetry.
 */
export function requestIds(header: string): RequestIds {
  return (exchange) => {
    const given = exchange.header(header);
    const id = given !== undefined && WELL_FORMED.test(given) ? given : randomUUID();
    exchange.setRequestHeader(header, id);
    logFields(exchange.record).set("request.id", id);
  };
}
