import type { Exchange } from "./exchange.ts";
import type { EditedHeaders } from "./headers/header-edits.ts";

/** Returns the headers of a request for policies that edit them. */
export function editedRequest(exchange: Exchange): EditedHeaders {
  return {
    areOfClient: true,
    add: (name, value) => exchange.addRequestHeader(name, value),
    set: (name, value) => exchange.setRequestHeader(name, value),
    setIf: (isThere, name, value) => {
      if ((exchange.header(name) !== undefined) === isThere) exchange.setRequestHeader(name, value);
    },
    remove: (name) => exchange.removeRequestHeader(name),
  };
}

/** Returns the headers of the eventual response for policies that edit them. */
export function editedResponse(exchange: Exchange): EditedHeaders {
  return {
    areOfClient: false,
    add: (name, value) => exchange.addResponseHeader(name, value),
    set: (name, value) => exchange.setResponseHeader(name, value),
    setIf: (isThere, name, value) => exchange.setResponseHeaderIf(isThere, name, value),
    remove: (name) => exchange.removeResponseHeader(name),
  };
}
