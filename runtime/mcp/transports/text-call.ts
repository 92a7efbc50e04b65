import type { CallHandle, CallListener } from "../../process/line-calls.ts";
import { ownMessage } from "../protocol/message.ts";
import type { Call, CallSink } from "./target.ts";

/**
 * Makes a call whose messages are strings, because another thread or replica serves it. `onGone`: called instead of the sink if
 * nobody serves it any more.
 */
export function callByText(
  start: (listener: CallListener) => CallHandle | undefined,
  sink: CallSink,
  onGone: () => void,
): Call {
  let isOver = false;
  const unlessOver = (hear: () => void) => {
    const wasOver = isOver;
    isOver = true;
    if (!wasOver) hear();
  };
  const call = start({
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

/** Returns the sink of a call that another thread or replica has made. */
export function textSink(listener: CallListener): CallSink {
  return {
    onMessage: ({ text }) => listener.onMessage(text),
    onResponse: ({ text }) => listener.onResponse(text),
    onFailure: (failure) => listener.onFailure(JSON.stringify(failure)),
  };
}
