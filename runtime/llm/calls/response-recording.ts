import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import { bufferOf } from "../chat/stream-step.ts";
import type { Provider } from "../providers/provider.ts";
import type { ReceivedHead } from "./received-head.ts";

/** The response of a provider as its client gets it, recorded to be sent again. */
export class ResponseRecording {
  readonly #body: CountedBuffer;
  readonly #largest: number;
  #headers: readonly string[] | undefined;
  #isDropped = false;

  /** `largest`: maximum size of the body in bytes; longer ones are not recorded. */
  constructor(body: CountedBuffer, largest: number) {
    this.#body = body;
    this.#largest = largest;
  }

  /** Records the head of the response. `type`: its Content-Type; `shown`: headers that the gateway adds. */
  begin(type: string, head: ReceivedHead, { given }: Provider, shown: readonly string[]): void {
    const kept = [...given].flatMap((name) => {
      const value = headerValue(head.headers, name);
      return value === undefined ? [] : [name, value];
    });
    this.#headers = ["content-type", type, ...kept, ...shown];
  }

  /** Records pieces of the body. They are copied, because their memory may be used again. */
  add(pieces: readonly (string | Uint8Array)[]): void {
    for (const piece of pieces) {
      if (this.#isDropped) return;
      const bytes = Buffer.from(bufferOf(piece));
      const isLong = this.#body.length + bytes.length > this.#largest;
      if (isLong || !this.#body.push(bytes)) this.drop();
    }
  }

  /** Discards what was recorded. */
  drop(): void {
    this.#isDropped = true;
    this.#body.release();
  }

  /** Returns the recorded response; `undefined` if there is none. */
  response(): { readonly headers: readonly string[]; readonly body: Buffer } | undefined {
    if (this.#isDropped || this.#headers === undefined) return undefined;
    return { headers: this.#headers, body: Buffer.from(this.#body.bytes()) };
  }
}
