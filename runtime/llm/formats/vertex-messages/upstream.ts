import { JsonBody } from "../../../json/json-body.ts";
import { objectMembers } from "../../../json/json-text.ts";
import type { UpstreamFormat } from "../../chat/formats.ts";
import { messagesUpstream } from "../messages/upstream.ts";
import { adaptToVertex } from "./adapt.ts";

/** Anthropic's models on Vertex AI, for clients with another format. */
export const vertexMessagesUpstream: UpstreamFormat = {
  ...messagesUpstream,
  // Anthropic's own servers run these.
  support: {
    ...messagesUpstream.support,
    ...{ webFetch: "refused", codeExecution: "refused", connectors: "refused" },
  },
  writeRequest: (request, dialect, headers) => {
    const text = messagesUpstream.writeRequest(request, dialect, headers);
    const body = new JsonBody(text, objectMembers(text, 0));
    adaptToVertex(body);
    return body.toString();
  },
};
