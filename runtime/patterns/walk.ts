import { ENDING_BITS, MATCHED_BIT } from "./automaton.ts";
import { STATE_BITS } from "./state-table.ts";

/** Reads on where there is nothing to decide: a short loop, which engines compile before long. */
export class Walk {
  /** The place that is read next. */
  at = 0;
  state = 0;
  /** Where the state became what it is. */
  since = 0;
  /** Where a match ended last; -1: none did. */
  end = -1;

  /**
   * Reads ASCII characters while the next state is known, and threads go on in it; not farther than a match may wait, and
   * not where something was found to be in vain.
   */
  read(text: string, ascii: Int32Array, longest: number, vainTo: number): void {
    const { length } = text;
    let { at, state, since, end } = this;
    let limit = end < 0 ? length : Math.min(length, end + longest + 1);
    if (at < vainTo) return;
    while (at < limit) {
      const unit = text.charCodeAt(at);
      if (unit > 127) break;
      const next = ascii[((state >> STATE_BITS) << 7) + unit] ?? 0;
      if (next !== state) {
        if (next === 0 || (next & ENDING_BITS) !== 0) break;
        // What comes after a match is asked for there.
        if ((state & MATCHED_BIT) !== 0 && (next & MATCHED_BIT) === 0) break;
        since = at + 1;
        state = next;
      }
      if ((next & MATCHED_BIT) !== 0) {
        end = at;
        limit = Math.min(length, at + longest + 1);
      }
      at += 1;
    }
    this.at = at;
    this.state = state;
    this.since = since;
    this.end = end;
  }
}
