import { PassedBody } from "./passed-body.ts";

/** A body that knows whether its reader waits for its sender. */
export class AwaitedBody extends PassedBody {
  #hasEnded = false;
  #isPaused = false;

  /** Whether the reader wants more than has arrived. */
  get isAwaited(): boolean {
    return !this.#hasEnded && !this.#isPaused;
  }

  takeWhole(): Buffer | undefined {
    const whole = this.source.takeWhole?.();
    this.#hasEnded = whole !== undefined;
    return whole;
  }

  override pause(): void {
    this.#isPaused = true;
    super.pause();
  }

  override resume(): void {
    this.#isPaused = false;
    super.resume();
  }

  override onEnd(): void {
    this.#hasEnded = true;
    super.onEnd();
  }
}
