import { WatchedFile as RealFile } from "../../process/watched-file.ts";

export { WatchedFolder } from "../../process/watched-file.ts";

/** A value that is made when it is read. */
export class WatchedPath<Value> {
  readonly #make: () => Value;

  constructor(make: () => Value) {
    this.#make = make;
  }

  current(): Value {
    return this.#make();
  }

  usable(): Value {
    return this.#make();
  }
}

/** Replaces process/watched-file.ts: an absent file has placeholder content. */
export class WatchedFile<Value> extends WatchedPath<Value> {
  constructor(path: string, make: (text: string) => Value) {
    super(() => {
      try {
        return new RealFile(path, make).current();
      } catch {
        return make("trial");
      }
    });
  }
}
