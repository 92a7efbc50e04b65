import { atEnd } from "./at-end.ts";
import { pause } from "./pause.ts";
import { send } from "./send.ts";

/** One request after the other. */
export interface Load {
  /** Responses other than 200, with their results. */
  readonly failures: readonly string[];
  /** Ends it; resolves with the number of requests. */
  stop(): Promise<number>;
}

/** Asks for a URL, or for the one that comes next, without a pause. It ends with the test. */
export function startLoad(url: (count: number) => string | Promise<string>): Load {
  const failures: string[] = [];
  let [isOver, count] = [false, 0];
  const running = (async () => {
    for (; !isOver; count++) {
      const asked = await url(count);
      const { status } = await send(asked, "GET").catch((error: unknown) => ({
        status: String(error),
      }));
      if (status !== 200) failures.push(`${count} at ${asked}: ${status}`);
      await pause(10);
    }
    return count;
  })();
  const stop = () => {
    isOver = true;
    return running;
  };
  atEnd(stop);
  return { failures, stop };
}
