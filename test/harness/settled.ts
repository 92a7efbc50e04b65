import { eventually } from "./eventually.ts";
import { pause } from "./pause.ts";

/** Number of looks, 50 ms apart, that find no change: a test that was stopped itself reads between two of them what came. */
const LOOKS = 10;

/** Waits until a number has started to grow and has not changed for half a second; returns the number. */
export async function settled(look: () => number): Promise<number> {
  let last = 0;
  let unchanged = 0;
  return eventually(async () => {
    await pause(50);
    const now = look();
    unchanged = now === last ? unchanged + 1 : 0;
    last = now;
    return now > 0 && unchanged >= LOOKS ? now : null;
  }, "a standstill");
}
