import { eventually } from "./eventually.ts";
import { pause } from "./pause.ts";

/** Waits until a number has started to grow and has not changed for half a second; returns the number. */
export async function settled(look: () => number): Promise<number> {
  return eventually(async () => {
    const before = look();
    await pause(500);
    return before > 0 && look() === before ? before : null;
  }, "a standstill");
}
