import type { CallListener, CallsElsewhere } from "../../process/gateway-context.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import type { Call, CallSink } from "./target.ts";

/** A call that another thread makes. `address`: what it calls there, as JSON. */
export function callElsewhere(
  calls: CallsElsewhere,
  { thread, address }: { readonly thread: number; readonly address: object },
  request: Message,
  sink: CallSink,
  onGone: () => void,
): Call {
  let isOver = false;
  const unlessOver = (hear: () => void) => {
    if (!isOver) hear();
    isOver = true;
  };
  const call = calls.call(thread, JSON.stringify(address), request.text, {
    onMessage: (text) => isOver || sink.onMessage(ownMessage(text)),
    onResponse: (text) => unlessOver(() => sink.onResponse(ownMessage(text))),
    onFailure: (text) => unlessOver(() => sink.onFailure(JSON.parse(text))),
    onGone: () => unlessOver(onGone),
  });
  if (call === undefined) unlessOver(onGone);
  return {
    cancel: () => unlessOver(() => call?.cancel()),
    resume: () => call?.resume(),
  };
}

/** Where what comes of a call is another thread's. */
export function textSink(listener: CallListener): CallSink {
  return {
    onMessage: ({ text }) => listener.onMessage(text),
    onResponse: ({ text }) => listener.onResponse(text),
    onFailure: (failure) => listener.onFailure(JSON.stringify(failure)),
  };
}
