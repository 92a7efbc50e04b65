import type { HeaderMutation } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { sendableTrailers } from "../../http/headers/trailers.ts";
import { mutatedFields } from "./mutated-response.ts";
import { trailersMessage } from "./processor-messages.ts";
import type { ProcessorSession } from "./processor-session.ts";

/** The trailers of a response. */
export class ResponseTrailers {
  readonly #session: ProcessorSession;
  #fields: readonly string[] | undefined;
  #isSent = false;

  constructor(session: ProcessorSession) {
    this.#session = session;
  }

  /** The received trailers, a flat list; `undefined` if the response has none. */
  get fields(): readonly string[] | undefined {
    return this.#fields;
  }

  /** Sets the trailers at the end of the response. */
  set(fields: readonly string[] | undefined): void {
    this.#fields = fields;
  }

  /** Whether the response has trailers. */
  get arePresent(): boolean {
    return (this.#fields ?? []).length > 0;
  }

  /** Whether the trailers must be sent to the processor. */
  get mustBeSent(): boolean {
    const { isOver, modes } = this.#session;
    return this.arePresent && modes.responseTrailers === "send" && !isOver;
  }

  /** Whether the trailers were sent to the processor. */
  get areSent(): boolean {
    return this.#isSent;
  }

  send(): void {
    this.#isSent = true;
    this.#session.send(trailersMessage("responseTrailers", this.#fields ?? []));
  }

  /** Returns the trailers with the processor's changes, without fields that trailers must not contain. */
  changed(changes: HeaderMutation | undefined): readonly string[] {
    return sendableTrailers(mutatedFields(this.#fields ?? [], changes, false));
  }
}
