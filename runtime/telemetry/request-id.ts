import { randomUUID } from "node:crypto";
import { type Exchange, logFields } from "../http/exchange.ts";

/** Gives a request its id. */
export type RequestIds = (exchange: Exchange) => void;

/** What an id may be: what stands in logs of all who see it. */
const WELL_FORMED = /^[\w.:/+=@-]{1,128}$/;

/**
 * Takes the id that a request brings in a header (lower case), or makes one where it has none that is well-formed; it goes
 * on to upstreams, and stands in what telemetry says of the request.
 */
export function requestIds(header: string): RequestIds {
  return (exchange) => {
    const given = exchange.header(header);
    const id = given !== undefined && WELL_FORMED.test(given) ? given : randomUUID();
    exchange.setRequestHeader(header, id);
    logFields(exchange.record).set("request.id", id);
  };
}
