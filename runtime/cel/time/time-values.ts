import { Box } from "../values/values.ts";

/** Seconds, rounded down, and the remaining nanoseconds, 0 to 999,999,999. */
abstract class SecondsAndNanos extends Box {
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
  }

  compare(other: SecondsAndNanos): number {
    return this.seconds - other.seconds || this.nanos - other.nanos;
  }
}

/** A point in time, relative to 1970 (negative before). */
export class Timestamp extends SecondsAndNanos {
  readonly kind = "timestamp";

  equals(other: unknown): boolean {
    return other instanceof Timestamp && this.compare(other) === 0;
  }
}

/** A length of time. */
export class Duration extends SecondsAndNanos {
  readonly kind = "duration";

  equals(other: unknown): boolean {
    return other instanceof Duration && this.compare(other) === 0;
  }
}
