import { Box } from "../values/values.ts";

/** A point in time: seconds since 1970 (negative before) and nanoseconds from there, 0 to 999,999,999. */
export class Timestamp extends Box {
  readonly kind = "timestamp";
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
  }

  compare(other: Timestamp): number {
    return this.seconds - other.seconds || this.nanos - other.nanos;
  }

  equals(other: unknown): boolean {
    return other instanceof Timestamp && this.compare(other) === 0;
  }
}

/** A length of time: whole seconds, rounded down, and nanoseconds from there, 0 to 999,999,999. */
export class Duration extends Box {
  readonly kind = "duration";
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
  }

  compare(other: Duration): number {
    return this.seconds - other.seconds || this.nanos - other.nanos;
  }

  equals(other: unknown): boolean {
    return other instanceof Duration && this.compare(other) === 0;
  }
}
