import { PATIENCE } from "./patience.ts";
import { pause } from "./pause.ts";

/** Waits until a look finds something; throws when it does not within two minutes. */
export async function eventually<T>(
  look: () => T | null | Promise<T | null>,
  what: string | (() => string),
): Promise<T> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > deadline) {
      throw new Error(`waited in vain for ${typeof what === "string" ? what : what()}`);
    }
    await pause(10);
  }
}
