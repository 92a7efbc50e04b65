import { type HeaderList, headerValue } from "../../http/headers/header-list.ts";
import { ReceivedFields } from "../../http/http1/received-fields.ts";
import type { ProviderHead } from "./attempt-outcome.ts";
import type { ReceivedWhole } from "./target.ts";

/** The head of a provider's response as it came: of most of them nobody reads all fields. */
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

  /** The same as they were received; undefined: they are a list alone. */
  get fields(): ReceivedFields | undefined {
    return this.#head instanceof ReceivedFields ? this.#head : undefined;
  }

  /** Empty without one. */
  get contentType(): string {
    const head = this.#head;
    const type =
      head instanceof ReceivedFields ? head.contentType : headerValue(head, "content-type");
    return type ?? "";
  }

  /** The value of a field by lower-case name; undefined when it is not there. */
  value(name: string): string | undefined {
    const head = this.#head;
    return head instanceof ReceivedFields ? head.value(name) : headerValue(head, name);
  }
}

/** The whole body of a response without its coding. What passes as it came nobody makes a text of. */
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
