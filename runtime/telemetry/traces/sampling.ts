import { Double, Uint } from "../../cel/values/values.ts";
import type { Exchange } from "../../http/exchange.ts";

/** Whether a request is traced. */
export type Sampling = (request: Exchange) => boolean;

/** Every request is. */
export function always(): boolean {
  return true;
}

/** No request is. */
export function never(): boolean {
  return false;
}

/** What an expression says: true or false, or the share of the requests, 0 to 1. One that fails traces nothing. */
export function isSampled(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  const share = value instanceof Double || value instanceof Uint ? value.value : value;
  return typeof share === "number" && Math.random() < share;
}
