import { eventually } from "./eventually.ts";
import { pause } from "./pause.ts";

/** Waits until a number has begun to grow and then stands still for half a second; the number. */
export async function settled(look: () => number): Promise<number> {
  return eventually(async () => {
    const before = look();
    await pause(500);
    return before > 0 && look() === before ? before : null;
  }, "a standstill");
}
