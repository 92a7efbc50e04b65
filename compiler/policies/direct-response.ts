import { below, type Origin } from "../diagnostics.ts";
import type { Text } from "../ir.ts";
import { integer, notYet, object } from "../schema.ts";
import { checkHeader, type HeaderField, headerMapSchema, readHeaders } from "./header-fields.ts";
import type { Policy } from "./policy.ts";

declare module "./policy.ts" {
  interface PolicyConfigs {
    directResponse: {
      readonly status: number;
      readonly headers: readonly HeaderField[];
      readonly body: string;
      readonly origin: Origin;
    };
  }
}

declare module "../ir.ts" {
  interface PolicySettings {
    directResponse: {
      readonly status: number;
      /** A flat list, as the answer carries it. */
      readonly headers: readonly Text[];
      readonly body: string;
    };
  }
}

/** An answer that the gateway gives by itself. */
export const directResponse: Policy<"directResponse"> = {
  kind: "directResponse",
  summary: "answers with a fixed status, headers and body; the route needs no backend",
  scope: ["listener", "route"],
  answers: () => true,
  schema: object(
    {
      status: integer("The status.", 200, 599),
      headers: headerMapSchema("Headers of the answer."),
      body: {
        type: "string",
        minLength: 1,
        maxLength: 4096,
        description: "The body; text/plain unless `headers` says otherwise. None when unset.",
      },
      bodyExpression: notYet("bodies made by expressions"),
      conditional: notYet("answers chosen by expressions"),
    },
    { required: ["status"], description: "Answers by itself. The route needs no backend." },
  ),
  merge: "replace",
  read: (value, origin) => {
    const given = value as {
      readonly status: number;
      readonly headers?: Readonly<Record<string, Text>>;
      readonly body?: string;
    };
    const headers = readHeaders(given.headers, below(origin, "headers"));
    return { status: given.status, headers, body: given.body ?? "", origin };
  },
  cluster: {
    field: "traffic.directResponse",
    read: (value, { origin }) => {
      const given = value as { readonly status: number; readonly body?: string };
      return { status: given.status, headers: [], body: given.body ?? "", origin };
    },
  },
  resolve: ({ status, headers, body, origin }, context) => {
    const isSound = headers.map((field) => checkHeader(field, context));
    if (isSound.includes(false)) return undefined;
    if (body !== "" && (status === 204 || status === 304)) {
      context.diagnostics.report("body-not-allowed", below(origin, "body"), { status });
      return undefined;
    }
    const list = headers.flatMap(({ name, value }) => [name.toLowerCase(), value]);
    const isTyped = body === "" || list.includes("content-type");
    return {
      status,
      headers: isTyped ? list : [...list, "content-type", "text/plain; charset=utf-8"],
      body,
    };
  },
};
