import { Readable } from "node:stream";
import type { BodySource } from "../../body/body.ts";

/** A body on its way upstream, in the shape undici pulls from. */
export class UpstreamBody extends Readable {
  readonly #source: BodySource;
  #isFlowing = false;

  constructor(source: BodySource) {
    super({ highWaterMark: 65_536 });
    this.#source = source;
  }

  override _read(): void {
    if (this.#isFlowing) {
      this.#source.resume();
      return;
    }
    this.#isFlowing = true;
    this.#source.flow({
      onData: (chunk) => {
        if (!this.push(chunk)) this.#source.pause();
      },
      onEnd: () => this.push(null),
      onAbort: () => this.destroy(new Error("the sender left")),
    });
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.discard();
    done(error);
  }
}
