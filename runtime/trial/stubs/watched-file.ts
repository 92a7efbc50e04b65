import { WatchedFile as RealFile } from "../../process/watched-file.ts";

/** Replaces process/watched-file.ts: an absent file has placeholder content. */
export class WatchedFile<Value> {
  readonly #make: () => Value;

  constructor(path: string, make: (text: string) => Value) {
    const makeOnce = () => {
      try {
        return new RealFile(path, make).current();
      } catch {
        return make("trial");
      }
    };
    this.#make = makeOnce;
  }

  current(): Value {
    return this.#make();
  }

  usable(): Value {
    return this.#make();
  }
}
