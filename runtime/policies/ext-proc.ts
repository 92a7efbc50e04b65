import type { JsonObject, ResponseVariables } from "../cel/variables.ts";
import { GrpcError } from "../grpc/status.ts";
import { bufferBody } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { callMetadata } from "./ext-proc/call-metadata.ts";
import {
  noteFailure,
  ProcessorSession,
  type SessionSettings,
} from "./ext-proc/processor-session.ts";
import { RequestPhase } from "./ext-proc/request-phase.ts";
import { ResponsePhase } from "./ext-proc/response-phase.ts";
import { plainValues } from "./transformations/plain-values.ts";

/** A processor (Envoy's external processing protocol), and what it receives of a request and its response. */
export interface Processor extends SessionSettings {
  /** Maximum number of bytes of a body that is sent in one piece. */
  readonly maxBody: number;
}

/** Values of expressions for a processor. */
export interface ProcessorContext {
  /** Objects by namespace, in every message. */
  readonly metadata?: JsonObject;
  /** Attributes of the first message. */
  readonly request?: JsonObject;
  /** Returns the attributes of the message with the response head. */
  readonly response?: (response: ResponseVariables) => JsonObject;
  /** Returns further objects by namespace for the messages about the response. */
  readonly responseMetadata?: () => JsonObject;
}

/**
 * Sends the request to a processor, and later its response. Returns false if the client has a response or has disconnected.
 */
export async function processExternally(
  exchange: Exchange,
  processor: Processor,
  { metadata = {}, request, response, responseMetadata }: ProcessorContext = {},
): Promise<boolean> {
  const { maxBody } = processor;
  const objects = plainValues(metadata);
  const session = new ProcessorSession(exchange, processor, objects);
  try {
    await session.open(callMetadata(objects));
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    noteFailure(exchange, error.message);
    if (processor.passesOnFailure) return !exchange.isOver;
    refuse(exchange, 500, "ExtProc", "external processing failed");
    return false;
  }
  const phase = new RequestPhase(exchange, session, maxBody);
  if (!(await phase.run(request && plainValues(request)))) return false;
  const attributes = response && ((seen: ResponseVariables) => plainValues(response(seen)));
  const shown = { maxBody, attributes, metadata: responseMetadata };
  exchange.interceptResponse((next) => new ResponsePhase(exchange, session, next, shown));
  return rereadBody(exchange, maxBody);
}

/** Reads the body again, so that expressions see the processor's changes. */
async function rereadBody(exchange: Exchange, limit: number): Promise<boolean> {
  if (exchange.bufferedBody === undefined) return true;
  exchange.bufferedBody = undefined;
  return bufferBody(exchange, limit);
}
