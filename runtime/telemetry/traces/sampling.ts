import { Double, Uint } from "../../cel/values/values.ts";
import type { Exchange } from "../../http/exchange.ts";

/** Decides whether a request is traced. */
export type Sampling = (request: Exchange) => boolean;

/** Traces every request. */
export function always(): boolean {
  return true;
}

/** Traces no request. */
export function never(): boolean {
  return false;
}

/**
 * Converts the value of an expression: true or false, or the share of requests from 0 to 1. A failed expression traces
 * nothing.
 */
export function isSampled(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  const share = value instanceof Double || value instanceof Uint ? value.value : value;
  return typeof share === "number" && Math.random() < share;
}
