import { LoadClient, type LoadTarget } from "./load-client.ts";

/** Milliseconds between two looks at what is due. */
const TICK = 1;

/** The least share of the wanted rate that counts as that rate. */
const KEPT = 0.9;

/** Connections to one gateway that stay, and requests over them at a rate that does not depend on how fast it is. */
export class PacedLoad {
  readonly #requests: readonly Buffer[];
  readonly #clients: readonly LoadClient[];
  #idle: LoadClient[] = [];
  #asked = 0;
  #left = 0;
  #failures = 0;
  #latencies: number[] = [];
  #onDone: () => void = () => {};

  private constructor(target: LoadTarget, requests: readonly string[], connections: number) {
    this.#requests = requests.map((text) => Buffer.from(text, "latin1"));
    this.#clients = Array.from(
      { length: connections },
      () =>
        new LoadClient(
          target,
          (client) => this.#take(client),
          ({ isGood, milliseconds }, client) => {
            if (!isGood) this.#failures += 1;
            this.#latencies.push(milliseconds);
            this.#left -= 1;
            this.#take(client);
          },
        ),
    );
  }

  /** Connects; the requests are sent in turns. */
  static async open(
    target: LoadTarget,
    requests: readonly string[],
    connections: number,
  ): Promise<PacedLoad> {
    const load = new PacedLoad(target, requests, connections);
    await new Promise<void>((resolve) => {
      load.#left = 0;
      load.#onDone = () => load.#idle.length === connections && resolve();
    });
    return load;
  }

  /**
   * Sends a number of requests per second. Rejects if some fail. Returns the milliseconds of each, sorted; `undefined`
   * if other load of the machine changed the rate.
   */
  async send(count: number, rate: number): Promise<readonly number[] | undefined> {
    this.#failures = 0;
    this.#latencies = [];
    this.#left = count;
    const start = performance.now();
    let sent = 0;
    while (sent < count) {
      const due = Math.min(count, Math.ceil(((performance.now() - start) * rate) / 1000));
      for (; sent < due; sent++) {
        const client = this.#idle.shift();
        if (client === undefined) break;
        client.ask(this.#requests[this.#asked++ % this.#requests.length] ?? Buffer.alloc(0));
      }
      await new Promise((resolve) => setTimeout(resolve, TICK));
    }
    const seconds = (performance.now() - start) / 1000;
    await new Promise<void>((resolve) => {
      this.#onDone = () => this.#left === 0 && resolve();
      this.#onDone();
    });
    if (this.#failures > 0) throw new Error(`${this.#failures} of ${count} requests failed`);
    if (count / seconds < KEPT * rate) return undefined;
    return this.#latencies.sort((a, b) => a - b);
  }

  end(): void {
    for (const client of this.#clients) client.end();
  }

  #take(client: LoadClient): void {
    this.#idle.push(client);
    this.#onDone();
  }
}
