import { channel } from "node:diagnostics_channel";

/** The way from parts that know no gateway (they are made while its modules load) to the log of whichever runs. */
const remarks = channel("gwc:remark");

/** Tells the operator something, in the process log. Never with a token, a body or a secret. */
export function remark(message: string): void {
  remarks.publish(message);
}

/** Takes what is remarked from now on, until the function that is returned is called. */
export function onRemark(listener: (message: string) => void): () => void {
  const take = (message: unknown) => listener(String(message));
  remarks.subscribe(take);
  return () => {
    remarks.unsubscribe(take);
  };
}
