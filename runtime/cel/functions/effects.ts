import { randomUUID } from "node:crypto";

/** `random()`: a double from 0 to 1. */
export function random(): unknown {
  const number = Math.random();
  // 0 would be an int
  return number === 0 ? Number.MIN_VALUE : number;
}

/** `uuid()`: a new UUID of version 4. */
export function uuid(): string {
  return randomUUID();
}

/** `fail(message)`: an error. */
export function fail(_message?: unknown): undefined {
  return undefined;
}
