import { backends } from "../../backends/index.ts";
import { exampleText } from "./example.ts";
import { fieldTable } from "./fields.ts";
import { type Page, paragraph, table } from "./page.ts";

/** Returns the page of a kind of backend; `undefined` if the name is unknown. */
export function backendPage(name: string): Page | undefined {
  const backend = backends.find(({ kind }) => kind === name);
  if (backend === undefined) return undefined;
  const { kind, summary, kubernetes, tcpSchema } = backend;
  const schema = backend.schema(OWN_POLICIES);
  const field = kubernetes && ` In a GatewayBackend it is \`${kubernetes.field}\`.`;
  const streams = tcpSchema && " It also accepts TCP connections.";
  return {
    title: kind,
    parts: [
      paragraph(`It ${summary}.`),
      paragraph(
        `Used in \`backends\` of a route.${backend.isNameable === true ? " Named backends of the file may be of this kind." : ""}${field ?? ""}${streams ?? ""}`,
      ),
      { kind: "example", language: "yaml", text: exampleText(kind, schema) },
      ...(schema.properties === undefined && schema.description !== undefined
        ? [paragraph(`Its value: ${schema.description}`)]
        : fieldTable(schema)),
    ],
  };
}

/** Stands for the connection policies of a server, which are the same for all kinds and documented in the file's schema. */
const OWN_POLICIES = {
  description: "Connection policies of this server; they override the route's.",
};

/** Returns an introduction and the pages of all kinds of backends. */
export function backendPages(): readonly Page[] {
  const introduction: Page = {
    title: "Backends",
    parts: [
      paragraph(
        "The destinations of requests. A bundle contains only the backends that its routes use. `gwc explain NAME` prints the page of one.",
      ),
      ...table(
        ["backend", "what it does"],
        backends.map(({ kind, summary }) => [`\`${kind}\``, summary]),
      ),
    ],
  };
  return [introduction, ...backends.flatMap(({ kind }) => backendPage(kind) ?? [])];
}
