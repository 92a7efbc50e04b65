import { type HeaderList, headerValue } from "../../http/headers/header-list.ts";
import { ReceivedFields } from "../../http/http1/received-fields.ts";
import type { ProviderHead } from "./attempt-outcome.ts";
import type { ReceivedWhole } from "./target.ts";

/** Head of a provider's response as received. Fields are parsed on access, because most responses need few of them. */
export class ReceivedHead implements ProviderHead {
  readonly status: number;
  readonly #head: HeaderList | ReceivedFields;

  constructor(status: number, head: HeaderList | ReceivedFields) {
    this.status = status;
    this.#head = head;
  }

  get headers(): HeaderList {
    return this.#head instanceof ReceivedFields ? this.#head.list : this.#head;
  }

  /** Fields as received; `undefined` if there is only a list. */
  get fields(): ReceivedFields | undefined {
    return this.#head instanceof ReceivedFields ? this.#head : undefined;
  }

  /** Empty if the header is absent. */
  get contentType(): string {
    const head = this.#head;
    const type =
      head instanceof ReceivedFields ? head.contentType : headerValue(head, "content-type");
    return type ?? "";
  }

  /** Returns the value of a header by lower-case name; `undefined` if the header is absent. */
  value(name: string): string | undefined {
    const head = this.#head;
    return head instanceof ReceivedFields ? head.value(name) : headerValue(head, name);
  }
}

/** Decompressed body of a whole response. Decoded to a string on access only, because passed-through bodies need none. */
export class ReceivedBody implements ReceivedWhole {
  readonly bytes: Buffer;
  readonly #head: ReceivedHead;
  #text: string | undefined;

  constructor(bytes: Buffer, head: ReceivedHead) {
    this.bytes = bytes;
    this.#head = head;
  }

  get text(): string {
    this.#text ??= this.bytes.toString("utf8");
    return this.#text;
  }

  get headers(): HeaderList {
    return this.#head.headers;
  }
}
