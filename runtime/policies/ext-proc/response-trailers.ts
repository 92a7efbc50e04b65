import type { HeaderMutation } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { sendableTrailers } from "../../http/headers/trailers.ts";
import { mutatedFields } from "./mutated-response.ts";
import { trailersMessage } from "./processor-messages.ts";
import type { ProcessorSession } from "./processor-session.ts";

/** The trailers of a response, and what a processor has to do with them. */
export class ResponseTrailers {
  readonly #session: ProcessorSession;
  #fields: readonly string[] | undefined;
  #isShown = false;

  constructor(session: ProcessorSession) {
    this.#session = session;
  }

  /** As they came, a flat list; undefined: there are none. */
  get fields(): readonly string[] | undefined {
    return this.#fields;
  }

  /** The response has ended, with these. */
  come(fields: readonly string[] | undefined): void {
    this.#fields = fields;
  }

  /** Whether any have come. */
  get areThere(): boolean {
    return (this.#fields ?? []).length > 0;
  }

  /** Whether the processor is to get them. */
  get areWanted(): boolean {
    const { isOver, modes } = this.#session;
    return this.areThere && modes.responseTrailers === "send" && !isOver;
  }

  /** The processor has them. */
  get areShown(): boolean {
    return this.#isShown;
  }

  show(): void {
    this.#isShown = true;
    this.#session.send(trailersMessage("responseTrailers", this.#fields ?? []));
  }

  /** What the processor makes of them, as far as that may stand behind a body. */
  changed(changes: HeaderMutation | undefined): readonly string[] {
    return sendableTrailers(mutatedFields(this.#fields ?? [], changes, false));
  }
}
